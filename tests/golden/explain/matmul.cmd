tdlc explain matmul parts/language.tdl
tdlc explain matmul parts/language.tdl --shape a=6x5 --shape b=5x7 -k 3

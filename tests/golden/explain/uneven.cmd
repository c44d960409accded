# Parts that differ by one, a variable that is too short, a sum of nothing.
tdlc explain matmul parts/language.tdl --shape a=7x2 --shape b=2x4 -k 3
tdlc explain matmul parts/language.tdl --shape a=7x0 --shape b=0x4 -k 3

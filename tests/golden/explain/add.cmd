tdlc explain add parts/language.tdl
tdlc explain add parts/language.tdl --shape a=4x6 --shape b=6 -k 2

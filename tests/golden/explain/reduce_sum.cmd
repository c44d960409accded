tdlc explain reduce_sum parts/language.tdl -k 2
tdlc explain reduce_sum parts/language.tdl --shape x=4x6x5 -D axes=0,2 -k 2

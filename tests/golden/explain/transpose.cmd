tdlc explain transpose parts/language.tdl
tdlc explain transpose parts/language.tdl --shape x=4x6x5 -D perm=2,0,1 -k 2

# A file beside the library; one that defines what the library has.
tdlc ops --opdefs parts --load ../doc/parts/solve.tdl
tdlc ops --opdefs parts --load ../doc/parts/marks.tdl

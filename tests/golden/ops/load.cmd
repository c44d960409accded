# A file beside the library.
tdlc ops --opdefs parts --load ../doc/parts/marks.tdl

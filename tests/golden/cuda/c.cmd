tdlc compile parts/rows.tdl --emit=c --shape x=40x1000 -o -

tdlc compile parts/conv1d.tdl --emit=ast -o -

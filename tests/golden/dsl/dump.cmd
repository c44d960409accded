# The tree of every construct.
tdlc compile --emit=ast -o - constructs.tdl

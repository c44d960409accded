# The tree.
tdlc compile --emit=ast -o - features.tdl --opdefs ../../../opdefs

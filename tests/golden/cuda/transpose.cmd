tdlc compile parts/transpose.tdl --emit=cuda --shape x=2x100x70 -o - |
	sed '/^#/d'

tdlc compile parts/columns.tdl --emit=cuda --shape x=20000x300 -o - |
	sed '/^#/d'

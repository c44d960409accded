tdlc compile parts/rows.tdl --emit=cuda --shape x=4096x1000 -o - |
	sed '/^#/d'

tdlc compile parts/scan.tdl --emit=cuda --shape x=10x1000 -o - |
	sed '/^#/d'

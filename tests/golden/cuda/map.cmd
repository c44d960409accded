tdlc compile parts/map.tdl --emit=cuda --shape x=64x128 --shape b=128 -o - |
	sed '/^#/d'

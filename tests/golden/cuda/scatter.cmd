tdlc compile parts/scatter.tdl --emit=cuda --shape ids=40 --shape u=40x64 -o - |
	sed '/^#/d'

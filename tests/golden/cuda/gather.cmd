tdlc compile parts/gather.tdl --emit=cuda --shape ids=40 --shape table=1000x64 -o - |
	sed '/^#/d'

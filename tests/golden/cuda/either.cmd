# A condition that is an alternative, and one inside of it.
tdlc compile parts/either.tdl --emit=cuda --shape x=5x20 --shape z=5x12 -o - |
	sed '/^#/d'

tdlc compile parts/product.tdl --emit=cuda --shape x=8x64x28x28 --shape w=96x64x3x3 -o - |
	sed '/^#/d'

tdlc compile parts/one_of_batch.tdl --emit=cuda --shape x=1x200x64 \
	--shape w=64x4x32 -o - | sed '/^#/d'

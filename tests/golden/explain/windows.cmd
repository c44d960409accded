# Regions that are no blocks with a halo, and those known only with shapes.
for op in upsample reverse concat reshape argmax same; do
	tdlc explain $op parts/language.tdl
	echo
done
tdlc explain upsample parts/language.tdl --shape x=5 -k 2
tdlc explain reshape parts/language.tdl --shape x=4x6 -D shape=24 -k 3
tdlc explain same parts/language.tdl --shape x=4

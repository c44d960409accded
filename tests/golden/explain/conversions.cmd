tdlc explain noise conversions.tdl
tdlc explain noise conversions.tdl -D seed=7 -D shape=3,5 -k 2
for type in f32 f8e4m3fn f8e8m0 i4 u64 f64; do
	tdlc explain limited conversions.tdl --shape x=6 -D to=$type -k 2
done
tdlc explain bits conversions.tdl --shape x=6 -D to=i32 -k 2
tdlc explain bits conversions.tdl --shape x=6 -D to=i16 -k 2
tdlc explain bits conversions.tdl --shape x=6 -D to=f9 -k 2

for op in row_or_0 row_or_1; do
	tdlc explain $op guarded_lookup.tdl
done
tdlc explain row_or_0 guarded_lookup.tdl --shape ids=4 --shape table=10x8 -k 2

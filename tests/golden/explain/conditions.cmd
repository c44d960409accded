for op in upper causal known; do
	tdlc explain $op conditions.tdl
done
tdlc explain causal conditions.tdl --shape s=2x6x6 --shape v=2x6x4 -k 3

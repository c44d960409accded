# Steps in which values stay partial take the least each, and not always in all:
# `extended' is tried without such values, too, and has the plan here.
tdlc plan ../../../examples/models/rnn.tdl -D layers=1 -D steps=4 -D batch=64 \
	-D hidden=1024 --train -k 8 --topology 8xh100-nvlink --algorithm auto |
	grep -E 'predicted|note'

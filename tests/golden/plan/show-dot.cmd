# The drawing of a plan: divisions, cuts, and each transfer once, except copies
# within a device (local).
transfers() {
	echo "$(tdlc show "$1" --json | grep -c '"collective": "[^l]') transfers," \
		"$(tdlc show "$1" --dot | grep -Eo '[kM]?B by [a-z]' | wc -l) drawn"
}
tdlc plan matmul.onnx -k 4 -o "$tmp/matmul.plan" >/dev/null
tdlc show "$tmp/matmul.plan" --dot
transfers "$tmp/matmul.plan"
tdlc plan kept.tdl -k 4 --train -o "$tmp/show.plan" >/dev/null
transfers "$tmp/show.plan"
tdlc plan kept.tdl -k 1 -o "$tmp/one.plan" >/dev/null
tdlc show "$tmp/one.plan" --dot | grep -c 'into\|replicated\|computed' || :
tdlc show "$tmp/one.plan" --dot --topology cpu 2>&1 | head -1
# Repeated blocks are one; their transfers are counted.
drawn() {
	tdlc show "$1" --dot | grep -Eo '([0-9]+ x, )?[0-9.]+ [kM]?B by [a-z]' |
		awk '{ n += / x, / ? $1 : 1 } END { print n + 0, "drawn" }'
}
tdlc plan show.tdl -k 4 --pin 'w_[0-3]=cut 0' -o "$tmp/blocks.plan" >/dev/null
tdlc show "$tmp/blocks.plan" --dot
transfers "$tmp/blocks.plan" | sed 's/,.*//'
drawn "$tmp/blocks.plan"
# Blocks of a large plan are drawn whole; each transfer is there once.
tdlc plan ../../../examples/models/gpt2.tdl -D layers=3 -k 4 --train \
	-o "$tmp/large.plan" >/dev/null
tdlc show "$tmp/large.plan" --dot | grep -E 'layer_|->.*penwidth'
transfers "$tmp/large.plan" | sed 's/,.*//'
drawn "$tmp/large.plan"
tdlc show "$tmp/large.plan" --dot --unfolded | grep -c 'shape=box'
tdlc show "$tmp/large.plan" --unfolded 2>&1 | head -1
tdlc show ../../../examples/models/unet.tdl --dot | grep 'shape\|"2 x'

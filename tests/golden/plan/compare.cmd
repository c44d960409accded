# Every planner on one model; how long the search takes is left out.
status() { "$@" >"$tmp/out" || echo "-> $?"; sed 's/ *[0-9.e+-]* [mµ]*s$//' "$tmp/out"; }
status tdlc compare matmul.onnx -k 4
status tdlc compare matmul.onnx -k 3 --algorithm allrow --algorithm tofu
status tdlc compare matmul.onnx -k 4 --algorithm nope
status tdlc compare matmul.onnx
tdlc compare matmul.onnx -k 2 --algorithm tofu --json | sed 's/\("search_seconds"\): .*/\1: 0,/'
# Within a limit of memory: what needs more is marked, and is not the fastest.
mlp="../../../examples/models/mlp.tdl -D inputs=40 -D width=64 -D batch=16 \
	-D depth=2 --train --micro-batches 2"
status tdlc compare $mlp -k 2 --memory 60kB --algorithm tofu --algorithm data-parallel --algorithm stages
status tdlc compare $mlp -k 2 --memory 1kB --algorithm tofu
tdlc compare $mlp -k 2 --memory 60kB --algorithm data-parallel --algorithm stages --json |
	grep -E '"(memory_limit|fits|algorithm)"'
status tdlc compare $mlp -k 2 --memory 0
# Or within the memory of the machine, where that is known.
cat >"$tmp/small.json" <<-END
	{"format": "tdl-topology", "version": 1, "name": "small",
	 "device": {"memory": 60000, "bandwidth": 1e11, "flops": {"f32": 1e9}},
	 "levels": [{"name": "net", "size": 2, "latency": 1e-6, "bandwidth": 1e9}]}
END
status tdlc compare $mlp -k 2 --topology "$tmp/small.json" --algorithm tofu --algorithm data-parallel
tdlc compare $mlp -k 2 --topology "$tmp/small.json" --algorithm data-parallel --json |
	grep -E '"(memory_limit|fits|algorithm)"'

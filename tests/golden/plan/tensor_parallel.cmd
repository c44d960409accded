# Plans of tensor parallelism in JSON as pins: the two products of a block share
# one reduction, as megatron has it; rows of a table; faults.
score() {
	printf '%s\n' "$1" >"$tmp/tp.json"
	tdlc score tensor_parallel.tdl --opdefs ../../../opdefs -k "${2-2}" --pins "$tmp/tp.json" --algorithm tofu |
		sed 's/ *[0-9.]* [nµm]s//g'
	tdlc plan tensor_parallel.tdl --opdefs ../../../opdefs -k "${2-2}" --pins "$tmp/tp.json" -o "$tmp/p.plan" >/dev/null 2>&1 &&
		tdlc show "$tmp/p.plan" | sed -n '/^state/,/^$/p'
}
score '{"up_proj": "colwise", "down_proj": "rowwise"}'
score '{"base_model_tp_plan": {"*up_proj": "colwise", "*down_proj": "rowwise", "table": "embedding_rowwise"}}'
score '{"up_proj.weight": "ColumnParallelLinear", "down_proj": "replicate"}' 4
score '{"up_proj": "rowwise", "down_proj": "colwise"}' 64
score '{"gate_proj": "colwise"}'
score '{"gate_proj": "colwise", "up_proj": "rowwise", "up_proj.weight": "colwise", "*": "replicate", "down_proj": "moe_tp_experts"}'
score '{"up_proj": "packed_colwise", "down_proj": "rowwise"}'
score '{"up_proj": "diagonal"}'
score '{"up_proj": 3}'
score '["up_proj"]'
score '{"up_proj": "rowwise"'

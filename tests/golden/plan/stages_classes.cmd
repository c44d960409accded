# Devices of two classes: stages that differ are faster than the best equal ones,
# pinned, and fit where these do not.
mlp="../../../examples/models/mlp.tdl -D depth=8 -D inputs=16 -D width=16 -D batch=16 --train -k 4"
classes() {
	cat >"$tmp/t.json" <<-END
		{"format": "tdl-topology", "version": 1, "name": "classes",
		 "device": {"name": "core", "memory": 40000, "bandwidth": 1e11, "flops": {"f32": 1e9}},
		 "levels": [{"name": "net", "size": 4, "latency": 1e-6, "bandwidth": 1e9}],
		 "devices": [{"count": 2}, {"count": 2, $1}]}
	END
}
# staged ARGUMENT...: devices and layers of the stages, and the step simulated
staged() {
	# shellcheck disable=SC2086
	tdlc plan $mlp --micro-batches 4 --topology "$tmp/t.json" -o "$tmp/a.plan" "$@" >"$tmp/out" 2>&1 || {
		head -n 1 "$tmp/out"
		return
	}
	sed -n '/^stage  /,$p' "$tmp/out" | awk 'NR > 1 { printf "%s x %s layers  ", $2, $4 }'
	tdlc simulate "$tmp/a.plan" --topology "$tmp/t.json" | sed -n 's/^  step */step /p'
}
# equal STAGES REPLICAS: as many devices and layers in each stage
equal() {
	for s in $(seq 0 $(($1 - 1))); do
		echo "stage $s=devices $((4 / $1)), replicas $2"
		[ "$s" -eq 0 ] || echo "layer_$((8 * s / $1)).*=stage $s"
	done >"$tmp/equal.pins"
	staged --stages "$1" --pins "$tmp/equal.pins"
}
for what in '"speed": 0.25' '"memory": 8000'; do
	echo "$what"
	classes "$what"
	staged --stages auto
	equal 2 1
	equal 2 2
	equal 4 1
done

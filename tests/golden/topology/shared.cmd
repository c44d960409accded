# Two boxes of four devices, which share one card each: of an all-reduce of z
# bytes, 67 MB, 2 (30 us + z / 2 / 1.25e10 B/s) = 5.43 ms are between them, where
# each device has a card of its own a quarter of the second term.  A program of
# one stage takes as long as it is simulated to.
cat >"$tmp/step.tdl" <<'END'
model step(batch = 8, width = 4096) {
    input x[batch, width]
    param w[width, width]
    loss = mse(matmul(x, w), x)
    output loss
}
END
sed 's/"size": 3/"size": 2/; s/1.25e10/1.25e10, "shared": 1.25e10/' boxes.json >"$tmp/shared.json"
sed 's/"size": 3/"size": 2/' boxes.json >"$tmp/apart.json"
for t in apart shared; do
	tdlc plan "$tmp/step.tdl" --train -k 8 --algorithm data-parallel --topology "$tmp/$t.json" -o "$tmp/plan" | grep predicted
	tdlc simulate "$tmp/plan" --topology "$tmp/$t.json" | grep '^  step'
done
# A stage of each box: its four devices' messages go over one card.
cat >"$tmp/deep.tdl" <<'END'
model deep(batch = 512, width = 1024) {
    input label[batch, width]
    input x[batch, width]
    for i < 8 {
        param w_{i}[width, width]
        x = relu(matmul(x, w_{i}))
    }
    loss = mse(x, label)
    output loss
}
END
for t in apart shared; do
	tdlc plan "$tmp/deep.tdl" --train -k 8 --stages 2 --schedule 1f1b --micro-batches 4 --inside data-parallel --topology "$tmp/$t.json" -o "$tmp/plan" | grep predicted
	tdlc simulate "$tmp/plan" --topology "$tmp/$t.json" | grep -E '^  step|longest'
done
for wrong in 0 -1 0.5 '"x"' null true '[1e9]' 1e999; do
	sed "s/\"shared\": 1.25e10/\"shared\": $wrong/" "$tmp/shared.json" >"$tmp/t.json"
	echo "$wrong"
	tdlc plan parts/chain.tdl -k 2 --topology "$tmp/t.json" 2>&1 | sed "s|^.*t.json|t.json|"
done
# A transfer between boxes that has a tenth of its bandwidth, placed.
cat >"$tmp/pin.json" <<'END'
{"format": "tdl-placement", "version": 1, "devices": 8, "placement":
 [{"id": "node1", "device": 0}, {"id": "node2", "device": 7}]}
END
cat >"$tmp/graph.txt" <<'END'
node1 -- A -- forward_compute_time=1.0, backward_compute_time=1.0, activation_size=125000000.0, parameter_size=100.0
node2 -- B -- forward_compute_time=1.0, backward_compute_time=1.0, activation_size=500.0, parameter_size=900.0
	node1 -- node2
END
sed 's/"shared": 1.25e10/"shared": 1.25e9/' "$tmp/shared.json" >"$tmp/t.json"
for t in apart shared t; do
	tdlc score "$tmp/graph.txt" -k 8 --topology "$tmp/$t.json" --placement "$tmp/pin.json" | grep -e makespan -e error
done

# Small reductions are put together: the same results and bytes, fewer latencies.
# On a machine that does one thing at a time that always pays.
cat >"$tmp/machine.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "serial",
 "device": {"name": "X", "memory": 1e9, "bandwidth": 1e12, "flops": {"f32": 1e13},
            "overlap": false},
 "levels": [{"name": "bus", "size": 8, "latency": 1e-5, "bandwidth": 1e10}]}
END
small="micro_batches.tdl --model small -D batch=16 -k 2 --train --algorithm data-parallel --topology $tmp/machine.json"
for turns in 1 4; do
	for bytes in 0 100 auto; do
		tdlc plan $small --micro-batches $turns --memory 20K --bucket-bytes $bytes -o "$tmp/$turns-$bytes.plan" | grep -E 'communication|buckets|memory|predicted'
		tdlrun "$tmp/$turns-$bytes.plan" --verify --outputs "$tmp/$turns-$bytes.npz" --json | grep -E '"(verified|(predicted_)?(communication|arena)_bytes)"'
	done
	cmp "$tmp/$turns-0.npz" "$tmp/$turns-100.npz" && cmp "$tmp/$turns-0.npz" "$tmp/$turns-auto.npz" && echo the same
done
tdlc show "$tmp/1-auto.plan" | sed -n '/^bucket/,$p'
grep '"bucket"' "$tmp/4-auto.plan"
tdlc show "$tmp/1-auto.plan" --json | grep -B3 '"bucket": 1' | grep tensor
tdlc explain --plan "$tmp/1-auto.plan" --tensor w1.grad | head -4
# A limit that the buckets do not fit in is kept without them.
tdlc plan $small --memory 1.05K | grep -E 'buckets|memory'
# What is proven of a time holds among plans without buckets.
for bytes in 0 auto; do
	tdlc plan $small --algorithm auto --bucket-bytes $bytes --json | grep '"proof"'
done
tdlc plan $small --bucket-bytes many
tdlc plan $small --algorithm auto --frontier --bucket-bytes 1M
# Planners side by side, and the user's own plan, with buckets and without.
for bytes in 0 auto; do
	tdlc compare micro_batches.tdl --model small -D batch=64 -k 2 --train --topology "$tmp/machine.json" --algorithm data-parallel --algorithm auto --bucket-bytes $bytes --json | grep -E '"(algorithm|buckets|predicted_seconds)"'
	tdlc score micro_batches.tdl --model small -D batch=64 -k 2 --train --topology "$tmp/machine.json" --pin 'w*=replicated' --algorithm data-parallel --bucket-bytes $bytes --json | grep -E '"(algorithm|buckets)"'
done
tdlc compare micro_batches.tdl --model small -D batch=64 -k 2 --train --algorithm data-parallel --bucket-bytes 1M --json | grep -E '"buckets"'
tdlc compare micro_batches.tdl --model small -D batch=64 -k 2 --bucket-bytes many
tdlc diff "$tmp/1-0.plan" "$tmp/1-auto.plan" --topology "$tmp/machine.json"
tdlc diff "$tmp/1-100.plan" "$tmp/1-auto.plan" --json | grep bucket

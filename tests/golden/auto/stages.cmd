# Where micro-batches are asked for, plans of several stages are among those that
# auto compares by time.
status() { "$@" || echo "-> $?"; }
cat >"$tmp/slow.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "slow",
 "device": {"name": "core", "memory": 1000000000, "bandwidth": 1e11, "flops": {"f32": 1e9}},
 "levels": [{"name": "net", "size": 4, "latency": 1e-5, "bandwidth": 1e7}]}
END
plan() { status tdlc plan parts/net.tdl --topology "$tmp/slow.json" "$@"; }
found() {
	plan "$@" --json >"$tmp/x.json"
	sed -n 's/^  "\(predicted_seconds\|peak_bytes_per_device\|note\)": \(.*\)/\1 \2/p;s/^      "layers"/  a stage/p' "$tmp/x.json"
}
deep="-k 4 -D width=64 -D batch=64 -D depth=4 --algorithm auto"
echo "trained, and not"
plan $deep --train --micro-batches 8 -o "$tmp/x.plan" | sed -n '1,3p;/micro-b.*by/p;/predicted/,$p'
tdlrun "$tmp/x.plan" --verify | grep -A1 verified
found $deep --train --micro-batches 8 --stages none
found $deep --micro-batches 8
echo "the number of micro-batches left open"
found $deep --train --micro-batches auto
found $deep --train --micro-batches auto --stages none
echo "one micro-batch; within memory"
found $deep --train --micro-batches 1
found $deep --train --micro-batches 8 --memory 60kB
found $deep --train --micro-batches 8 --memory 60kB --stages none
plan $deep --train --micro-batches 8 --memory 40kB 2>&1 | head -1
echo "by other objectives, with what is for plans of one stage"
for more in '--objective bytes' '--warn-replicate 1G' '--pin w_0=replicated'; do
	plan $deep --train --micro-batches 8 $more --json | grep -c '"layers"'
done
plan $deep --train --micro-batches 8 --emit-cuda "$tmp/cuda"
plan $deep --train --stages none --inside tofu

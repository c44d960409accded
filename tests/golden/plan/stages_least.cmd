# Where nothing fits, the plan that needs least is named, and what would be
# enough: with that a plan is found, with a byte less none.
net='../auto/parts/net.tdl -D batch=16 -D depth=4 -D width=16 --train --topology 8xh100-nvlink'
# enough ARGUMENT...: the message for a limit that nothing fits, and the plan of
# the limit that it names
enough() {
	tdlc plan "$@" --memory 1000 >"$tmp/out" 2>&1 && echo 'it fits'
	sed -n '/enough would be/p' "$tmp/out"
	least=$(sed -n 's/.*enough would be --memory \([0-9]*\)$/\1/p' "$tmp/out")
	tdlc plan "$@" --memory "$least" | sed -n 's/^  memory */needs /p'
	tdlc plan "$@" --memory $((least - 1)) >"$tmp/out" 2>&1
	echo "-> $?"
}
# shellcheck disable=SC2086
for how in '-k 2 --stages 2 --micro-batches 4' '-k 4 --stages 2 --micro-batches 8' \
	'-k 4 --stages auto --micro-batches 4 --schedule gpipe' \
	'-k 2 --stages 2 --micro-batches 4 --recompute stage' \
	'-k 4 --algorithm auto --micro-batches 4'; do
	echo "== $how"
	enough $net $how
done
# No limit is named that is not enough, where a device has less.
cat >"$tmp/two.json" <<'END'
{"format": "tdl-topology", "version": 1, "name": "two",
 "device": {"bandwidth": 1e12, "flops": {"f32": 2e13}},
 "levels": [{"name": "link", "size": 2, "latency": 3e-6, "bandwidth": 1e11}],
 "devices": [{"count": 1, "memory": 6000}, {"count": 1}]}
END
# shellcheck disable=SC2086
for limit in 5900 10000 10048; do
	tdlc plan $net -k 2 --stages 2 --micro-batches 4 --topology "$tmp/two.json" \
		--memory $limit | grep 'memory  '
done

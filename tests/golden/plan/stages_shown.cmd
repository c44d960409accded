# Plans of several stages, looked at and simulated.
status() { "$@" || echo "-> $?"; }
model="micro_batches.tdl --model small -D batch=8 --train"
# shellcheck disable=SC2086
tdlc plan $model -k 4 --stages 2 --micro-batches 4 -o "$tmp/a.plan" >/dev/null
# shellcheck disable=SC2086
tdlc plan $model -k 2 --stages 2 --micro-batches 4 --schedule zb -o "$tmp/zb.plan" >/dev/null
# shellcheck disable=SC2086
tdlc plan $model -k 2 --micro-batches 4 -o "$tmp/one.plan" >/dev/null
tdlc show "$tmp/a.plan"
tdlc show "$tmp/a.plan" --json | grep -A12 '"order"'
tdlc show "$tmp/a.plan" --dot | grep -E 'graph|cds|penwidth'
tdlc show "$tmp/zb.plan" --diagram -
tdlc show "$tmp/zb.plan" --diagram "$tmp/zb.svg" && head -c 60 "$tmp/zb.svg" && echo
tdlc simulate "$tmp/a.plan" --topology 2x8xh100
tdlc simulate "$tmp/one.plan" --trace "$tmp/one.json" --diagram "$tmp/one.svg" --json |
	grep -E '"(schedule|turns|bubble|devices)"'
grep -c traceEvents "$tmp/one.json"
grep -c '</svg>' "$tmp/one.svg"
# Errors.
status tdlc simulate "$tmp/none.plan"
status tdlc simulate micro_batches.tdl
status tdlc simulate "$tmp/a.plan" "$tmp/a.plan"
status tdlc simulate "$tmp/a.plan" --trace -
status tdlc simulate "$tmp/a.plan" --trace "$tmp/none/a.json"
echo '{"format": "tdl-topology", "version": 1, "name": "small",
 "device": {"bandwidth": 1e9, "flops": {"f32": 1e9}},
 "levels": [{"name": "link", "size": 3, "latency": 0, "bandwidth": 1e9}]}' >"$tmp/small.json"
status tdlc simulate "$tmp/a.plan" --topology "$tmp/small.json"
status tdlc show "$tmp/a.plan" --topology "$tmp/small.json"
status tdlc show micro_batches.tdl --diagram -
status tdlc show "$tmp/a.plan" --json --diagram -
# Two plans beside each other; where a tensor is.
tdlc diff "$tmp/a.plan" "$tmp/zb.plan" | head -n 20
tdlc diff "$tmp/one.plan" "$tmp/a.plan" --json | sed -n '/"devices": 4/,/predicted_for/p'
tdlc explain --plan "$tmp/a.plan" --tensor h
tdlc explain --plan "$tmp/a.plan" --tensor w1.grad --json | grep -A9 '"stages"'
status tdlc explain --plan "$tmp/a.plan" --tensor none
status tdlc explain --plan "$tmp/a.plan" --tensor w1.gard
tdlc report "$tmp/a.plan" -o "$tmp/a.html" --json | grep -c '"report"'
grep -c 'id="stages-view"' "$tmp/a.html"
# With the plan, for the machine of the search.
# shellcheck disable=SC2086
tdlc plan $model -k 4 --stages 2 --micro-batches 4 --topology 2x8xh100 --report "$tmp/b.html" >/dev/null
grep -o '"predicted_for":"[^"]*"' "$tmp/b.html" | sort -u

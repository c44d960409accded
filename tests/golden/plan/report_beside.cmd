# Files beside a plan that are no such files, or about another plan.
status() { "$@" || echo "-> $?"; }
plan="$tmp/a.plan"
report() { status tdlc report "$plan" "$@" -o "$tmp/a.html"; }
tdlc plan micro_batches.tdl --model small -D batch=8 -k 2 -o "$plan" >/dev/null
tdlc plan micro_batches.tdl --model small -D batch=8 --train -k 2 -o "$tmp/b.plan" >/dev/null
tdlc compare micro_batches.tdl --model small -D batch=8 -k 2 --json >"$tmp/planners"
tdlc compare micro_batches.tdl --model small -D batch=8 -k 4 --json >"$tmp/four"
tdlrun "$plan" --trace "$tmp/trace" >/dev/null
report --planners "$tmp/planners" --trace "$tmp/trace"
rm "$tmp/a.html"
report --planners "$tmp/none"
report --planners "$tmp/four"
report --frontier "$tmp/planners"
report --trace "$tmp/planners"
sed 's/"model": "small"/"model": "large"/' "$tmp/planners" >"$tmp/large"
report --planners "$tmp/large"
sed 's/"predicted_seconds": /&-/' "$tmp/planners" >"$tmp/early"
report --planners "$tmp/early"
sed 's/"train": false/"train": true/' "$tmp/planners" >"$tmp/trained"
report --planners "$tmp/trained"
head -c 100 "$tmp/trace" >"$tmp/half"
report --trace "$tmp/half"
sed 's/"instruction":0/"instruction":99/' "$tmp/trace" >"$tmp/wrong"
report --trace "$tmp/wrong"
sed 's/"pid":1/"pid":2/g' "$tmp/trace" >"$tmp/wrong"
report --trace "$tmp/wrong"
sed 's/"dur":/&-/' "$tmp/trace" >"$tmp/wrong"
report --trace "$tmp/wrong"
echo '[]' >"$tmp/wrong"
report --trace "$tmp/wrong"
plan="$tmp/b.plan"
report --planners "$tmp/planners"
report --trace "$tmp/trace"
ls "$tmp/a.html"
# Traces that are not written.
status tdlrun "$plan" --data none.npz --trace "$tmp/c"
status tdlrun "$plan" --trace "$tmp/none/c"
ls "$tmp/c"
# The planners beside a plan have its limit of memory.
tdlc plan micro_batches.tdl --model small -D batch=8 --train -k 2 --algorithm auto --memory 900 \
	--report "$tmp/c.html" --compare >/dev/null
grep -o '"algorithm":"[a-z]*\|"fits":false' "$tmp/c.html" | sort | uniq -c | grep fits

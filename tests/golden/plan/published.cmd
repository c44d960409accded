# Pipelines of published planners.
status() { "$@" || echo "-> $?"; }
mlp='../../../examples/models/mlp.tdl -D batch=8 -D inputs=6 -D width=10 -D depth=8 --train'
plan() { status tdlc plan $mlp -k 4 --micro-batches 2 "$@"; }
for a in mcap pipedream capture; do
	plan --stages auto --algorithm $a | sed -n '1p;/^stage/,$p'
done
plan --stages 4 --algorithm mcap --memory 8K | sed -n '/memory/p;/^stage/,$p'
plan --stages 4 --algorithm mcap --memory 1K -o "$tmp/none.plan"
# Each chunk has an operator that computes with weights.
plan --stages 4 --algorithm mcap --schedule interleaved:2 | sed -n '/^stage/,$p'
plan --stages 4 --algorithm mcap --schedule interleaved:2 --memory 8K | sed -n '/^stage/,$p'
plan --stages auto --algorithm capture --memory 1K -o "$tmp/none.plan"
[ ! -e "$tmp/none.plan" ] || echo "it was written"
tdlc compare $mlp -k 4 --micro-batches 2 --algorithm stages --algorithm mcap |
	sed -n '3,5s/ *[0-9.]* [mµ]*s$//p'
tdlc compare $mlp -k 4 --micro-batches 2 --algorithm mcap --json |
	grep -E '"(pipelines|algorithm|devices|layers|error)"'
# Options.
plan --algorithm mcap
plan --algorithm none
plan --stages 2 --algorithm mcap
plan --stages 2 --algorithm capture
plan --stages auto --algorithm pipedream --schedule gpipe
plan --stages auto --algorithm capture --schedule interleaved:2
plan --stages auto --algorithm mcap --schedule auto
plan --stages auto --algorithm mcap --replicas 2
plan --stages auto --algorithm capture --inside tofu
status tdlc compare $mlp -k 4 --algorithm mcap
status tdlc compare $mlp -k 4 --micro-batches 0
status tdlc compare $mlp -k 4 --micro-batches 16
status tdlc compare $mlp -k 4 --micro-batch-statistics

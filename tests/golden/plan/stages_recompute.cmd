# Stages that compute their forward passes again.
status() { "$@" || echo "-> $?"; }
mlp='../../../examples/models/mlp.tdl -D batch=32 -D inputs=6 -D width=10 -D depth=6'
plan() { status tdlc plan $mlp -k 2 --train --stages 2 --micro-batches 8 --schedule gpipe "$@"; }
plan --recompute stage -o "$tmp/a.plan"
plan --recompute stage --json | grep '"recomputed"'
plan --json | grep '"recomputed"'
tdlc show "$tmp/a.plan" | sed -n 2,7p
tdlc simulate "$tmp/a.plan" | sed -n 3p
tdlc explain --plan "$tmp/a.plan" --tensor layer_0.matmul
# It is what would fit.
plan --memory 9K
plan --recompute stage --memory 9K | grep memory
# Without stages there is nothing to compute again, nor without training.
status tdlc plan $mlp -k 2 --train --recompute stage -o "$tmp/b.plan"
[ ! -e "$tmp/b.plan" ] || echo "it was written"
status tdlc show $mlp --train --recompute stage
status tdlc show $mlp --costs --train --recompute stage
status tdlc compare $mlp -k 2 --train --recompute stage
status tdlc plan $mlp -k 2 --stages 2 --micro-batches 8 --recompute stage

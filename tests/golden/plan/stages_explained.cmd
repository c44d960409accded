# Why layers lie in their stages.
status() { "$@" || echo "-> $?"; }
mlp='../../../examples/models/mlp.tdl -D batch=8 -D inputs=6 -D width=10 -D depth=8 --train'
explain() { status tdlc explain $mlp --micro-batches 4 "$@"; }
explain -k 3 --stages 3
explain -k 2 --stages 2 --json
explain -k 2 --stages 2 --memory 7K | sed -n '/^stages/,$p'
explain -k 2 --stages 2 --schedule interleaved:2 | sed -n '/^stages/,$p'
explain -k 3 --stages auto --algorithm mcap | sed -n '/^stages/,$p'
explain -k 1 --stages 1
# Options.
explain --stages 2
explain -k 2
explain -k 2 --stages 2 --format jax
status tdlc explain matmul -k 2 --stages 2
status tdlc explain $mlp
explain -k 2 --stages 2 --memory 1K
explain -k 2 --stages 40
status tdlc explain --plan none.plan --tensor x --stages 2

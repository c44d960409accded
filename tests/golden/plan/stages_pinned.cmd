# Pins of stages.
status() { "$@" || echo "-> $?"; }
mlp='../../../examples/models/mlp.tdl -D batch=8 -D inputs=6 -D width=10 -D depth=6 --train'
plan() { status tdlc plan $mlp --micro-batches 2 "$@"; }
cat >"$tmp/three.pins" <<'END'
# Three stages, one of them of two devices.
layer_2*=stage 1  # and what follows
layer_5.add=stage 2
stage 0=devices 1
stage 1=devices 2, replicas 2
stage 2=devices 1
END
plan -k 4 --stages auto --pins "$tmp/three.pins" -o "$tmp/a.plan" | sed -n '1p;/^stage/,$p'
tdlrun "$tmp/a.plan" --verify | sed -n '/verified/,$p' | head -n 2
plan -k 2 --stages 2 --pin 'layer_3.matmul=stage 1' --schedule gpipe | sed -n '/^stage/,$p'
plan -k 2 --stages 2 --pin 'layer_0*=on 0' --pin 'layer_4*=on 1' | sed -n '/^stage/,$p'
status tdlc score $mlp -k 4 --micro-batches 2 --pins "$tmp/three.pins" --algorithm stages --algorithm mcap |
	sed -n '3,6s/ *[0-9.]* [mµ]*s$//p'
status tdlc score $mlp -k 4 --micro-batches 2 --pins "$tmp/three.pins" --algorithm stages --json |
	grep -E '"(pinned|pipelines|algorithm|devices|replicas)"'
# What does not hold together.
two="-k 2 --stages auto"
plan $two --pin 'layer_9=stage 1'
plan $two --pin 'layer_3.matmul=stage x'
plan $two --pin 'layer_3.matmul=stage'
plan $two --pin 'layer_3.matmul=on 2'
plan $two --pin 'layer_3.matmul=stage 1' --pin 'layer_3.w=cut 0'
plan $two --pin 'layer_3.matmul=stage 2'
plan $two --pin 'layer_3.matmul=stage 1' --pin 'stage 0=devices 1'
plan $two --pin 'layer_3.matmul=stage 1' --pin 'stage 0=workers 1'
plan $two --pin 'layer_3.matmul=stage 1' --pin 'layer_4*=stage 0'
plan -k 4 --stages 2 --pin 'layer_3.matmul=on 3' --pin 'layer_4*=stage 1'
plan -k 4 --stages 3 --pin 'layer_3.matmul=stage 1'
plan -k 4 --stages 2 --pin 'layer_3.matmul=stage 1' --replicas 3
plan -k 2 --stages 2 --pin 'layer_3.matmul=stage 1' --schedule interleaved:2
plan -k 2 --stages 2 --pin 'layer_3.matmul=stage 1' --algorithm mcap
plan -k 2 --stages 2 --pin 'layer_3.w=cut 0'
status tdlc plan $mlp -k 2 --pin 'layer_3.matmul=stage 1'

# Three turns of 1, 2 and 2 samples, trained and not.
tdlc plan micro_batches.tdl --model small -k 2 --train --micro-batches 3 -o "$tmp/a.plan" >/dev/null
tdlrun "$tmp/a.plan" --verify --json | grep -E '"(verified|communication_bytes|arena_bytes)"'
grep -E '"micro_batches"|"feed"|"then"' "$tmp/a.plan"
tdlc plan micro_batches.tdl --model small -k 1 --micro-batches 2 -o "$tmp/b.plan" | head -3
tdlrun "$tmp/b.plan" --verify --json | grep -E '"verified"'
# Sums and maxima that stay partial over the workers until the last turn.
for model in late late_max; do
	tdlc plan micro_batches.tdl --model $model -k 4 --algorithm data-parallel --micro-batches 3 -o "$tmp/p.plan" >/dev/null
	tdlrun "$tmp/p.plan" --verify --json | grep -E '"(verified|communication_bytes)"'
	tdlc show "$tmp/p.plan" | grep partial
done
# A batch that is said, or not known, or too small; what needs all of it.
tdlc plan micro_batches.tdl --model named -k 2 --micro-batches 4 --batch-dim x=0 -o "$tmp/c.plan" >/dev/null
tdlrun "$tmp/c.plan" --verify --json | grep -E '"verified"'
tdlc plan micro_batches.tdl --model named -k 2 --micro-batches 4
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 6
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 2 --batch-dim z=0
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 2 --batch-dim x=2
tdlc plan micro_batches.tdl --model centred -k 2 --train --micro-batches 2
tdlc plan micro_batches.tdl --model small -k 2 --batch-dim x=0
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 1 --batch-dim z=0
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 2 --batch-dim x=0 --batch-dim x=1
tdlc plan micro_batches.tdl --model small -D batch=1 -k 2 --micro-batches 2
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches none
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 2 --batch-dim x
# Loops that are wrong.
sed 's/"turns":3/"turns":6/' "$tmp/a.plan" >"$tmp/d.plan"
tdlrun "$tmp/d.plan"
sed 's/"batch":5/"batch":4/' "$tmp/a.plan" >"$tmp/d.plan"
tdlrun "$tmp/d.plan"
sed '/"micro_batches"/s/"body":\[[0-9]*,/"body":[0,/' "$tmp/a.plan" >"$tmp/d.plan"
tdlrun "$tmp/d.plan"
sed 's/"version":3/"version":2/' "$tmp/a.plan" >"$tmp/d.plan"
tdlrun "$tmp/d.plan"
sed '/"micro_batches"/s/"body":\[\([0-9]*\),[0-9]*/"body":[\1,999/' "$tmp/a.plan" >"$tmp/d.plan"
tdlrun "$tmp/d.plan"
# The gradient by h reads the sum of that by w2, of the turns so far, for w2.
number() { awk -v table="\"$2\":[" -v row="$1" 'index($0, table) == 1 { n = 0; on = 1; next } on && index($0, row) { print n; exit } { n++ }' "$tmp/a.plan"; }
zero=$(number '"name":"w2.grad.zero"' tensors) w2=$(number '"name":"w2"' tensors)
held=$(number "\"tensor\":$zero,\"region\":\"stored\"" buffers) of=$(number "\"tensor\":$w2,\"region\":\"stored\"" buffers)
adds=$(number '"name":"w2.grad.accumulate"' nodes) reads=$(number '"op":"matmul_grad_a"' nodes)
sed "s/\(\"op\":\"matmul_grad_a\",.*\"inputs\":\[[0-9]*,\)$w2\]/\1$zero]/
	/^{\"run\":$adds,/{h;d;}
	/^{\"run\":$reads,/{s/,$of\]/,$held]/;G;}" "$tmp/a.plan" >"$tmp/d.plan"
tdlrun "$tmp/d.plan"
# Elsewhere.
tdlc plan micro_batches.tdl --model small -k 2 --train --micro-batches 3 --emit-cuda "$tmp/cuda"
tdlc explain --plan "$tmp/a.plan" --tensor w1
tdlc show "$tmp/a.plan" | head -4
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 2 --json | grep -A3 '"micro_batches"'
tdlc plan micro_batches.tdl --model small -k 2 --micro-batches 2 --frontier
# The best number, within a limit or without; one that cannot be chosen.
tdlc plan micro_batches.tdl --model small -D batch=6 -k 2 --train --micro-batches auto --json | grep -A40 '"micro_batches_tried"' | grep -E 'turns|peak'
tdlc plan micro_batches.tdl --model small -D batch=64 -k 2 --train --micro-batches auto --memory 1280 -o "$tmp/p.plan" | sed -n '/micro/,/divided/p'
tdlrun "$tmp/p.plan" --verify --json | grep -E '"(verified|arena_bytes)"'
tdlc plan micro_batches.tdl --model small -D batch=8 -k 2 --train --micro-batches auto --algorithm auto --objective memory | grep micro-batches
tdlc plan micro_batches.tdl --model centred -k 2 --train --micro-batches auto | grep micro-batches
# Fewer samples than devices, of a step, and of a micro-batch.
for more in '-D batch=3' '-D batch=4 --micro-batches 4' '-D batch=4'; do
	tdlc plan micro_batches.tdl --model small -k 4 --train --algorithm data-parallel $more -o "$tmp/p.plan" | grep -E 'divided|note'
	tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
done
# What reads nothing does not say where the samples are.
tdlc plan micro_batches.tdl --model empty -k 2 --train --micro-batches 2 -o "$tmp/e.plan" >/dev/null
tdlrun "$tmp/e.plan" --verify | grep verified

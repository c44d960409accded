# Gradients are exchanged once, behind the last turn: as many bytes for any number.
for turns in 2 4 8; do
	tdlc plan micro_batches.tdl --model small -D batch=16 -k 2 --train --algorithm data-parallel --micro-batches $turns -o "$tmp/p.plan" | grep 'byte model'
	tdlrun "$tmp/p.plan" --verify --json | grep -E '"(verified|communication_bytes)"'
done
tdlc show "$tmp/p.plan" | sed -n '/tensor that moves/,$p'
# Reduced at once, as by tofu, they are in each.
for turns in 1 4; do
	tdlc plan micro_batches.tdl --model small -D batch=16 -k 2 --train --micro-batches $turns -o "$tmp/p.plan" \
		--pin 'x=cut 0' --pin 'w?=replicated' --pin 'w?.grad*=replicated' | grep 'byte model'
	tdlrun "$tmp/p.plan" --verify --json | grep -E '"(verified|communication_bytes)"'
done

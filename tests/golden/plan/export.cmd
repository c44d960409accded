# A plan as a module for JAX, without the part that all have; what is refused.
written() { sed -n '/---- the plan/,$p' "$tmp/$1.py"; }
plan() { tdlc plan export.tdl --opdefs ../../../opdefs -o "$tmp/p.plan" "$@" >/dev/null; }
plan --model small -k 4 --train --algorithm joint
tdlc export "$tmp/p.plan" --to jax -o "$tmp/small.py" && written small
plan --model factored -k 2
tdlc export "$tmp/p.plan" --to jax -o "$tmp/factored.py" && written factored
plan --model small -k 2 --train --micro-batches 2
tdlc export "$tmp/p.plan" --to jax -o "$tmp/turns.py" && written turns
plan --model small -k 4 --train --stages 2 --micro-batches 2
tdlc export "$tmp/p.plan" --to jax -o "$tmp/stages.py" && written stages
tdlc export "$tmp/p.plan" --to cuda -o "$tmp/none"
echo "-> $?"
for more in '' '--stages 2'; do
	plan --model small -k 2 --train --micro-batches 3 $more
	tdlc export "$tmp/p.plan" --to jax -o "$tmp/none.py"
	echo "-> $?"
done
tdlc export "$tmp/p.plan" --to jax
tdlc export "$tmp/p.plan" --to jax -o -
tdlc export --to jax -o "$tmp/none.py"
plan --model narrow -k 2
for to in jax shardy fax; do
	tdlc export "$tmp/p.plan" --to $to -o "none.out"
	echo "-> $?"
done
printf '\010\010\072\000' >"$tmp/empty.onnx"
tdlc export "$tmp/p.plan" --to onnx --model "$tmp/empty.onnx" -o "$tmp/none.onnx"
echo "-> $?"
tdlc export "$tmp/p.plan" --to onnx -o "$tmp/none.onnx"
tdlc export "$tmp/p.plan" --to jax --model "$tmp/empty.onnx" -o "$tmp/none.onnx"
ls "$tmp" | grep none

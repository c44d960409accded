# Both stages read a weight, and compute in 16 bits: the terms of its gradient are
# added up in 32 bits, in each micro-batch; of 32 bits each stage adds up its own.
for type in f32 bf16 f16; do
	for schedule in 1f1b zb; do
		tdlc plan micro_batches_tied.tdl --model tied -k 2 --stages 2 --micro-batches 2 --schedule $schedule \
			--train --precision $type -o "$tmp/p.plan" | head -n 1
		tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
	done
done
# A sum of more terms than two is one of sums, where nothing is fused, on either
# side.
for stages in 2 3 4; do
	for turns in 1 3; do
		tdlc plan stages_tied.tdl -k $stages --stages $stages --micro-batches $turns --train --no-fuse -o "$tmp/p.plan" | sed -n '/communication/,/stages/p'
		tdlrun "$tmp/p.plan" --verify --json | grep '"verified"'
	done
done

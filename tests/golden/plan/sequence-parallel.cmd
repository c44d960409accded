# What Megatron's plan divides, with norms and residual sums cut along the
# sequence and without; only its planner takes the option.
sizes="-Dbatch=2 -Dtokens=8 -Dvocabulary=48 -Dlayers=1 -Dwidth=32 -Dheads=8"
model=../../../examples/models/gpt2.tdl
for option in "" --sequence-parallel; do
	tdlc plan $model $sizes --train -k 4 --algorithm megatron $option |
		sed -n '/communication/,/memory/p; /note/,$p'
done
tdlc compare $model $sizes --train -k 4 --algorithm megatron \
	--sequence-parallel | awk '/^megatron/ && !n++ { print $1, $2, $3 }'
tdlc plan $model $sizes -k 4 --sequence-parallel

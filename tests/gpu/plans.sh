#!/bin/sh
# plans.sh FOLDER: plans of small networks, for machines that have a GPU but no
# tdlc.  NAME-K.plan is for K workers.
set -eu
here=$(cd "$(dirname "$0")/../.." && pwd)
TDL_OPDEFS=${TDL_OPDEFS:-$here/opdefs}
export TDL_OPDEFS
mkdir -p "$1"

# plan NAME K MODEL OPTION...
plan() {
	name=$1 k=$2 model=$3
	shift 3
	"$TDLC" plan "$here/examples/models/$model.tdl" -k "$k" \
		-o "$folder/$name-$k.plan" "$@" >/dev/null
}

folder=$1
images='-D batch=8 -D classes=10'
text='-D batch=4 -D tokens=8 -D vocabulary=24 -D layers=2 -D width=16'
text="$text -D heads=4"
adamw='--train --optimizer adamw'
sgd='--train --optimizer sgd,momentum=0.9'
# shellcheck disable=SC2086 # words
{
	"$TDLC" plan "$here/tests/gpu/bundle/one.tdl" -k 1 \
		-o "$folder/one-1.plan" >/dev/null
	for k in 1 2 4 8; do
		plan mlp $k mlp -D batch=8 -D inputs=13 -D width=18 -D depth=3 \
			$adamw
	done
	plan resnet 2 resnet $images -D image=33 -D depth=18 -D width=4 $sgd
	plan resnet-inference 4 resnet $images -D image=33 -D depth=50 \
		-D width=4
	plan wresnet 8 wresnet $images -D image=32 -D depth=50 -D width=2 \
		-D widen=2 $sgd
	plan alexnet 4 alexnet $images -D image=63 -D width=4 -D hidden=24 $sgd
	plan inception 2 inception_v3 $images -D image=75 -D n=1
	plan densenet 4 densenet121 $images -D image=32 -D growth=4 \
		-D 'depth=[2,3,2,1]' $sgd
	plan vgg 2 vgg19 $images -D image=32 -D width=4 -D hidden=24
	plan rnn 4 rnn -D batch=8 -D layers=2 -D hidden=8 -D steps=5 \
		-D inputs=12 -D classes=6 $adamw
	plan transformer 2 transformer $text -D wide=32 $adamw
	plan bert 4 bert $text -D wide=32 $adamw
	plan gpt2 2 gpt2 $text $adamw
	plan gpt2 8 gpt2 $text $adamw
	plan gpt2-bf16 2 gpt2 $text $adamw --precision bf16
	plan stages 4 gpt2 $text -D dropout=0 $adamw --stages 2 \
		--micro-batches 4
	plan gpt3 4 gpt3 $text -D window=3 $adamw
	plan llama 2 llama $text -D kv_heads=2 -D wide=32 $adamw
	plan moe 4 moe $text -D kv_heads=2 -D wide=32 -D experts=4 -D chosen=2 \
		-D room=5 $adamw
	plan vit 2 vit $images -D image=16 -D patch=4 -D layers=2 -D width=16 \
		-D heads=4 -D wide=32 $adamw
	plan unet 4 unet -D batch=4 -D image=8 -D width=8 -D 'widen=[1,2]' \
		-D depth=1 -D attention_at=4 -D groups=4 $adamw
}

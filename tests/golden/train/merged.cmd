# Initializers that may be no weights, or several, are named where they train.
show() {
	tdlc show merged.onnx --train --loss mse "$@" | grep trained
}
show
show --freeze scale --freeze zeros --precision bf16
show --freeze scale --freeze zeros --freeze ones --freeze tied
show --train-only 'tied*'
show --train-only '[ot]*' --freeze ones
tdlc show merged.onnx --evaluate | grep parameters
# What --precision converts is not said to have another type than declared.
tdlc show merged.onnx --train --loss mse --precision bf16 2>&1 |
	grep type-disagrees || echo "no warning"

# The strict modes of tdlc plan.
status() { "$@" >"$tmp/out" || echo "-> $?"; }
status tdlc plan whole.onnx -k 4 --fail-on-opaque
status tdlc plan whole.onnx -k 4 --warn-replicate 16K
status tdlc plan whole.onnx -k 4 --warn-replicate 32769
status tdlc plan whole.onnx -k 4 --warn-replicate 1
status tdlc plan whole.onnx -k 4 --warn-replicate 16X
status tdlc plan whole.onnx -k 4 --warn-replicate 99999999T

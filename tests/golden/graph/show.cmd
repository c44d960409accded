tdlc show relu.onnx
tdlc show relu.onnx --dot
tdlc show relu.onnx --json --shape x=4x3

tdlc show relu.onnx --shape x=4

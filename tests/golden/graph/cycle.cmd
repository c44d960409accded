tdlc show cycle.onnx

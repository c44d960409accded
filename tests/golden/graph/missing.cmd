tdlc show missing.onnx

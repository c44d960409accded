tdlc show malformed.onnx

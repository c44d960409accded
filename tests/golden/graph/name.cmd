tdlc show name.onnx

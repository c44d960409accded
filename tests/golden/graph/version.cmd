tdlc show version.onnx

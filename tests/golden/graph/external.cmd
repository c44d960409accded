tdlc show external.onnx

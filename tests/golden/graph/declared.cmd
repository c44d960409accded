tdlc show declared.onnx

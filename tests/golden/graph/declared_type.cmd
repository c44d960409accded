tdlc show declared_type.onnx

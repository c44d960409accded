tdlc show type.onnx

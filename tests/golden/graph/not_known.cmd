tdlc show not_known.onnx

tdlc show large.onnx

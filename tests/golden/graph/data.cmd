tdlc show data.onnx

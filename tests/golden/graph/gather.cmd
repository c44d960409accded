tdlc show gather.onnx

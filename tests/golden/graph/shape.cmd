tdlc show shape.onnx

tdlc show node.onnx

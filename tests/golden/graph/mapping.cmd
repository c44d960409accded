tdlc show relu.onnx --opdefs parts/odd

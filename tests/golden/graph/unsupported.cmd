tdlc show sum.onnx --opdefs parts/odd

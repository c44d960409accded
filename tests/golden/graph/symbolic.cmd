tdlc show symbolic.onnx -D batch=2

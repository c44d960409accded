tdlc coverage mixed.onnx -k 4

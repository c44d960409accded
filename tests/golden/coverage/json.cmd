tdlc coverage mixed.onnx --json

tdlc show sequence.onnx --opdefs ../../../opdefs

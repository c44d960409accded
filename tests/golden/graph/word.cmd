tdlc show word.onnx --opdefs ../../../opdefs

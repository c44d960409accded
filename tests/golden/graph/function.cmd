tdlc show function.onnx --opdefs ../../../opdefs

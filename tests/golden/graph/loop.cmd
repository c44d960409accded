tdlc show loop.onnx --opdefs ../../../opdefs

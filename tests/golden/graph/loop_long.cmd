tdlc show loop_long.onnx --opdefs ../../../opdefs

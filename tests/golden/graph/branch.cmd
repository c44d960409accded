tdlc show branch.onnx --opdefs ../../../opdefs

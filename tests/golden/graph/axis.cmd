tdlc show axis.onnx --opdefs ../../../opdefs

tdlc check parts/defs/defs.tdl
tdlc show relu.onnx --opdefs parts/defs

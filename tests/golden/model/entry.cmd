# The entry of a node calls a def that is for models.
tdlc show ../graph/relu.onnx --opdefs parts/entry

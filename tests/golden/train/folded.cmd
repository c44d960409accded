# A weight that the exporter has computed of another one is named where it trains.
tdlc show folded.onnx --train --loss mse | grep trained
tdlc show folded.onnx --train --loss mse --freeze t | grep trained
tdlc show folded.onnx | grep parameters

tdlc show features.tdl --model names -D batch=2 --dot --opdefs ../../../opdefs
tdlc show features.tdl --model values --json --opdefs ../../../opdefs

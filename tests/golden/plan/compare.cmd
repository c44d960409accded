# Every planner on one model; how long the search takes is left out.
status() { "$@" >"$tmp/out" || echo "-> $?"; sed 's/ *[0-9.e+-]* [mµ]*s$//' "$tmp/out"; }
status tdlc compare matmul.onnx -k 4
status tdlc compare matmul.onnx -k 3 --algorithm allrow --algorithm tofu
status tdlc compare matmul.onnx -k 4 --algorithm nope
status tdlc compare matmul.onnx
tdlc compare matmul.onnx -k 2 --algorithm tofu --json | sed 's/\("search_seconds"\): .*/\1: 0,/'

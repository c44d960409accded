status() { "$@" || echo "-> $?"; }
status tdlc coverage
status tdlc coverage mixed.onnx -k 1
status tdlc coverage mixed.onnx -D q=3

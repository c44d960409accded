# Time that is enough changes nothing; none at all is refused.
tdlc plan matmul.onnx -k 4 --time-limit 60 --json |
	grep -A 3 '"\(optimal\|least\)_by_step"'
status() { "$@" || echo "-> $?"; }
status tdlc plan matmul.onnx -k 4 --time-limit 0

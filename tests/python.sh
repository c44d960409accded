#!/bin/sh
# A test in Python; those in onnx/ are skipped without the packages they need.
case $1 in
*/onnx/*)
	"$PYTHON" -c 'import importlib.util as u, sys
sys.exit(not all(map(u.find_spec, ("numpy", "onnx", "onnxruntime"))))' || {
		echo "SKIP: $PYTHON has no numpy, onnx, onnxruntime" \
			"(tests/requirements.txt)"
		exit 77
	}
	;;
esac
exec "$PYTHON" "$@"

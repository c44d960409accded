# The operator library, installed as it is.
opdefsdir = $(pkgdatadir)/opdefs
dist_opdefs_DATA = \
	%D%/attention.tdl \
	%D%/carry.tdl \
	%D%/conv.tdl \
	%D%/conv_transpose.tdl \
	%D%/elementwise.tdl \
	%D%/linalg.tdl \
	%D%/linear.tdl \
	%D%/loss.tdl \
	%D%/microsoft.tdl \
	%D%/norm.tdl \
	%D%/optimizer.tdl \
	%D%/pool.tdl \
	%D%/quantize.tdl \
	%D%/random.tdl \
	%D%/reduce.tdl \
	%D%/resize.tdl \
	%D%/rnn.tdl \
	%D%/sample.tdl \
	%D%/scatter.tdl \
	%D%/shape.tdl \
	%D%/signal.tdl \
	%D%/sort.tdl

# The mappings from nodes of ONNX models to calls of these.
opdefs_onnxdir = $(opdefsdir)/onnx
dist_opdefs_onnx_DATA = \
	%D%/onnx/attention.tdl \
	%D%/onnx/control.tdl \
	%D%/onnx/conv.tdl \
	%D%/onnx/conv_transpose.tdl \
	%D%/onnx/einsum.tdl \
	%D%/onnx/elementwise.tdl \
	%D%/onnx/linalg.tdl \
	%D%/onnx/linear.tdl \
	%D%/onnx/loss.tdl \
	%D%/onnx/microsoft.tdl \
	%D%/onnx/norm.tdl \
	%D%/onnx/optimizer.tdl \
	%D%/onnx/pool.tdl \
	%D%/onnx/quantize.tdl \
	%D%/onnx/random.tdl \
	%D%/onnx/reduce.tdl \
	%D%/onnx/resize.tdl \
	%D%/onnx/rnn.tdl \
	%D%/onnx/sample.tdl \
	%D%/onnx/scatter.tdl \
	%D%/onnx/sequence.tdl \
	%D%/onnx/shape.tdl \
	%D%/onnx/signal.tdl \
	%D%/onnx/sort.tdl

EXTRA_DIST += %D%/README.md %D%/onnx/README.md

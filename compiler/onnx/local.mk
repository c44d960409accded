noinst_LIBRARIES += %D%/libonnx.a
%C%_libonnx_a_SOURCES = \
	%D%/onnx.c %D%/onnx.h \
	%D%/onnx_builtin.c \
	%D%/onnx_external.c \
	%D%/onnx_file.c %D%/onnx_file.h \
	%D%/onnx_import.h \
	%D%/onnx_inner.c \
	%D%/onnx_name.c \
	%D%/onnx_node.c \
	%D%/onnx_survey.c \
	%D%/onnx_tensor.c

EXTRA_DIST += %D%/README.md

noinst_LIBRARIES += %D%/libonnxproto.a
# ONNX's own description of its files, made into C, which a release carries.
%C%_libonnxproto_a_SOURCES = \
	%D%/onnx-ml.pb-c.c %D%/onnx-ml.pb-c.h
%C%_libonnxproto_a_CFLAGS = -std=gnu11 -fPIC -fvisibility=hidden -w \
	$(EXTRA_CFLAGS)
BUILT_SOURCES += %D%/onnx-ml.pb-c.h
MAINTAINERCLEANFILES += %D%/onnx-ml.pb-c.c %D%/onnx-ml.pb-c.h
EXTRA_DIST += %D%/onnx-ml.proto

%D%/onnx-ml.pb-c.c: %D%/onnx-ml.proto
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	$(PROTOC_C) --proto_path=$(srcdir)/%D% --c_out=%D% \
		$(srcdir)/%D%/onnx-ml.proto
%D%/onnx-ml.pb-c.h: %D%/onnx-ml.pb-c.c
	@test -f $@ || { rm -f %D%/onnx-ml.pb-c.c; \
		$(MAKE) $(AM_MAKEFLAGS) %D%/onnx-ml.pb-c.c; }
$(%C%_libonnx_a_OBJECTS): %D%/onnx-ml.pb-c.h

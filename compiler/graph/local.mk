noinst_LIBRARIES += %D%/libgraph.a %D%/libonnxproto.a
%C%_libgraph_a_SOURCES = \
	%D%/backward.c \
	%D%/build.c %D%/builder.h \
	%D%/call.c \
	%D%/canonical.c %D%/canonical.h \
	%D%/end.c \
	%D%/fold.c \
	%D%/graph.h \
	%D%/literal.c \
	%D%/mapping.c %D%/mapping.h \
	%D%/mapping_call.c \
	%D%/mapping_expr.c %D%/mapping_expr.h \
	%D%/mapping_fn.c %D%/mapping_fn.h \
	%D%/mapping_list.c \
	%D%/mapping_scope.c \
	%D%/mapping_stmt.c \
	%D%/mapping_tensor.c \
	%D%/model.c \
	%D%/model_declare.c \
	%D%/onnx.c %D%/onnx_import.h \
	%D%/onnx_builtin.c \
	%D%/onnx_external.c \
	%D%/onnx_file.c %D%/onnx_file.h \
	%D%/onnx_inner.c \
	%D%/onnx_name.c \
	%D%/onnx_node.c \
	%D%/onnx_survey.c \
	%D%/onnx_tensor.c \
	%D%/optimizer.c \
	%D%/order.c %D%/order.h \
	%D%/precision.c \
	%D%/recompute.c \
	%D%/train.c %D%/train.h %D%/trainer.h \
	%D%/train_doubt.c \
	%D%/train_loss.c \
	%D%/train_option.c

# What links with libgraph.a needs these behind it.
graph_libs = %D%/libgraph.a %D%/libonnxproto.a \
	compiler/gradient/libgradient.a

# ONNX's own description of its files, made into C, which a release carries.
%C%_libonnxproto_a_SOURCES = \
	%D%/onnx-ml.pb-c.c %D%/onnx-ml.pb-c.h
%C%_libonnxproto_a_CFLAGS = -std=gnu11 -w $(EXTRA_CFLAGS)
BUILT_SOURCES += %D%/onnx-ml.pb-c.h
MAINTAINERCLEANFILES += %D%/onnx-ml.pb-c.c %D%/onnx-ml.pb-c.h
EXTRA_DIST += %D%/onnx-ml.proto %D%/README.md

%D%/onnx-ml.pb-c.c: %D%/onnx-ml.proto
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	$(PROTOC_C) --proto_path=$(srcdir)/%D% --c_out=%D% \
		$(srcdir)/%D%/onnx-ml.proto
%D%/onnx-ml.pb-c.h: %D%/onnx-ml.pb-c.c
	@test -f $@ || { rm -f %D%/onnx-ml.pb-c.c; \
		$(MAKE) $(AM_MAKEFLAGS) %D%/onnx-ml.pb-c.c; }
$(%C%_libgraph_a_OBJECTS): %D%/onnx-ml.pb-c.h

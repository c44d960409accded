noinst_LIBRARIES += %D%/libgraph.a
%C%_libgraph_a_SOURCES = \
	%D%/build.c \
	%D%/builder.h \
	%D%/call.c \
	%D%/canonical.c %D%/canonical.h \
	%D%/carry.c %D%/carry.h \
	%D%/finish.c \
	%D%/fold.c \
	%D%/folds.c \
	%D%/graph.h \
	%D%/order.c %D%/order.h \
	%D%/passes.c %D%/passes.h \
	%D%/section.h \
	%D%/precision.c \
	%D%/specialize.c \
	%D%/turns.c %D%/turns.h \
	%D%/turns_divide.c \
	%D%/turns_find.c \
	%D%/turns_totals.c

EXTRA_DIST += %D%/README.md

# Models as graphs, in the order of linking.
graph_libs = compiler/onnx/libonnx.a compiler/model/libmodel.a \
	compiler/train/libtrain.a %D%/libgraph.a compiler/onnx/libonnxproto.a \
	compiler/gradient/libgradient.a

# Graphs and the ONNX importer.
graph_test_libs = $(graph_libs) compiler/expand/libexpand.a $(dsl_libs) \
	$(plan_libs) base/libbase.a $(PROTOBUF_C_LIBS) $(unit_libs)

unit_tests += %D%/test_graph %D%/test_onnx_file %D%/test_training
%C%_test_graph_LDADD = $(graph_test_libs)
%C%_test_training_LDADD = $(graph_test_libs)
%C%_test_onnx_file_LDADD = compiler/onnx/libonnx.a \
	compiler/onnx/libonnxproto.a base/libbase.a $(PROTOBUF_C_LIBS) \
	$(unit_libs)

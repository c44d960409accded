# Generated kernels, and the runtime.
runtime_libs = compiler/codegen/libcodegen.a runtime/libruntime.a \
	plan/libplan.a base/libbase.a $(unit_libs) $(LIBZIP_LIBS) $(ZLIB_LIBS) \
	$(MPI_LIBS)

unit_tests += \
	%D%/test_codegen \
	%D%/test_rendezvous \
	%D%/test_codegen_cuda \
	%D%/test_cuda \
	%D%/test_runtime \
	%D%/test_train

%C%_test_codegen_SOURCES = %D%/test_codegen.c %D%/check_c.c \
	%D%/check_kernel.c %D%/check_kernel.h
%C%_test_codegen_LDADD = $(runtime_libs)

# The same kernels in CUDA, on the host.
%C%_test_codegen_cuda_SOURCES = %D%/test_codegen.c %D%/check_cuda.c \
	%D%/check_kernel.c %D%/check_kernel.h
%C%_test_codegen_cuda_LDADD = $(runtime_libs)

%C%_test_runtime_SOURCES = %D%/test_runtime.c \
	%D%/random_graph.c %D%/random_graph.h \
	%D%/random_plan.c %D%/random_plan.h
%C%_test_runtime_LDADD = compiler/lower/liblower.a \
	compiler/search/libsearch.a $(runtime_libs)

%C%_test_rendezvous_LDADD = $(runtime_libs)

%C%_test_train_SOURCES = %D%/test_train.c \
	%D%/random_graph.c %D%/random_graph.h \
	%D%/random_plan.c %D%/random_plan.h
%C%_test_train_LDADD = $(%C%_test_runtime_LDADD)

if CUDA
unit_tests += %D%/test_pack
%C%_test_pack_LDADD = $(runtime_libs)
endif

%C%_test_cuda_SOURCES = %D%/test_cuda.c \
	%D%/random_graph.c %D%/random_graph.h \
	%D%/random_plan.c %D%/random_plan.h
%C%_test_cuda_LDADD = $(%C%_test_runtime_LDADD)

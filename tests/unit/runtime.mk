# Generated kernels, and the runtime.
runtime_libs = compiler/codegen/libcodegen.a runtime/libruntime.a \
	$(plan_libs) base/libbase.a $(unit_libs) $(LIBZIP_LIBS) $(ZLIB_LIBS) \
	$(MPI_LIBS)

unit_tests += \
	%D%/test_codegen \
	%D%/test_prefetch \
	%D%/test_rendezvous \
	%D%/test_cuda \
	%D%/test_runtime \
	%D%/test_train

%C%_test_codegen_SOURCES = %D%/test_codegen.c %D%/check_c.c \
	%D%/check_kernel.c %D%/check_kernel.h
%C%_test_codegen_LDADD = $(runtime_libs)

# The same kernels in CUDA, on the host.
%C%_test_codegen_cuda_SOURCES = %D%/test_codegen.c %D%/check_cuda.c \
	tests/cuda/binding.c tests/cuda/binding.h \
	%D%/check_kernel.c %D%/check_kernel.h
%C%_test_codegen_cuda_LDADD = $(runtime_libs)

# Those of all operators, on the host, and compiled by NVRTC.
operator_libs = compiler/codegen/libcodegen.a compiler/verify/libverify.a \
	compiler/gradient/libgradient.a compiler/analysis/libanalysis.a \
	compiler/expand/libexpand.a $(dsl_libs)
%C%_test_operators_cuda_SOURCES = %D%/test_operators_cuda.c \
	%D%/check_cuda.c %D%/check_kernel.c %D%/check_kernel.h \
	tests/cuda/binding.c tests/cuda/binding.h \
	tests/cuda/operators.c tests/cuda/operators.h
%C%_test_operators_cuda_LDADD = $(operator_libs) $(runtime_libs)

# What compiles many kernels: `make check emulated_tests=' leaves it out.
emulated_files = tests/cuda/nvrtc.sh
if HAVE_CHECK
check_PROGRAMS += %D%/test_codegen_cuda %D%/test_operators_cuda
emulated_files += tests/cuda/kernels.sh
endif
emulated_tests = $(emulated_files)
TESTS += $(emulated_tests)
EXTRA_DIST += tests/cuda/kernels.sh

check_PROGRAMS += tests/cuda/nvrtc
tests_cuda_nvrtc_SOURCES = tests/cuda/nvrtc.c \
	tests/cuda/operators.c tests/cuda/operators.h
tests_cuda_nvrtc_LDADD = $(operator_libs) $(plan_libs) base/libbase.a \
	$(JANSSON_LIBS) $(ZLIB_LIBS)
EXTRA_DIST += tests/cuda/nvrtc.sh

check_PROGRAMS += tests/cuda/products
tests_cuda_products_SOURCES = tests/cuda/products.c
tests_cuda_products_LDADD = $(plan_libs) base/libbase.a $(JANSSON_LIBS) \
	$(ZLIB_LIBS)
TESTS += tests/cuda/products.sh
EXTRA_DIST += tests/cuda/products.sh

%C%_test_runtime_SOURCES = %D%/test_runtime.c \
	%D%/random_graph.c %D%/random_graph.h \
	%D%/random_plan.c %D%/random_plan.h
%C%_test_runtime_LDADD = compiler/lower/liblower.a \
	$(planners_libs) $(runtime_libs)

%C%_test_prefetch_SOURCES = %D%/test_prefetch.c \
	%D%/random_graph.c %D%/random_graph.h \
	%D%/random_plan.c %D%/random_plan.h
%C%_test_prefetch_LDADD = compiler/lower/liblower.a \
	$(planners_libs) $(runtime_libs)

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

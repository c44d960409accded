# The fake libraries of CUDA, for tests without a GPU: fake/fake.h says how they
# behave.  They have the names of the real ones, and LD_LIBRARY_PATH finds them.
newest_fakes = \
	%D%/fake/libcublasLt.so.13 \
	%D%/fake/libcuda.so.1 \
	%D%/fake/libcudnn.so.9 \
	%D%/fake/libnccl.so.2 \
	%D%/fake/libnvrtc.so.13
# For a driver of that generation, and one that is as old as may be.
fakes = $(newest_fakes) \
	%D%/fake/old/libnccl.so.2 \
	%D%/fake/libcublasLt.so.12 \
	%D%/fake/libnvrtc.so.12
fake_driver = \
	%D%/fake/driver.c %D%/fake/driver.h %D%/fake/fake.h \
	%D%/fake/graph.c \
	%D%/fake/memory.c %D%/fake/module.c %D%/fake/queue.c %D%/fake/queue.h
fake_nccl = \
	%D%/fake/nccl.c %D%/fake/nccl_comm.c %D%/fake/nccl_comm.h \
	%D%/fake/nccl_memory.c %D%/fake/nccl_op.c %D%/fake/nccl_op.h \
	%D%/fake/numbers.h %D%/fake/ring.c %D%/fake/ring.h
EXTRA_DIST += $(fake_driver) $(fake_nccl) \
	%D%/emulate.c %D%/emulate.h %D%/emulate_copies.h %D%/emulate_cvt.h %D%/emulate_math.h %D%/emulate_mma.h \
	%D%/emulate.sh \
	%D%/program/cuda_runtime_api.h %D%/program/runtime.cc \
	%D%/fake/cublaslt.c %D%/fake/cudnn.c %D%/fake/nvrtc.c \
	%D%/include/cublasLt.h %D%/include/cuda.h %D%/include/cudnn.h \
	%D%/include/nccl.h %D%/include/nvrtc.h

fake_tests = %D%/abi.sh %D%/bundle.sh %D%/contractions.sh %D%/failures.sh %D%/ranks.sh %D%/stages.sh %D%/threads.sh
EXTRA_DIST += $(fake_tests) %D%/drawn.py %D%/README.md %D%/abi.txt %D%/lib.sh

if CUDA
check_DATA = $(fakes)
CLEANFILES += $(fakes) %D%/fake/engine.o
TESTS += %D%/abi.sh
if HAVE_CHECK
check_PROGRAMS += %D%/test_fakes
TESTS += %D%/test_fakes
endif
if TDLC
if HAVE_CHECK
check_PROGRAMS += %D%/pipelines
endif
TESTS += %D%/contractions.sh %D%/threads.sh
if NCCL
TESTS += %D%/bundle.sh %D%/failures.sh %D%/ranks.sh
if HAVE_CHECK
TESTS += %D%/stages.sh
endif
endif
endif
endif

# They are built with our headers whatever the product is built with, and
# without sanitizers, which they could not be loaded with.
fake_cppflags = -I$(srcdir)/%D%/include
fake_link = $(MKDIR_P) $(@D) && \
	$(CC) $(fake_cppflags) -std=gnu11 -O1 -g -Wall -Wextra -fPIC -shared \
	-fvisibility=hidden -Wl,-soname,$(@F) -o $@
%C%_test_fakes_SOURCES = %D%/fakes.h %D%/test_fake_nccl.c \
	%D%/test_fake_products.c %D%/test_fakes.c
%C%_test_fakes_CPPFLAGS = $(fake_cppflags) $(CHECK_CFLAGS)
%C%_test_fakes_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
%C%_test_fakes_LDFLAGS = -Wl,-rpath,$(abs_builddir)/%D%/fake
%C%_test_fakes_LDADD = $(newest_fakes) $(CHECK_LIBS)

%D%/fake/libcuda.so.1: $(fake_driver)
	$(AM_V_GEN)$(fake_link) $(srcdir)/%D%/fake/driver.c \
		$(srcdir)/%D%/fake/graph.c \
		$(srcdir)/%D%/fake/memory.c $(srcdir)/%D%/fake/module.c \
		$(srcdir)/%D%/fake/queue.c -ldl -lpthread
%D%/fake/libcublasLt.so.12: %D%/fake/cublaslt.c %D%/fake/libcuda.so.1
	$(AM_V_GEN)$(fake_link) -DMAJOR=12 $(srcdir)/%D%/fake/cublaslt.c \
		-L%D%/fake -l:libcuda.so.1 -lm
%D%/fake/libcublasLt.so.13: %D%/fake/cublaslt.c %D%/fake/libcuda.so.1
	$(AM_V_GEN)$(fake_link) -DMAJOR=13 $(srcdir)/%D%/fake/cublaslt.c \
		-L%D%/fake -l:libcuda.so.1 -lm
%D%/fake/libcudnn.so.9: %D%/fake/cudnn.c %D%/fake/libcuda.so.1
	$(AM_V_GEN)$(fake_link) $(srcdir)/%D%/fake/cudnn.c \
		-L%D%/fake -l:libcuda.so.1 -lm
nccl_sources = $(srcdir)/%D%/fake/nccl.c $(srcdir)/%D%/fake/nccl_comm.c \
	$(srcdir)/%D%/fake/nccl_memory.c $(srcdir)/%D%/fake/nccl_op.c \
	$(srcdir)/%D%/fake/ring.c
%D%/fake/libnccl.so.2: $(fake_nccl) %D%/fake/libcuda.so.1
	$(AM_V_GEN)$(fake_link) $(nccl_sources) \
		-L%D%/fake -l:libcuda.so.1 -lm -lrt
%D%/fake/old/libnccl.so.2: $(fake_nccl) %D%/fake/libcuda.so.1
	$(AM_V_GEN)$(fake_link) -DNCCL_2_18 $(nccl_sources) \
		-L%D%/fake -l:libcuda.so.1 -lm -lrt
%D%/fake/libnvrtc.so.12 %D%/fake/libnvrtc.so.13: %D%/fake/nvrtc.c \
		%D%/emulate.sh %D%/fake/engine.o
	$(AM_V_GEN)$(fake_link) -DEMULATE='"$(abs_srcdir)/%D%/emulate.sh"' \
		-DENGINE='"$(abs_builddir)/%D%/fake/engine.o"' \
		$(srcdir)/%D%/fake/nvrtc.c
# What all texts are linked with, compiled as emulate.sh does.
%D%/fake/engine.o: %D%/emulate.c %D%/emulate.h
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(CC) -std=gnu11 -O1 -fPIC \
		-march=native -ffp-contract=off -fvisibility=hidden \
		-U_FORTIFY_SOURCE -c $(srcdir)/%D%/emulate.c -o $@

%C%_pipelines_SOURCES = %D%/pipelines.c \
	tests/unit/draw.h \
	tests/unit/random_graph.c tests/unit/random_graph.h \
	tests/unit/random_layouts.c tests/unit/random_layouts.h \
	tests/unit/random_pipeline.c tests/unit/random_pipeline.h \
	tests/unit/stay_partial.c tests/unit/stay_partial.h
%C%_pipelines_LDADD = $(tested_libs) runtime/libruntime.a $(plan_libs) \
	base/libbase.a $(CHECK_LIBS) $(ISL_LIBS) $(JANSSON_LIBS) \
	$(PROTOBUF_C_LIBS) $(LIBZIP_LIBS) $(ZLIB_LIBS) $(MPI_LIBS) -lm

# Generated kernels on the host: those of test_codegen.c, and of all operators.
# `make check emulated_tests=' leaves out what compiles many.
if TDLC
emulated_files = %D%/nvrtc.sh
if HAVE_CHECK
check_PROGRAMS += %D%/test_codegen %D%/test_conversions %D%/test_copies %D%/test_operators
%C%_test_copies_SOURCES = %D%/test_copies.c
%C%_test_copies_LDADD = $(unit_libs)
%C%_test_conversions_SOURCES = %D%/test_conversions.c
%C%_test_conversions_LDADD = $(unit_libs)
EXTRA_DIST += %D%/conversions.cu %D%/copies.cu
%C%_test_codegen_SOURCES = tests/unit/test_codegen.c \
	tests/unit/codegen_kinds.c tests/unit/codegen_kinds.h \
	tests/unit/check_cuda.c \
	tests/unit/make_kernel.c tests/unit/make_kernel.h \
	tests/unit/check_kernel.c tests/unit/check_kernel.h \
	%D%/binding.c %D%/binding.h
%C%_test_codegen_LDADD = $(unit_libs)
%C%_test_operators_SOURCES = %D%/test_operators.c tests/unit/check_cuda.c \
	tests/unit/make_kernel.c tests/unit/make_kernel.h \
	tests/unit/check_kernel.c tests/unit/check_kernel.h \
	%D%/binding.c %D%/binding.h %D%/operators.c %D%/operators.h
%C%_test_operators_LDADD = $(unit_libs)
emulated_files += %D%/kernels.sh
endif
emulated_tests = $(emulated_files)
TESTS += $(emulated_tests) %D%/products.sh
EXTRA_DIST += %D%/kernels.sh %D%/nvrtc.sh %D%/products.sh

check_PROGRAMS += %D%/nvrtc %D%/products
%C%_nvrtc_SOURCES = %D%/nvrtc.c %D%/operators.c %D%/operators.h \
	%D%/resources.c %D%/resources.h
%C%_nvrtc_LDADD = $(tested_libs) $(plan_libs) base/libbase.a $(JANSSON_LIBS) \
	$(PROTOBUF_C_LIBS) $(ZLIB_LIBS)
%C%_products_SOURCES = %D%/products.c
%C%_products_LDADD = $(plan_libs) base/libbase.a $(JANSSON_LIBS) $(ZLIB_LIBS)
endif

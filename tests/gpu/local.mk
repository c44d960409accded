# Tests that need a GPU: `make check-gpu'.  They skip where there is none, and
# are no part of `make check'.
gpu_tests = \
	%D%/kernels.sh \
	%D%/models.sh \
	%D%/nccl.sh \
	%D%/sanitizer.sh
EXTRA_DIST += $(gpu_tests) %D%/check_gpu.c %D%/lib.sh %D%/plans.sh

gpu_programs = %D%/kernels %D%/operators
EXTRA_PROGRAMS += $(gpu_programs)
gpu_sources = %D%/check_gpu.c \
	tests/cuda/binding.c tests/cuda/binding.h \
	tests/unit/check_kernel.c tests/unit/check_kernel.h
%C%_kernels_SOURCES = tests/unit/test_codegen.c \
	tests/unit/codegen_kinds.c tests/unit/codegen_kinds.h $(gpu_sources)
%C%_kernels_LDADD = $(unit_libs) $(CUDA_LIBS)
%C%_operators_SOURCES = tests/cuda/test_operators.c \
	tests/cuda/operators.c tests/cuda/operators.h $(gpu_sources)
%C%_operators_LDADD = $(unit_libs) $(CUDA_LIBS)
CLEANFILES += $(gpu_programs)

if CUDA
if TDLC
if HAVE_CHECK
gpu_made = $(gpu_programs)
endif
endif
endif
check-gpu: all $(gpu_made)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(gpu_tests)' \
		check_PROGRAMS= check_DATA=
.PHONY: check-gpu

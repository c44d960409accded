# Tests that need a GPU: `make check-gpu'.  They skip where there is none, and
# are no part of `make check'.
gpu_tests = \
	%D%/kernels.sh \
	%D%/models.sh \
	%D%/nccl.sh \
	%D%/sanitizer.sh
EXTRA_DIST += $(gpu_tests) %D%/check_gpu.c %D%/lib.sh %D%/plans.sh

# It needs no GPU, nor a compiler of plans.
EXTRA_PROGRAMS += %D%/near
%C%_near_SOURCES = %D%/near.c
%C%_near_LDADD = runtime/libruntime.a $(plan_libs) base/libbase.a \
	$(LIBZIP_LIBS) $(ZLIB_LIBS) $(JANSSON_LIBS)
CLEANFILES += %D%/near

gpu_programs = %D%/kernels %D%/operators
EXTRA_PROGRAMS += $(gpu_programs)
gpu_sources = %D%/check_gpu.c \
	tests/cuda/binding.c tests/cuda/binding.h \
	tests/unit/make_kernel.c tests/unit/make_kernel.h \
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
# `all' is a make of its own, which has to be done before another begins.
check-gpu: all
	$(MAKE) $(AM_MAKEFLAGS) %D%/near $(gpu_made)
	$(MAKE) $(AM_MAKEFLAGS) check-TESTS TESTS='$(gpu_tests)' \
		check_PROGRAMS= check_DATA=
.PHONY: check-gpu

# `make gpu-bundle': an archive of programs, libraries and plans for a machine
# with a GPU and nothing else; bundle/README is its description.
bundle = tdlc-$(VERSION)-gpu
EXTRA_PROGRAMS += %D%/bundle/point %D%/bundle/probe
%C%_bundle_point_SOURCES = %D%/bundle/point.c
%C%_bundle_point_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
%C%_bundle_point_LDFLAGS = -static
%C%_bundle_point_LDADD =
%C%_bundle_probe_SOURCES = %D%/bundle/probe.c
%C%_bundle_probe_CFLAGS = -std=gnu11 $(WARN_CFLAGS)
%C%_bundle_probe_LDFLAGS =
%C%_bundle_probe_LDADD =
CLEANFILES += %D%/bundle/point %D%/bundle/probe $(bundle).tar.gz
EXTRA_DIST += %D%/bundle/README %D%/bundle/make.sh %D%/bundle/one.tdl \
	%D%/bundle/run-gpu %D%/bundle/start

if CUDA
if TDLC
bundle_made = %D%/near %D%/bundle/point %D%/bundle/probe $(gpu_made)

gpu-bundle: all
	$(MAKE) $(AM_MAKEFLAGS) $(bundle_made)
	srcdir='$(srcdir)' $(SHELL) $(srcdir)/%D%/bundle/make.sh \
		'$(bundle)' '$(VERSION)'
else
gpu-bundle:
	@echo 'gpu-bundle has plans: configure without --disable-tdlc' >&2
	@exit 1
endif
else
gpu-bundle:
	@echo 'tdlrun was configured without CUDA: --with-cuda=DIR,' \
		'--with-nccl=DIR, --with-cudnn=DIR; where there is no toolkit' \
		"`cd $(srcdir) && pwd`/tests/cuda has the headers" >&2
	@exit 1
endif
.PHONY: gpu-bundle

# Tests are programs (tests/unit) and scripts; 0 is passed, 77 skipped.
# They run in the build folder and find the rest through these variables.
tested_tdlc = $(abs_top_builddir)/tdlc
AM_TESTS_ENVIRONMENT = \
	TDLC='$(tested_tdlc)'; export TDLC; \
	TDLRUN='$(abs_top_builddir)/tdlrun'; export TDLRUN; \
	TDL_OPDEFS='$(abs_top_srcdir)/opdefs'; export TDL_OPDEFS; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	CC='$(CC)'; export CC; \
	SANITIZE='$(enable_sanitize)'; export SANITIZE; \
	FUZZ='$(enable_fuzz)'; export FUZZ; \
	MANUALS='$(manuals)'; export MANUALS; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	NO_COLOR=1; export NO_COLOR;

TEST_EXTENSIONS = .sh .py
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = $(SHELL) $(srcdir)/%D%/python.sh

source_tests = %D%/layering.sh %D%/style.sh
script_tests = \
	%D%/cli.sh \
	%D%/diag_covered.sh \
	%D%/docs.sh \
	%D%/golden.sh \
	%D%/installed.sh \
	%D%/mpi.sh \
	%D%/verify.sh
python_tests = \
	%D%/grammar.py \
	%D%/hostile/models.py \
	%D%/hostile/networks.py \
	%D%/hostile/operators.py \
	%D%/hostile/plans.py \
	%D%/hostile/unrolled.py \
	%D%/models/sizes.py \
	%D%/onnx/byte_model.py \
	%D%/onnx/draws.py \
	%D%/onnx/graphs.py \
	%D%/onnx/inner.py \
	%D%/onnx/nodes.py \
	%D%/rules.py \
	%D%/train/interrupted.py
# Whole networks, and what is as slow: `make check network_tests=' leaves them
# out.
network_tests = \
	%D%/models/dropout.py \
	%D%/models/published.py \
	%D%/models/train_step.py \
	%D%/onnx/conformance.py \
	%D%/onnx/exported.py \
	%D%/onnx/gradients.py \
	%D%/onnx/elements.py \
	%D%/onnx/coverage.py \
	%D%/onnx/networks.py \
	%D%/onnx/optimizers.py \
	%D%/onnx/properties.py \
	%D%/onnx/random_nodes.py \
	%D%/onnx/trained.py \
	%D%/planners.py \
	%D%/train/characters.py \
	%D%/train/digits.py \
	%D%/train/precision.py
TESTS += $(source_tests)
if TDLC
TESTS += $(script_tests)
if HAVE_PYTHON
TESTS += $(python_tests) $(network_tests)
endif
endif
EXTRA_DIST += $(source_tests) $(script_tests) $(python_tests) $(network_tests) \
	%D%/coverage.sh \
	%D%/data \
	%D%/golden \
	%D%/hostile/README.md \
	%D%/hostile/harness.py \
	%D%/hostile/wire.py \
	%D%/lib.sh \
	%D%/models/images.py \
	%D%/models/layers.py \
	%D%/models/nets.py \
	%D%/models/text.py \
	%D%/onnx \
	%D%/programs.py \
	%D%/python.sh \
	%D%/train \
	%D%/valgrind.sh

include tests/cuda/local.mk
include tests/unit/local.mk
if TDLC
include tests/fuzz/local.mk
endif

# The front end under valgrind: all golden tests, and the unit tests of what
# reads files.
valgrind_tests = %D%/golden.sh
check-valgrind: all
	VALGRIND='$(VALGRIND)' TDLC_ALONE='$(abs_top_builddir)/tdlc' \
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(valgrind_tests)' \
		tested_tdlc='$(abs_srcdir)/%D%/valgrind.sh'
.PHONY: check-valgrind fuzz

# Tests are programs (tests/unit) and scripts; 0 is passed, 77 skipped.
# They run in the build folder and find the rest through these variables.
tested_tdlc = $(abs_top_builddir)/tdlc
AM_TESTS_ENVIRONMENT = \
	TDLC='$(tested_tdlc)'; export TDLC; \
	TDLRUN='$(abs_top_builddir)/tdlrun'; export TDLRUN; \
	TDL_OPDEFS='$(abs_top_srcdir)/opdefs'; export TDL_OPDEFS; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	CC='$(CC)'; export CC; \
	TDL_KERNEL_CFLAGS='$(KERNEL_CFLAGS)'; export TDL_KERNEL_CFLAGS; \
	CHECK_ALL='$(check_all)'; export CHECK_ALL; \
	SAMPLE='$(SAMPLE)'; export SAMPLE; \
	SAMPLE_FROM='$(SAMPLE_FROM)'; export SAMPLE_FROM; \
	GOLDEN='$(GOLDEN)'; export GOLDEN; \
	GOLDEN_SAMPLE='$(GOLDEN_SAMPLE)'; export GOLDEN_SAMPLE; \
	SANITIZE='$(enable_sanitize)'; export SANITIZE; \
	FUZZ='$(enable_fuzz)'; export FUZZ; \
	MANUALS='$(manuals)'; export MANUALS; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	NO_COLOR=1; export NO_COLOR;

# Further flags for the compiler of kernels: `make check
# KERNEL_CFLAGS=-march=x86-64-v2' tries those for an older processor.  Scripts
# run many kernels once each, and compiling them takes most of their time; they
# are optimized less, unless the flags say -O3.
KERNEL_CFLAGS =
script_env = env TDL_KERNEL_CFLAGS='-O1 $(KERNEL_CFLAGS)'

# A test that hangs fails, after TEST_LIMIT seconds (0: never).
TEST_LIMIT = 1200
test_limit = timeout -k 10 '$(TEST_LIMIT)'
TEST_EXTENSIONS = .sh .py
LOG_COMPILER = $(test_limit)
SH_LOG_COMPILER = $(script_env) $(test_limit) $(SHELL)
PY_LOG_COMPILER = $(script_env) $(test_limit) $(SHELL) $(srcdir)/%D%/python.sh

# make's own rule would make a program `golden' of golden.sh, and dist take that
# for the folder.
.sh:
	@:

source_tests = %D%/layering.sh %D%/style.sh %D%/suites.sh
script_tests = \
	%D%/builds.sh \
	%D%/combinations.sh \
	%D%/cli.sh \
	%D%/columns.sh \
	%D%/diag_covered.sh \
	%D%/docs.sh \
	%D%/golden.sh \
	%D%/installed.sh \
	%D%/kept.sh \
	%D%/library.sh \
	%D%/mpi.sh \
	%D%/mpi_stages.sh \
	%D%/packages.sh \
	%D%/stages.sh \
	%D%/verified.sh \
	%D%/verify.sh \
	%D%/worker_threads.sh
python_files = \
	%D%/onnx/nodes.py \
	%D%/rules.py \
	%D%/gradients.py \
	%D%/hostile/models.py \
	%D%/chains.py \
	%D%/library_kernels.py \
	%D%/onnx/byte_model.py \
	%D%/hostile/networks.py \
	%D%/hostile/operators.py \
	%D%/hostile/plans.py \
	%D%/onnx/draws.py \
	%D%/grammar.py \
	%D%/oracle.py \
	%D%/report.py \
	%D%/simulate.py \
	%D%/calibrate.py \
	%D%/python/binding.py \
	%D%/placement/judge.py \
	%D%/placement/models.py \
	%D%/placement/pipedream.py \
	%D%/placement/piper.py \
	%D%/placement/small.py \
	%D%/onnx/inner.py \
	%D%/onnx/generated.py \
	%D%/onnx/weights.py \
	%D%/onnx/layouts.py \
	%D%/onnx/graphs.py \
	%D%/train/interrupted.py \
	%D%/hostile/unrolled.py \
	%D%/site.py \
	%D%/terminal.py \
	%D%/models/sizes.py
# Whole networks, and what is as slow.
network_files = \
	%D%/onnx/exported.py \
	%D%/export/jax_module.py \
	%D%/cuda/program.py \
	%D%/onnx/conformance.py \
	%D%/onnx/networks.py \
	%D%/onnx/processes.py \
	%D%/metamorphic.py \
	%D%/megatron.py \
	%D%/micro_batch_statistics.py \
	%D%/micro_batches.py \
	%D%/planners.py \
	%D%/python/parallel.py \
	%D%/python/products.py \
	%D%/python/tp_plans.py \
	%D%/models/train_step.py \
	%D%/models/random_models.py \
	%D%/onnx/gradients.py \
	%D%/train/digits.py \
	%D%/train/evaluated.py \
	%D%/onnx/elements.py \
	%D%/models/dropout.py \
	%D%/onnx/properties.py \
	%D%/onnx/trained.py \
	%D%/train/precision.py \
	%D%/train/characters.py \
	%D%/onnx/coverage.py \
	%D%/models/published.py \
	%D%/onnx/optimizers.py \
	%D%/onnx/random_nodes.py
# Tests start in the order of TESTS: those that may take longest come first,
# which with sanitizers is one of the unit tests.
include tests/unit/local.mk

# `make check network_tests=' leaves these out, and so on.
network_tests = $(network_files)
python_tests = $(python_files)
if TDLC
if HAVE_PYTHON
TESTS += $(network_tests) $(python_tests)
endif
TESTS += $(script_tests)
endif
TESTS += $(source_tests)
EXTRA_DIST += $(source_tests) $(script_tests) $(python_files) $(network_files) \
	%D%/coverage.sh \
	%D%/data \
	%D%/export/jax_cases.py \
	%D%/export/jax_small.py \
	%D%/golden \
	%D%/hostile/README.md \
	%D%/hostile/harness.py \
	%D%/hostile/wire.py \
	%D%/lib.sh \
	%D%/mpi_lib.sh \
	%D%/library/ask.c \
	%D%/library/functions.txt \
	%D%/library/types.txt \
	%D%/models/accumulated.py \
	%D%/models/cases \
	%D%/models/described.py \
	%D%/models/drawn.py \
	%D%/models/images.py \
	%D%/models/known.py \
	%D%/models/lambdas.py \
	%D%/models/lambdas_drawn.py \
	%D%/models/layers.py \
	%D%/models/library.py \
	%D%/models/nets.py \
	%D%/models/rounding.py \
	%D%/models/shrinking.py \
	%D%/models/steps.py \
	%D%/models/text.py \
	%D%/models/twins.py \
	%D%/onnx \
	%D%/programs.py \
	%D%/python/networks.py \
	%D%/python/package.py \
	%D%/placement/reference.py \
	%D%/python.sh \
	%D%/train \
	%D%/valgrind.sh

include tests/cuda/local.mk
if TDLC
include tests/fuzz/local.mk
include tests/random/local.mk
endif

# `make check-solver': the tests of one folder; suites.sh has the targets.
check_folder = \
	folder=`echo '$@' | sed 's/^check-//'`; \
	suites() { srcdir='$(srcdir)' $(SHELL) '$(srcdir)/%D%/suites.sh' "$$@"; }; \
	$(MAKE) $(AM_MAKEFLAGS) check GOLDEN="`suites --golden $$folder`" \
		TESTS="`suites --of $$folder $(TESTS)`"

# The quick tests, before each commit: all unit suites, and the checks of
# sources.  Of kernels and golden tests it is a sample.
quick_tests = $(source_tests) %D%/diag_covered.sh %D%/golden.sh $(unit_tests)
check-quick: all
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(quick_tests)' SAMPLE=8 \
		GOLDEN_SAMPLE=4

# With sanitizers scripts take several times as long: those that give no input
# that is wrong take turns, a sixth at a time, by SAMPLE_FROM.
check-sanitized: all
	tests=`echo $(TESTS) | tr ' ' '\n' | awk -v from='$(SAMPLE_FROM)' ' \
		!/\.(sh|py)$$/ || /golden|hostile|replay/ || \
		n++ % 6 == from % 6'`; \
	$(MAKE) $(AM_MAKEFLAGS) check TESTS="`echo $$tests`"

# Tests try some combinations of networks, planners and numbers of devices, and
# of random cases some; this tries all, without sampling, and under valgrind.
check-long: all
	$(MAKE) $(AM_MAKEFLAGS) check check_all=yes SAMPLE= TEST_LIMIT=0 \
		KERNEL_CFLAGS=-O3
	$(MAKE) $(AM_MAKEFLAGS) check-valgrind SAMPLE=1 TEST_LIMIT=0
.PHONY: check-quick check-long check-sanitized

# tdlc under valgrind: the golden tests; `make check-valgrind SAMPLE=4' takes
# every fourth of each folder.
valgrind_tests = %D%/golden.sh
check-valgrind: all
	VALGRIND='$(VALGRIND)' TDLC_ALONE='$(abs_top_builddir)/tdlc' \
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(valgrind_tests)' \
		GOLDEN_SAMPLE='$(SAMPLE)' \
		tested_tdlc='$(abs_srcdir)/%D%/valgrind.sh'

# Known faults, planted in a copy of the sources one after the other: whether the
# random agreement tests find them.  PLANTED names some.
check-planted:
	$(AM_TESTS_ENVIRONMENT) srcdir='$(srcdir)' \
		$(SHELL) $(srcdir)/%D%/random/planted.sh $(PLANTED)
.PHONY: check-planted check-valgrind fuzz

# The sources that are made, which a program that is built alone needs.
generated: $(BUILT_SOURCES)
.PHONY: generated

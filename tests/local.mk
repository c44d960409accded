# Tests are programs (tests/unit) and scripts; 0 is passed, 77 skipped.
# They run in the build folder and find the rest through these variables.
AM_TESTS_ENVIRONMENT = \
	TDLC='$(abs_top_builddir)/tdlc'; export TDLC; \
	TDLRUN='$(abs_top_builddir)/tdlrun'; export TDLRUN; \
	TDL_OPDEFS='$(abs_top_srcdir)/opdefs'; export TDL_OPDEFS; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	CC='$(CC)'; export CC; \
	SANITIZE='$(enable_sanitize)'; export SANITIZE; \
	MANUALS='$(manuals)'; export MANUALS; \
	PYTHONDONTWRITEBYTECODE=1; export PYTHONDONTWRITEBYTECODE; \
	NO_COLOR=1; export NO_COLOR;

TEST_EXTENSIONS = .sh .py
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = $(PYTHON)

script_tests = \
	%D%/cli.sh \
	%D%/installed.sh \
	%D%/layering.sh \
	%D%/style.sh
EXTRA_DIST += \
	%D%/hostile/README.md \
	%D%/hostile/harness.py \
	%D%/hostile/wire.py \
	%D%/coverage.sh \
	%D%/lib.sh
python_tests = \
	%D%/hostile/models.py \
	%D%/hostile/operators.py \
	%D%/hostile/plans.py
TESTS += $(script_tests)
if HAVE_PYTHON
TESTS += $(python_tests)
endif
EXTRA_DIST += $(script_tests) $(python_tests)

include tests/unit/local.mk

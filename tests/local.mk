# Tests are programs (tests/unit) and scripts; 0 is passed, 77 skipped.
# They run in the build folder and find the rest through these variables.
AM_TESTS_ENVIRONMENT = \
	TDLC='$(abs_top_builddir)/tdlc'; export TDLC; \
	TDLRUN='$(abs_top_builddir)/tdlrun'; export TDLRUN; \
	TDL_OPDEFS='$(abs_top_srcdir)/opdefs'; export TDL_OPDEFS; \
	PYTHON='$(PYTHON)'; export PYTHON; \
	SANITIZE='$(enable_sanitize)'; export SANITIZE; \
	NO_COLOR=1; export NO_COLOR;

TEST_EXTENSIONS = .sh .py
SH_LOG_COMPILER = $(SHELL)
PY_LOG_COMPILER = $(PYTHON)

script_tests = \
	%D%/layering.sh \
	%D%/style.sh
TESTS += $(script_tests)
EXTRA_DIST += $(script_tests)

include tests/unit/local.mk

# Unit tests, with Check: test_X.c defines suite(), and main.c runs it.  For
# test_X.c add a row to unit_tests and say what it links with:
#	unit_tests += %D%/test_X
#	%C%_test_X_LDADD = $(plan_libs) base/libbase.a $(unit_libs)
unit_tests =
unit_libs = %D%/libmain.a $(CHECK_LIBS) $(JANSSON_LIBS)

if HAVE_CHECK
check_LIBRARIES += %D%/libmain.a
%C%_libmain_a_SOURCES = %D%/main.c %D%/suite.h
endif

unit_tests += %D%/test_cli
%C%_test_cli_LDADD = base/libbase.a $(unit_libs)

unit_tests += %D%/test_text
%C%_test_text_LDADD = base/libbase.a $(unit_libs)

unit_tests += %D%/test_units
%C%_test_units_LDADD = base/libbase.a $(unit_libs)

include tests/unit/plan.mk
if TDLC
include tests/unit/analysis.mk
include tests/unit/dsl.mk
include tests/unit/expand.mk
include tests/unit/graph.mk
include tests/unit/lower.mk
include tests/unit/placement.mk
include tests/unit/runtime.mk
include tests/unit/search.mk
include tests/unit/stages.mk
endif

if HAVE_CHECK
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

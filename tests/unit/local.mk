# Unit tests, with Check: test_X.c defines suite(), and main.c runs it.  Nothing
# lists them: tests/suites.sh finds them, and what they share, and writes
# tests/suites.mk, which is made again when a file comes or goes.  Each is linked
# with all libraries, of which the linker takes what it needs.
unit_tests =
include tests/suites.mk

# Where nothing has changed the folder is marked as seen.
$(srcdir)/tests/suites.mk: $(srcdir)/%D% $(srcdir)/tests/suites.sh
	@text=`srcdir='$(srcdir)' \
		$(SHELL) $(srcdir)/tests/suites.sh --make` && \
	if printf '%s\n' "$$text" | cmp -s - $@; \
	then touch -r $@ $(srcdir)/%D% 2>/dev/null || :; \
	else printf '%s\n' "$$text" >$@; fi

if TDLC
tested_libs = $(compiler_libs)
else
tested_libs =
endif
unit_libs = %D%/libunit.a $(tested_libs) runtime/libruntime.a $(plan_libs) \
	base/libbase.a $(CHECK_LIBS) $(ISL_LIBS) $(JANSSON_LIBS) \
	$(PROTOBUF_C_LIBS) $(LIBZIP_LIBS) $(ZLIB_LIBS) $(MPI_LIBS) -lm
LDADD = $(unit_libs)

if HAVE_CHECK
check_LIBRARIES += %D%/libunit.a
%C%_libunit_a_SOURCES = %D%/main.c %D%/suite.h
if TDLC
%C%_libunit_a_SOURCES += %D%/check_c.c
endif
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests)
endif

# The front end alone, for looking at what it does; see its head.
if TDLC
check_PROGRAMS += %D%/dsl_tool
%C%_dsl_tool_LDADD = $(dsl_libs) kernel/libkernel.a base/libbase.a $(JANSSON_LIBS)
endif

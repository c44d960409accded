unit_tests += %D%/test_dsl
%C%_test_dsl_LDADD = $(dsl_libs) $(plan_libs) base/libbase.a \
	$(unit_libs)

# The front end alone, for looking at what it does; see its head.
check_PROGRAMS += %D%/dsl_tool
%C%_dsl_tool_LDADD = $(dsl_libs) base/libbase.a $(JANSSON_LIBS)

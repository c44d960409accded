unit_tests += %D%/test_expand
%C%_test_expand_LDADD = compiler/expand/libexpand.a $(dsl_libs) \
	plan/libplan.a base/libbase.a $(unit_libs)

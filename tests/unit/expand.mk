unit_tests += %D%/test_expand
%C%_test_expand_LDADD = compiler/expand/libexpand.a $(dsl_libs) \
	$(plan_libs) base/libbase.a $(unit_libs)

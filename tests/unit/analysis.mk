unit_tests += %D%/test_poly
%C%_test_poly_LDADD = compiler/analysis/libanalysis.a $(dsl_libs) \
	$(plan_libs) base/libbase.a $(unit_libs)

unit_tests += %D%/test_symbolic
%C%_test_symbolic_LDADD = compiler/analysis/libanalysis.a \
	compiler/expand/libexpand.a $(dsl_libs) $(plan_libs) \
	base/libbase.a $(unit_libs)

unit_tests += %D%/test_verify
%C%_test_verify_LDADD = compiler/verify/libverify.a \
	compiler/gradient/libgradient.a compiler/analysis/libanalysis.a \
	compiler/expand/libexpand.a $(dsl_libs) $(plan_libs) \
	base/libbase.a $(unit_libs)

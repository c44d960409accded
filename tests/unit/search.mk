unit_tests += %D%/test_solve
%C%_test_solve_LDADD = compiler/search/libsearch.a base/libbase.a $(unit_libs)

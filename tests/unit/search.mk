# The search: its byte model, its solver, its planners.
search_libs = compiler/search/libsearch.a compiler/analysis/libanalysis.a \
	plan/libplan.a base/libbase.a $(unit_libs)

unit_tests += \
	%D%/test_joint \
	%D%/test_model \
	%D%/test_planners \
	%D%/test_search \
	%D%/test_solve \
	%D%/test_wcsp

%C%_test_joint_SOURCES = %D%/test_joint.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_joint_LDADD = $(search_libs)

%C%_test_model_SOURCES = %D%/test_model.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_model_LDADD = $(search_libs)

%C%_test_planners_SOURCES = %D%/test_planners.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_planners_LDADD = $(search_libs)

%C%_test_search_SOURCES = %D%/test_search.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_search_LDADD = $(search_libs)

%C%_test_solve_LDADD = $(search_libs)

%C%_test_wcsp_LDADD = $(search_libs)

# The search: its byte model, its solver, its planners.
unit_search_libs = $(planners_libs) compiler/analysis/libanalysis.a \
	$(plan_libs) base/libbase.a $(unit_libs)

unit_tests += \
	%D%/test_joint \
	%D%/test_byte_model \
	%D%/test_planners \
	%D%/test_search \
	%D%/test_solve \
	%D%/test_wcsp

%C%_test_joint_SOURCES = %D%/test_joint.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_joint_LDADD = $(unit_search_libs)

%C%_test_byte_model_SOURCES = %D%/test_byte_model.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_byte_model_LDADD = $(unit_search_libs)

%C%_test_planners_SOURCES = %D%/test_planners.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_planners_LDADD = $(unit_search_libs)

%C%_test_search_SOURCES = %D%/test_search.c %D%/graphs.c %D%/graphs.h \
	%D%/kernels.c %D%/kernels.h
%C%_test_search_LDADD = $(unit_search_libs)

%C%_test_solve_LDADD = $(unit_search_libs)

%C%_test_wcsp_LDADD = $(unit_search_libs)

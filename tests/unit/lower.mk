# Lowering, the plan file, the memory plan.
lower_libs = compiler/lower/liblower.a $(planners_libs) \
	compiler/analysis/libanalysis.a $(plan_libs) base/libbase.a \
	$(unit_libs) $(ZLIB_LIBS)

unit_tests += \
	%D%/test_best_first \
	%D%/test_lower \
	%D%/test_arena_packing \
	%D%/test_plan \
	%D%/test_plan_check \
	%D%/test_streams \
	%D%/test_timeline

%C%_test_lower_SOURCES = %D%/test_lower.c %D%/random_graph.c \
	%D%/random_graph.h %D%/ladder.c %D%/ladder.h
%C%_test_lower_LDADD = $(lower_libs)

%C%_test_arena_packing_LDADD = $(plan_libs) base/libbase.a $(unit_libs)

%C%_test_plan_SOURCES = %D%/test_plan.c %D%/random_graph.c \
	%D%/random_graph.h
%C%_test_plan_LDADD = $(lower_libs)

%C%_test_plan_check_SOURCES = %D%/test_plan_check.c %D%/random_graph.c \
	%D%/random_graph.h
%C%_test_plan_check_LDADD = $(lower_libs)

%C%_test_timeline_SOURCES = %D%/test_timeline.c %D%/random_graph.c \
	%D%/random_graph.h
%C%_test_timeline_LDADD = $(lower_libs)

%C%_test_streams_SOURCES = %D%/test_streams.c %D%/random_plan.c \
	%D%/random_plan.h %D%/random_graph.c %D%/random_graph.h
%C%_test_streams_LDADD = compiler/codegen/libcodegen.a $(lower_libs)

%C%_test_best_first_SOURCES = %D%/test_best_first.c %D%/random_graph.c \
	%D%/random_graph.h
%C%_test_best_first_LDADD = $(lower_libs)

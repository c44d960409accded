# What plan/ computes on kernels: regions, evaluation, simplification; and the
# strategies that follow.
unit_plan_libs = $(plan_libs) base/libbase.a $(unit_libs)

unit_tests += \
	%D%/test_contraction \
	%D%/test_convolution \
	%D%/test_epilogue \
	%D%/test_eval \
	%D%/test_region \
	%D%/test_simplify

%C%_test_contraction_SOURCES = %D%/test_contraction.c %D%/kernels.c \
	%D%/kernels.h
%C%_test_contraction_LDADD = $(unit_plan_libs)

%C%_test_convolution_SOURCES = %D%/test_convolution.c %D%/kernels.c \
	%D%/kernels.h
%C%_test_convolution_LDADD = $(unit_plan_libs)

%C%_test_epilogue_SOURCES = %D%/test_epilogue.c
%C%_test_epilogue_LDADD = $(unit_plan_libs)

%C%_test_eval_SOURCES = %D%/test_eval.c %D%/kernels.c %D%/kernels.h
%C%_test_eval_LDADD = $(unit_plan_libs)

%C%_test_region_SOURCES = %D%/test_region.c %D%/kernels.c %D%/kernels.h
%C%_test_region_LDADD = $(unit_plan_libs)

%C%_test_simplify_SOURCES = %D%/test_simplify.c %D%/kernels.c %D%/kernels.h
%C%_test_simplify_LDADD = $(unit_plan_libs)

if TDLC
unit_tests += %D%/test_strategy
%C%_test_strategy_SOURCES = %D%/test_strategy.c %D%/kernels.c %D%/kernels.h
%C%_test_strategy_LDADD = compiler/analysis/libanalysis.a $(unit_plan_libs)
endif

if HAVE_ISL
unit_tests += %D%/test_region_isl
%C%_test_region_isl_SOURCES = %D%/test_region_isl.c %D%/kernels.c \
	%D%/kernels.h
%C%_test_region_isl_LDADD = $(unit_plan_libs) $(ISL_LIBS)
endif

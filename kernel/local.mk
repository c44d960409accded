noinst_LIBRARIES += %D%/libkernel.a
%C%_libkernel_a_SOURCES = \
	%D%/abstract.c %D%/abstract.h \
	%D%/abstract_kernel.c \
	%D%/access.c \
	%D%/contraction.c %D%/contraction.h \
	%D%/conv_group.c %D%/conv_group.h \
	%D%/conv_read.c %D%/conv_read.h \
	%D%/convolution.c %D%/convolution.h \
	%D%/copies.c \
	%D%/elem.c %D%/elem.h \
	%D%/epilogue.c %D%/epilogue.h \
	%D%/eval.c %D%/eval.h \
	%D%/eval_expr.c %D%/eval_expr.h \
	%D%/eval_opaque.c \
	%D%/fold.c %D%/fold.h \
	%D%/functions.c %D%/functions.def %D%/functions.h \
	%D%/index_compile.c \
	%D%/index_division.c \
	%D%/index_interval.c %D%/index_interval.h \
	%D%/index_sum.c %D%/index_sum.h \
	%D%/kernel.c %D%/kernel.h \
	%D%/kernel_class.c %D%/kernel_class.h \
	%D%/linearity.c %D%/linearity.h \
	%D%/monotone.c %D%/monotone.h \
	%D%/random.c %D%/random.h \
	%D%/reducers.c %D%/reducers.def %D%/reducers.h \
	%D%/region.c %D%/region.h \
	%D%/scalar.c %D%/scalar.h \
	%D%/sign.c %D%/sign.h \
	%D%/simplify.c \
	%D%/text.c

EXTRA_DIST += %D%/README.md

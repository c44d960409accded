noinst_LIBRARIES += %D%/libplan.a
%C%_libplan_a_SOURCES = \
	%D%/access.c \
	%D%/base64.c %D%/base64.h \
	%D%/bind.c %D%/bind.h \
	%D%/check.c %D%/check.h %D%/check_worker.c \
	%D%/collective.c \
	%D%/constant.c \
	%D%/contraction.c %D%/contraction.h \
	%D%/gemm.c %D%/gemm.h \
	%D%/gemm_loops.c %D%/gemm_loops.h \
	%D%/convolution.c %D%/convolution.h \
	%D%/derive.c %D%/derive.h \
	%D%/partial.c %D%/partial.h \
	%D%/elem.c %D%/elem.h \
	%D%/epilogue.c %D%/epilogue.h \
	%D%/eval.c %D%/eval.h \
	%D%/forms.c %D%/forms.h \
	%D%/functions.def \
	%D%/index.c %D%/index.h \
	%D%/index_compile.c \
	%D%/kernel.c %D%/kernel.h \
	%D%/memory.c %D%/memory.h \
	%D%/one.c \
	%D%/overlap.c %D%/overlap.h \
	%D%/peak.c %D%/peak.h \
	%D%/place.c %D%/place.h \
	%D%/plan.c %D%/plan.h \
	%D%/random.c %D%/random.h \
	%D%/read.c %D%/read.h %D%/read_constant.c \
	%D%/read_kernel.c \
	%D%/region.c %D%/region.h \
	%D%/read_rows.c %D%/read_rows.h \
	%D%/scalar.c %D%/scalar.h \
	%D%/sign.c %D%/sign.h \
	%D%/simplify.c \
	%D%/state.c \
	%D%/streams.c %D%/streams.h %D%/streams_check.c \
	%D%/text.c \
	%D%/transfer.c %D%/transfer.h \
	%D%/write.c %D%/write.h %D%/write_kernel.c

EXTRA_DIST += %D%/README.md

noinst_LIBRARIES += %D%/libplan.a
%C%_libplan_a_SOURCES = \
	%D%/access.c \
	%D%/elem.c %D%/elem.h \
	%D%/eval.h \
	%D%/functions.def \
	%D%/index.c %D%/index.h \
	%D%/index_compile.c \
	%D%/kernel.c %D%/kernel.h \
	%D%/region.c %D%/region.h \
	%D%/scalar.c %D%/scalar.h \
	%D%/simplify.c \
	%D%/text.c

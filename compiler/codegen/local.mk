noinst_LIBRARIES += %D%/libcodegen.a
%C%_libcodegen_a_SOURCES = \
	%D%/codegen.c %D%/codegen.h \
	%D%/emit.c %D%/emit.h \
	%D%/expr.c %D%/expr.h \
	%D%/loops.c \
	%D%/names.c \
	%D%/nest.c %D%/nest.h \
	%D%/product.c \
	%D%/schedule.c %D%/schedule.h \
	%D%/text.c %D%/text.h

EXTRA_DIST += %D%/README.md

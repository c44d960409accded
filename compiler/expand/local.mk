noinst_LIBRARIES += %D%/libexpand.a
%C%_libexpand_a_SOURCES = \
	%D%/attr.c \
	%D%/constant.c \
	%D%/context.h \
	%D%/convert.c \
	%D%/expand.c %D%/expand.h \
	%D%/gather.c \
	%D%/lambda.c \
	%D%/names.c \
	%D%/read.c \
	%D%/scalar.c \
	%D%/signature.c %D%/signature.h \
	%D%/stage.c \
	%D%/type.c
EXTRA_DIST += %D%/README.md

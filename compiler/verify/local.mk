noinst_LIBRARIES += %D%/libverify.a
%C%_libverify_a_SOURCES = \
	%D%/agree.c \
	%D%/attempts.c \
	%D%/cuts.c \
	%D%/data.c \
	%D%/draw.c \
	%D%/gradients.c %D%/gradients.h \
	%D%/partials.c \
	%D%/reads.c \
	%D%/reference/frame.h \
	%D%/reference/function.c \
	%D%/reference/lambda.c \
	%D%/reference/number.c %D%/reference/number.h \
	%D%/reference/reduce.c \
	%D%/reference/reference.c %D%/reference/reference.h \
	%D%/reference/scope.c \
	%D%/reference/type.c \
	%D%/roles.c \
	%D%/rounded.c \
	%D%/spots.c \
	%D%/stand_in.c \
	%D%/symbolic.c \
	%D%/trial.h \
	%D%/verify.c %D%/verify.h

EXTRA_DIST += %D%/README.md

noinst_LIBRARIES += %D%/libgradient.a
%C%_libgradient_a_SOURCES = \
	%D%/adjoint.c %D%/adjoint.h %D%/rules.def \
	%D%/call.c \
	%D%/gradient.c %D%/gradient.h \
	%D%/invert.c %D%/invert.h \
	%D%/range.c %D%/range.h \
	%D%/signature.c %D%/signature.h \
	%D%/stage.c %D%/stage.h \
	%D%/tree.c %D%/tree.h \
	%D%/type.c

EXTRA_DIST += %D%/README.md

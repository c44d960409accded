noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_SOURCES = \
	%D%/jax.c \
	%D%/links.c %D%/links.h \
	%D%/links_symbolic.c \
	%D%/nnscaler.c \
	%D%/pieces.c %D%/pieces.h \
	%D%/rule.c %D%/rule.h \
	%D%/shardy.c \
	%D%/text.c %D%/text.h

EXTRA_DIST += %D%/README.md

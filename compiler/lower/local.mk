noinst_LIBRARIES += %D%/liblower.a
%C%_liblower_a_SOURCES = \
	%D%/constants.c %D%/constants.h \
	%D%/copies.c \
	%D%/cost.c \
	%D%/lower.c %D%/lower.h \
	%D%/order.c \
	%D%/program.c %D%/program.h

EXTRA_DIST += %D%/README.md

noinst_LIBRARIES += %D%/liblower.a
%C%_liblower_a_SOURCES = \
	%D%/constants.c %D%/constants.h \
	%D%/cost.c \
	%D%/lower.c %D%/lower.h

EXTRA_DIST += %D%/README.md

noinst_LIBRARIES += %D%/liblower.a
%C%_liblower_a_SOURCES = \
	%D%/constants.c %D%/constants.h \
	%D%/copies.c \
	%D%/cost.c %D%/cost.h \
	%D%/eager.c \
	%D%/fuse.c %D%/fuse.h \
	%D%/lazy.c \
	%D%/lower.c %D%/lower.h \
	%D%/order.c %D%/order.h \
	%D%/patient.c \
	%D%/program.c %D%/program.h \
	%D%/timeline.c %D%/timeline.h

EXTRA_DIST += %D%/README.md

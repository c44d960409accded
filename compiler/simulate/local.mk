noinst_LIBRARIES += %D%/libsimulate.a
%C%_libsimulate_a_SOURCES = \
	%D%/events.c %D%/events.h \
	%D%/flows.c %D%/flows.h \
	%D%/in_use.c \
	%D%/marks.c %D%/marks.h \
	%D%/seconds.c \
	%D%/simulate.c %D%/simulate.h \
	%D%/stage_units.c %D%/stage_units.h

EXTRA_DIST += %D%/README.md

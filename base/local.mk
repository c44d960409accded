noinst_LIBRARIES += %D%/libbase.a
%C%_libbase_a_SOURCES = \
	%D%/arena.c %D%/arena.h \
	%D%/checked.h \
	%D%/cli.c %D%/cli.h \
	%D%/clock.c %D%/clock.h \
	%D%/diag.c %D%/diag.def %D%/diag.h %D%/diag_sarif.c \
	%D%/dtype.c %D%/dtype.h \
	%D%/file.c %D%/file.h \
	%D%/curve.c %D%/curve.h \
	%D%/hash.c %D%/hash.h \
	%D%/heap.c %D%/heap.h \
	%D%/intern.c %D%/intern.h \
	%D%/jobs.c %D%/jobs.h \
	%D%/json.c %D%/json.h \
	%D%/json_reader.c %D%/json_reader.h \
	%D%/memory.c %D%/memory.h \
	%D%/options.def \
	%D%/pause.h \
	%D%/spelling.c %D%/spelling.h \
	%D%/stream.c %D%/stream.h \
	%D%/text.c %D%/text.h \
	%D%/units.c %D%/units.h \
	%D%/utf8.h \
	%D%/vec.c %D%/vec.h

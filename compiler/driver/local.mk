bin_PROGRAMS += tdlc
tdlc_SOURCES = \
	%D%/check.c \
	%D%/commands.def \
	%D%/commands.h \
	%D%/compare.c \
	%D%/compile.c \
	%D%/coverage.c \
	%D%/diff.c \
	%D%/doc.c \
	%D%/explain.c \
	%D%/export.c \
	%D%/fmt.c \
	%D%/main.c \
	%D%/ops.c \
	%D%/page.c %D%/page.h \
	%D%/place.c \
	%D%/plan.c \
	%D%/profile.c \
	%D%/progress.c %D%/progress.h \
	%D%/report.c \
	%D%/show.c \
	%D%/simulate.c \
	%D%/solve.c \
	%D%/verify.c
tdlc_LDADD = \
	$(compiler_libs) \
	runtime/libruntime.a \
	$(plan_libs) \
	base/libbase.a \
	$(PROTOBUF_C_LIBS) \
	$(JANSSON_LIBS) \
	$(LIBZIP_LIBS) \
	$(ZLIB_LIBS)

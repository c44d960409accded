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
	%D%/progress.c %D%/progress.h \
	%D%/report.c \
	%D%/show.c \
	%D%/simulate.c \
	%D%/solve.c \
	%D%/verify.c
tdlc_LDADD = \
	libtdl/libapi.a \
	libtdl/libjobs.a \
	compiler/export/libexport.a \
	compiler/codegen/libcodegen.a \
	compiler/placement/libplacement.a \
	compiler/portfolio/libportfolio.a \
	compiler/simulate/libsimulate.a \
	compiler/lower/liblower.a \
	$(planners_libs) \
	compiler/verify/libverify.a \
	compiler/gradient/libgradient.a \
	compiler/analysis/libanalysis.a \
	$(graph_libs) \
	compiler/expand/libexpand.a \
	$(dsl_libs) \
	$(plan_libs) \
	base/libbase.a \
	$(PROTOBUF_C_LIBS) \
	$(JANSSON_LIBS) \
	$(ZLIB_LIBS)

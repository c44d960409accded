bin_PROGRAMS += tdlc
tdlc_SOURCES = \
	%D%/check.c \
	%D%/commands.def \
	%D%/compare.c %D%/compare.h \
	%D%/compile.c \
	%D%/coverage.c \
	%D%/diff.c \
	%D%/division_text.c %D%/division_text.h \
	%D%/dot.c %D%/dot.h \
	%D%/doc.c \
	%D%/driver.c %D%/driver.h \
	%D%/explain.c %D%/explain_text.h \
	%D%/explain_concrete.c \
	%D%/explain_plan.c %D%/explain_plan.h \
	%D%/fmt.c \
	%D%/main.c \
	%D%/ops.c \
	%D%/doc_output.c %D%/doc_output.h \
	%D%/doc_html.c \
	%D%/doc_markdown.c \
	%D%/place.c %D%/place.h \
	%D%/place_capture.c \
	%D%/place_chunks.c \
	%D%/place_common.c \
	%D%/place_load.c \
	%D%/place_more.c %D%/place_more.h \
	%D%/place_pipedream.c \
	%D%/place_piper.c \
	%D%/place_score.c \
	%D%/place_stages.c %D%/place_stages.h \
	%D%/plan.c \
	%D%/plan_frontier.c %D%/plan_frontier.h \
	%D%/plan_print.c %D%/plan_print.h \
	%D%/progress.c %D%/progress.h \
	%D%/report.c %D%/report.h \
	%D%/score.c \
	%D%/show.c \
	%D%/show_plan.c %D%/show_plan.h \
	%D%/show_plan_dot.c \
	%D%/solve.c \
	%D%/text_chart.c %D%/text_chart.h \
	%D%/verify.c
tdlc_LDADD = \
	libtdl/libjobs.a \
	compiler/export/libexport.a \
	compiler/codegen/libcodegen.a \
	compiler/placement/libplacement.a \
	compiler/portfolio/libportfolio.a \
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

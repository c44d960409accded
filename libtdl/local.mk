# The requests, which tdlc uses, too, and the functions of tdl.h.
noinst_LIBRARIES += %D%/libjobs.a %D%/libapi.a
%C%_libjobs_a_SOURCES = \
	%D%/blocks.c %D%/blocks.h \
	%D%/check.c %D%/check.h \
	%D%/coverage.c %D%/coverage.h \
	%D%/coverage_text.c \
	%D%/describe_json.c \
	%D%/division_text.c %D%/division_text.h \
	%D%/doc.c %D%/doc.h \
	%D%/doc_html.c \
	%D%/doc_markdown.c \
	%D%/doc_output.c %D%/doc_output.h \
	%D%/dot.c %D%/dot.h \
	%D%/describe_text.c \
	%D%/emit.c %D%/emit.h \
	%D%/emit_header.c \
	%D%/emit_kernels.c \
	%D%/explain_concrete.c \
	%D%/explain_input.c \
	%D%/explain_text.c \
	%D%/graph_dot.c %D%/graph_json.c %D%/graph_json.h \
	%D%/graph_text.c \
	%D%/job.c %D%/job.h \
	%D%/name_groups.c %D%/name_groups.h \
	%D%/onnx_layouts.c %D%/onnx_layouts.h \
	%D%/onnx_pins.c \
	%D%/onnx_uses.c %D%/onnx_uses.h \
	%D%/operators.c %D%/operators.h \
	%D%/placement.c %D%/placement.h \
	%D%/plan_graph.c %D%/plan_graph.h \
	%D%/report.c %D%/report.h \
	%D%/measured_trace.c %D%/measured_trace.h \
	%D%/report_beside.c %D%/report_beside.h \
	%D%/report_build.h \
	%D%/report_operators.c \
	%D%/report_page.c \
	%D%/report_time.c \
	%D%/report_traffic.c \
	%D%/passing.c %D%/passing.h \
	%D%/placement_capture.c \
	%D%/placement_chunks.c \
	%D%/placement_load.c \
	%D%/placement_more.c %D%/placement_more.h \
	%D%/placement_pipedream.c \
	%D%/placement_piper.c \
	%D%/placement_stages.c %D%/placement_stages.h \
	%D%/placement_text.c %D%/placement_text.h \
	%D%/plan_devices.c %D%/plan_devices.h \
	%D%/plan_diff.c %D%/plan_diff.h \
	%D%/plan_diff_text.c \
	%D%/plan_formats.c %D%/plan_formats.h \
	%D%/plan_frontier.c %D%/plan_frontier.h \
	%D%/plan_frontier_text.c \
	%D%/plan_input.c %D%/plan_input.h \
	%D%/profiles.c %D%/profiles.h \
	%D%/plan_memory.c %D%/plan_memory.h \
	%D%/plan_reasons.c %D%/plan_reasons.h \
	%D%/plan_reasons_text.c \
	%D%/plan_published.c %D%/plan_published.h \
	%D%/plan_report.c %D%/plan_report.h \
	%D%/plan_speed.c %D%/plan_speed.h \
	%D%/plan_report_text.c \
	%D%/plan_score.c %D%/plan_score.h \
	%D%/plan_search.c %D%/plan_search.h \
	%D%/plan_stages.c %D%/plan_stages.h \
	%D%/plan_stages_text.c \
	%D%/plan_strict.c %D%/plan_strict.h \
	%D%/plan_turns.c %D%/plan_turns.h \
	%D%/plan_view.c %D%/plan_view.h \
	%D%/plan_view_dot.c \
	%D%/plan_view_text.c \
	%D%/planner_table.c %D%/planner_table.h \
	%D%/planner_table_text.c \
	%D%/program_files.c %D%/program_files.h \
	%D%/rule_text.c %D%/rule_text.h \
	%D%/stages_chart.c \
	%D%/stages_excess.c %D%/stages_excess.h \
	%D%/stages_reasons.c %D%/stages_reasons.h \
	%D%/stages_show.c \
	%D%/stages_tensor.c \
	%D%/stages_trace.c \
	%D%/stages_beside.c %D%/stages_beside.h \
	%D%/stages_view.c %D%/stages_view.h \
	%D%/text_chart.c %D%/text_chart.h \
	%D%/train_options.c %D%/train_options.h \
	%D%/verify_job.c %D%/verify_job.h \
	%D%/verify_text.c \
	%D%/words.c %D%/words.h \
	%D%/describe.h %D%/explain.h
nodist_%C%_libjobs_a_SOURCES = %D%/report_files.h
%C%_libjobs_a_CPPFLAGS = $(AM_CPPFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'

# The parts of a report's page, as text; page/uplot is vendored.
report_files = \
	%D%/page/page.html \
	%D%/page/page.css \
	%D%/page/uplot/uPlot.min.css \
	%D%/page/uplot/uPlot.iife.js \
	%D%/page/values.js \
	%D%/page/layouts.js \
	%D%/page/charts.js \
	%D%/page/graph.js \
	%D%/page/lists.js \
	%D%/page/stages.js \
	%D%/page/planners.js \
	%D%/page/measured.js \
	%D%/page/page.js

%D%/report_files.h: $(report_files) runtime/cpu/headers.sh
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	(cd $(srcdir) && $(SHELL) runtime/cpu/headers.sh $(report_files)) \
		>$@.tmp && mv $@.tmp $@
%D%/libjobs_a-report_page.$(OBJEXT): %D%/report_files.h
CLEANFILES += %D%/report_files.h
EXTRA_DIST += $(report_files) %D%/page/uplot/LICENSE %D%/page/uplot/README.md

%C%_libapi_a_SOURCES = \
	%D%/api.h \
	%D%/context.c \
	%D%/model.c \
	%D%/options.c \
	%D%/module.c \
	%D%/module_export.c \
	%D%/module_texts.c \
	%D%/plan.c \
	%D%/placing.c \
	%D%/plan_questions.c \
	%D%/problems.c \
	%D%/planning.c \
	%D%/simulating.c \
	%D%/layer_profile.c %D%/layer_profile.h \
	%D%/layer_profile_text.c \
	%D%/profiling.c \
	%D%/run.c

EXTRA_DIST += %D%/README.md %D%/tdl.map

# What has the language and the planners, each before what it needs.
compiler_libs = \
	%D%/libapi.a \
	%D%/libjobs.a \
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
	$(dsl_libs)

# The library is one relocatable object, of what its functions need of the
# archives above, in which all symbols but tdl_* are local: so it is of the
# shared library, and of the static one, where names such as `solve' would meet
# those of the program.  libtool, which cannot do that and compiles everything
# twice, is not used: all objects are position-independent, and hidden.
tdlinclude_HEADERS += include/tdl/tdl.h
libtdl_soname = libtdl.so.0
libtdl_file = $(libtdl_soname).$(VERSION)
libtdl_archives = \
	$(compiler_libs) \
	runtime/libruntime.a \
	$(plan_libs) \
	base/libbase.a
libtdl_libs = $(PROTOBUF_C_LIBS) $(JANSSON_LIBS) $(LIBZIP_LIBS) $(ZLIB_LIBS) \
	$(LIBS)

%D%/libtdl.o: $(libtdl_archives) $(srcdir)/%D%/tdl.map
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(CC) -r -nostdlib -o $@.tmp \
		-Wl,--whole-archive %D%/libapi.a -Wl,--no-whole-archive \
		-Wl,--start-group $(libtdl_archives) -Wl,--end-group && \
	sed -n 's/^	\(tdl_[a-z_]*\);$$/\1/p' $(srcdir)/%D%/tdl.map >$@.names && \
	$(OBJCOPY) --keep-global-symbols=$@.names $@.tmp $@ && \
	rm -f $@.tmp $@.names

libtdl.a: %D%/libtdl.o
	$(AM_V_AR)rm -f $@ && $(AR) $(ARFLAGS) $@ %D%/libtdl.o && \
	$(RANLIB) $@

$(libtdl_file): %D%/libtdl.o
	$(AM_V_CCLD)$(CC) -shared $(CFLAGS) $(EXTRA_CFLAGS) $(LDFLAGS) \
		-Wl,-soname,$(libtdl_soname) \
		-Wl,--version-script=$(srcdir)/%D%/tdl.map \
		-o $@ %D%/libtdl.o $(libtdl_libs)

libtdl.so: $(libtdl_file)
	$(AM_V_at)ln -sf $(libtdl_file) $(libtdl_soname) && \
	ln -sf $(libtdl_file) $@

tdllibdir = $(libdir)
nodist_tdllib_DATA = libtdl.a $(libtdl_file)
noinst_DATA += libtdl.so
CLEANFILES += libtdl.a libtdl.so $(libtdl_soname) $(libtdl_file) \
	%D%/libtdl.o %D%/libtdl.o.tmp %D%/libtdl.o.names

# Links beside the file; share/local.mk removes them.
libtdl_links = $(libtdl_soname) libtdl.so
install-data-hook:
	cd '$(DESTDIR)$(libdir)' && for link in $(libtdl_links); do \
		ln -sf $(libtdl_file) $$link; done

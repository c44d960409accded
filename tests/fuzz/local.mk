# Fuzz targets.  With `configure --enable-fuzz CC=clang' they are libFuzzer's
# programs, and `make fuzz' runs them; else a driver of their own gives them
# files.  Either way `make check' gives them those in regressions/.
fuzz_targets = \
	%D%/descriptor \
	%D%/model \
	%D%/npz \
	%D%/onnx \
	%D%/place \
	%D%/placement \
	%D%/plan \
	%D%/profile \
	%D%/tdl \
	%D%/wcsp
check_PROGRAMS += $(fuzz_targets)

fuzz_shared = %D%/fuzz.c %D%/fuzz.h
if FUZZ
fuzz_driver =
fuzz_flags = -fsanitize=fuzzer
else
fuzz_driver = %D%/replay.c
fuzz_flags =
endif
fuzz_cppflags = $(AM_CPPFLAGS) -DFUZZ_OPDEFS='"$(abs_top_srcdir)/opdefs"'
fuzz_ldflags = $(AM_LDFLAGS) $(fuzz_flags)
fuzz_run = %D%/run.c %D%/run.h
fuzz_tokens = %D%/tokens.c %D%/tokens.h
fuzz_bytes = %D%/byte_mutate.c %D%/splice.c
fuzz_text = %D%/text_mutate.c %D%/splice.c $(fuzz_tokens)
fuzz_front_libs = compiler/analysis/libanalysis.a \
	compiler/expand/libexpand.a $(dsl_libs) $(plan_libs) \
	base/libbase.a $(JANSSON_LIBS)
fuzz_graph = %D%/graph.c %D%/graph.h $(fuzz_run)
fuzz_graph_libs = compiler/codegen/libcodegen.a compiler/lower/liblower.a \
	$(planners_libs) compiler/analysis/libanalysis.a \
	$(graph_libs) runtime/libruntime.a $(fuzz_front_libs) \
	$(PROTOBUF_C_LIBS) $(LIBZIP_LIBS) $(ZLIB_LIBS) $(MPI_LIBS)
fuzz_place_libs = compiler/placement/libplacement.a \
	$(planners_libs) compiler/analysis/libanalysis.a \
	$(plan_libs) base/libbase.a $(JANSSON_LIBS) -lm
fuzz_run_libs = runtime/libruntime.a $(plan_libs) $(MPI_LIBS)

%C%_descriptor_SOURCES = %D%/descriptor.c $(fuzz_bytes) $(fuzz_shared) \
	$(fuzz_driver)
%C%_descriptor_CPPFLAGS = $(fuzz_cppflags)
%C%_descriptor_LDFLAGS = $(fuzz_ldflags)
%C%_descriptor_LDADD = $(fuzz_front_libs)

%C%_model_SOURCES = %D%/model.c %D%/tdl_mutate.c $(fuzz_tokens) \
	$(fuzz_graph) $(fuzz_shared) $(fuzz_driver)
%C%_model_CPPFLAGS = $(fuzz_cppflags)
%C%_model_LDFLAGS = $(fuzz_ldflags)
%C%_model_LDADD = $(fuzz_graph_libs)

%C%_npz_SOURCES = %D%/npz.c %D%/npz_mutate.c %D%/splice.c \
	$(fuzz_shared) $(fuzz_driver)
%C%_npz_CPPFLAGS = $(fuzz_cppflags)
%C%_npz_LDFLAGS = $(fuzz_ldflags)
%C%_npz_LDADD = $(fuzz_run_libs) $(fuzz_front_libs) $(LIBZIP_LIBS) \
	$(ZLIB_LIBS)

%C%_onnx_SOURCES = %D%/onnx.c %D%/onnx_mutate.c $(fuzz_graph) $(fuzz_shared) \
	$(fuzz_driver)
%C%_onnx_CPPFLAGS = $(fuzz_cppflags)
%C%_onnx_LDFLAGS = $(fuzz_ldflags)
%C%_onnx_LDADD = $(fuzz_graph_libs)

%C%_place_SOURCES = %D%/place.c $(fuzz_text) \
	$(fuzz_shared) $(fuzz_driver)
%C%_place_CPPFLAGS = $(fuzz_cppflags)
%C%_place_LDFLAGS = $(fuzz_ldflags)
%C%_place_LDADD = $(fuzz_place_libs) $(fuzz_front_libs)

%C%_placement_SOURCES = %D%/placement.c $(fuzz_text) \
	$(fuzz_shared) $(fuzz_driver)
%C%_placement_CPPFLAGS = $(fuzz_cppflags)
%C%_placement_LDFLAGS = $(fuzz_ldflags)
%C%_placement_LDADD = $(fuzz_place_libs) $(fuzz_front_libs)

%C%_plan_SOURCES = %D%/plan.c %D%/plan_mutate.c $(fuzz_run) $(fuzz_shared) \
	$(fuzz_driver)
%C%_plan_CPPFLAGS = $(fuzz_cppflags)
%C%_plan_LDFLAGS = $(fuzz_ldflags)
%C%_plan_LDADD = $(fuzz_run_libs) $(fuzz_front_libs) $(LIBZIP_LIBS) \
	$(ZLIB_LIBS)

%C%_profile_SOURCES = %D%/profile.c $(fuzz_text) $(fuzz_shared) \
	$(fuzz_driver)
%C%_profile_CPPFLAGS = $(fuzz_cppflags)
%C%_profile_LDFLAGS = $(fuzz_ldflags)
%C%_profile_LDADD = $(fuzz_front_libs)

%C%_tdl_SOURCES = %D%/tdl.c %D%/tdl_mutate.c $(fuzz_tokens) $(fuzz_shared) \
	$(fuzz_driver)
%C%_tdl_CPPFLAGS = $(fuzz_cppflags)
%C%_tdl_LDFLAGS = $(fuzz_ldflags)
%C%_tdl_LDADD = $(fuzz_front_libs)

%C%_wcsp_SOURCES = %D%/wcsp.c $(fuzz_text) \
	$(fuzz_shared) $(fuzz_driver)
%C%_wcsp_CPPFLAGS = $(fuzz_cppflags)
%C%_wcsp_LDFLAGS = $(fuzz_ldflags)
%C%_wcsp_LDADD = $(planners_libs) $(fuzz_front_libs)

TESTS += %D%/replay.sh
EXTRA_DIST += \
	%D%/README.md \
	%D%/corpus.py \
	%D%/corpus.sh \
	%D%/fuzz.sh \
	%D%/regressions \
	%D%/replay.sh

# Each target for FUZZ_SECONDS; what was found stays in fuzz/.
FUZZ_SECONDS = 60
fuzz: all $(fuzz_targets)
	@$(AM_TESTS_ENVIRONMENT) srcdir='$(srcdir)' \
	$(SHELL) $(srcdir)/%D%/fuzz.sh -t '$(FUZZ_SECONDS)' $(FUZZ_TARGETS)

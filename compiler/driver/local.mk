bin_PROGRAMS += tdlc
tdlc_SOURCES = \
	%D%/check.c \
	%D%/commands.def \
	%D%/driver.c %D%/driver.h \
	%D%/main.c \
	%D%/plan.c \
	%D%/plan_print.c %D%/plan_print.h \
	%D%/show.c
tdlc_CPPFLAGS = $(AM_CPPFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'
tdlc_LDADD = \
	compiler/codegen/libcodegen.a \
	compiler/lower/liblower.a \
	compiler/search/libsearch.a \
	compiler/analysis/libanalysis.a \
	$(graph_libs) \
	compiler/expand/libexpand.a \
	$(dsl_libs) \
	plan/libplan.a \
	base/libbase.a \
	$(PROTOBUF_C_LIBS) \
	$(JANSSON_LIBS) \
	$(ZLIB_LIBS)

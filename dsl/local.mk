noinst_LIBRARIES += %D%/libdsl.a %D%/libdslgen.a

%C%_libdsl_a_SOURCES = \
	%D%/ast.h \
	%D%/build.c \
	%D%/built.c \
	%D%/builtins.c %D%/builtins.def %D%/builtins.h \
	%D%/check.c %D%/check.h \
	%D%/check_body.c \
	%D%/check_call.c \
	%D%/check_spelling.c \
	%D%/check_extent.c \
	%D%/check_model.c \
	%D%/check_name.c \
	%D%/check_onnx.c \
	%D%/check_read.c \
	%D%/check_scope.c \
	%D%/check_signature.c \
	%D%/check_type.c \
	%D%/check_unused.c \
	%D%/checker.h \
	%D%/derivative.c \
	%D%/doc.c %D%/doc.h \
	%D%/dsl.h \
	%D%/dump.c \
	%D%/element_type.c %D%/element_type.h \
	%D%/format.c %D%/format.h \
	%D%/format_expr.c \
	%D%/format_signature.c \
	%D%/format_stmt.c \
	%D%/literal.c \
	%D%/module.c \
	%D%/parse.c %D%/parse.h \
	%D%/same.c \
	%D%/type_rules.c
EXTRA_DIST += %D%/README.md

# The scanner and the grammar, in a library of their own: warnings about
# generated C help nobody.  It goes behind libdsl.a when linking, and libdsl.a
# behind it once more.
dsl_libs = %D%/libdsl.a %D%/libdslgen.a %D%/libdsl.a
%C%_libdslgen_a_SOURCES = %D%/gram.c %D%/gram.h %D%/scan.c
%C%_libdslgen_a_CFLAGS = -std=gnu11 -fPIC -fvisibility=hidden -w \
	$(EXTRA_CFLAGS)
BUILT_SOURCES += %D%/gram.h
MAINTAINERCLEANFILES += $(%C%_libdslgen_a_SOURCES)
EXTRA_DIST += %D%/gram.y %D%/scan.l %D%/grammar.awk

%D%/gram.c: %D%/gram.y
	$(AM_V_GEN)$(MKDIR_P) %D% && $(BISON) -Wall -Werror \
		--header=%D%/gram.h -o $@ $(srcdir)/%D%/gram.y
%D%/gram.h: %D%/gram.c
	@test -f $@ || test -f $(srcdir)/$@ || { rm -f %D%/gram.c; \
		$(MAKE) $(AM_MAKEFLAGS) %D%/gram.c; }
%D%/scan.c: %D%/scan.l
	$(AM_V_GEN)$(MKDIR_P) %D% && $(FLEX) -o $@ $(srcdir)/%D%/scan.l
%D%/parse.$(OBJEXT): %D%/gram.h

# Random operators under the reference, the interpreter and the C compiler; what
# is said of random expressions under the reference.
check_PROGRAMS += %D%/operators
TESTS += %D%/operators
%C%_operators_SOURCES = \
	%D%/compiled.c \
	%D%/generate.c %D%/generate.h \
	%D%/generate_expr.c \
	%D%/generate_index.c \
	%D%/generator.h \
	%D%/judge.c %D%/judge.h \
	%D%/operators.c \
	%D%/shrink.c %D%/shrink.h
random_libs = compiler/codegen/libcodegen.a \
	compiler/verify/libverify.a compiler/gradient/libgradient.a \
	compiler/analysis/libanalysis.a compiler/expand/libexpand.a \
	$(dsl_libs) runtime/libruntime.a $(plan_libs) base/libbase.a \
	$(MPI_LIBS) $(JANSSON_LIBS)
%C%_operators_LDADD = $(random_libs)

check_PROGRAMS += %D%/facts
TESTS += %D%/facts
%C%_facts_SOURCES = \
	%D%/facts.c \
	%D%/generate_facts.c %D%/generate_facts.h \
	%D%/shrink.c %D%/shrink.h
%C%_facts_LDADD = $(random_libs)

# Derived gradients: tree, text, tree; and their values.
check_PROGRAMS += %D%/gradients
TESTS += %D%/gradients
%C%_gradients_SOURCES = \
	%D%/generate.c %D%/generate.h \
	%D%/generate_expr.c \
	%D%/generate_index.c \
	%D%/generator.h \
	%D%/gradients.c \
	%D%/same_tree.c %D%/same_tree.h \
	%D%/shrink.c %D%/shrink.h
%C%_gradients_LDADD = $(random_libs)
EXTRA_DIST += \
	%D%/known/bitcast_under_flag.tdl \
	%D%/known/conversion_overflows.tdl \
	%D%/known/divisor_none.tdl \
	%D%/known/extent_not_shown.tdl \
	%D%/known/let_of_a_call_under_flag.tdl \
	%D%/known/let_under_flag.tdl \
	%D%/known/let_under_select.tdl \
	%D%/known/lets_under_flags.tdl \
	%D%/known/may_read_outside.tdl \
	%D%/known/zero_of_none.tdl \
	%D%/known/zero_product_of_none.tdl \
	%D%/known/zero_product_of_reduction.tdl
EXTRA_DIST += %D%/planted.sh %D%/planted

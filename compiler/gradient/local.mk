noinst_LIBRARIES += %D%/libgradient.a
%C%_libgradient_a_SOURCES = \
	%D%/adjoint.c %D%/adjoint.h \
	%D%/call.c \
	%D%/constants.c \
	%D%/flags.c %D%/flags.h \
	%D%/gradient.c %D%/gradient.h \
	%D%/hoist.c \
	%D%/inside.c \
	%D%/invert.c %D%/invert.h \
	%D%/range.c %D%/range.h \
	%D%/signature.c %D%/signature.h \
	%D%/solve.c %D%/solve_pack.c %D%/solver.h \
	%D%/stage.c %D%/stage.h \
	%D%/symbols.c \
	%D%/tree.c %D%/tree.h \
	%D%/tree_arithmetic.c \
	%D%/tree_condition.c \
	%D%/tree_constant.c \
	%D%/tree_map.c \
	%D%/tree_node.h \
	%D%/type.c \
	%D%/unknown.c \
	%D%/written.c %D%/written.h

EXTRA_DIST += %D%/README.md

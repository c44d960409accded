noinst_LIBRARIES += %D%/libanalysis.a
%C%_libanalysis_a_SOURCES = \
	%D%/bounds.c %D%/bounds.h \
	%D%/descriptor.c %D%/descriptor.h \
	%D%/descriptor_build.h \
	%D%/descriptor_file.c \
	%D%/descriptor_strategy.c \
	%D%/explain.c %D%/explain.h \
	%D%/poly.c %D%/poly.h \
	%D%/poly_prove.c \
	%D%/poly_refute.c \
	%D%/strategy.c %D%/strategy.h \
	%D%/symbolic.c %D%/symbolic.h \
	%D%/symbolic_abstract.c \
	%D%/symbolic_build.h \
	%D%/symbolic_choice.c \
	%D%/symbolic_extent.c \
	%D%/symbolic_gather.c \
	%D%/symbolic_index.c \
	%D%/symbolic_interval.c \
	%D%/symbolic_opaque.c \
	%D%/symbolic_scalar.c \
	%D%/symbolic_scope.c \
	%D%/symbolic_stage.c

EXTRA_DIST += %D%/README.md

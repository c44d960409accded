noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_SOURCES = \
	%D%/jax.c \
	%D%/jax_constant.c %D%/jax_constant.h \
	%D%/jax_expr.c %D%/jax_expr.h \
	%D%/jax_folds.c \
	%D%/jax_kernel.c %D%/jax_kernel.h \
	%D%/jax_layout.c %D%/jax_layout.h \
	%D%/jax_library.c \
	%D%/jax_module.c %D%/jax_module.h \
	%D%/jax_names.c %D%/jax_names.h \
	%D%/jax_read.c \
	%D%/jax_split.c \
	%D%/jax_stages.c \
	%D%/jax_steps.c \
	%D%/jax_turn.c %D%/jax_turn.h \
	%D%/jax_writer.h \
	%D%/index_maps.c %D%/index_maps.h \
	%D%/index_maps_symbolic.c \
	%D%/nnscaler.c \
	%D%/onnx_annotate.c %D%/onnx_annotate.h \
	%D%/factors.c %D%/factors.h \
	%D%/program.c %D%/program.h \
	%D%/program_plan.c \
	%D%/rule.c %D%/rule.h \
	%D%/shardy.c \
	%D%/text.c %D%/text.h
nodist_%C%_libexport_a_SOURCES = %D%/jax_files.h %D%/program_files.h

# The files that are the same in all programs of --emit-cuda, as text.
program_files = \
	%D%/program/boxes.h \
	%D%/program/main.cu \
	%D%/program/program.h \
	%D%/program/transfer.cu \
	include/tdl/cuda.h \
	include/tdl/functions.h \
	include/tdl/scalar.h \
	include/tdl/tensor_cores.h

%D%/program_files.h: $(program_files) runtime/cpu/headers.sh
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	(cd $(srcdir) && $(SHELL) runtime/cpu/headers.sh $(program_files)) \
		>$@.tmp && mv $@.tmp $@
%D%/program.$(OBJEXT): %D%/program_files.h

# The parts of modules for JAX that are the same in all, as text; in the order of
# jax_names.h.
jax_files = \
	%D%/jax/prelude.py \
	%D%/jax/mesh.py \
	%D%/jax/stages.py

%D%/jax_files.h: $(jax_files) runtime/cpu/headers.sh
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	(cd $(srcdir) && $(SHELL) runtime/cpu/headers.sh $(jax_files)) \
		>$@.tmp && mv $@.tmp $@
%D%/jax_names.$(OBJEXT): %D%/jax_files.h
CLEANFILES += %D%/jax_files.h %D%/program_files.h

EXTRA_DIST += %D%/README.md $(jax_files) %D%/program/boxes.h %D%/program/main.cu \
	%D%/program/program.h %D%/program/transfer.cu

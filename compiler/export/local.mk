noinst_LIBRARIES += %D%/libexport.a
%C%_libexport_a_SOURCES = \
	%D%/jax.c \
	%D%/index_maps.c %D%/index_maps.h \
	%D%/index_maps_symbolic.c \
	%D%/nnscaler.c \
	%D%/factors.c %D%/factors.h \
	%D%/program.c %D%/program.h \
	%D%/program_plan.c \
	%D%/rule.c %D%/rule.h \
	%D%/shardy.c \
	%D%/text.c %D%/text.h
nodist_%C%_libexport_a_SOURCES = %D%/program_files.h

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
CLEANFILES += %D%/program_files.h

EXTRA_DIST += %D%/README.md %D%/program/boxes.h %D%/program/main.cu \
	%D%/program/program.h %D%/program/transfer.cu

noinst_LIBRARIES += %D%/liblayout.a
%C%_liblayout_a_SOURCES = \
	%D%/collective.c %D%/collective.h \
	%D%/division.c %D%/division.h \
	%D%/layout.c %D%/layout.h \
	%D%/layout_classes.c %D%/layout_classes.h \
	%D%/layout_text.c %D%/layout_text.h \
	%D%/mesh.c %D%/mesh.h \
	%D%/nest.c %D%/nest.h \
	%D%/product.c %D%/product.h \
	%D%/runs.c %D%/runs.h \
	%D%/transfer.c %D%/transfer.h \
	%D%/transfer_collective.c \
	%D%/transfer_receives.c

EXTRA_DIST += %D%/README.md

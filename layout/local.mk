noinst_LIBRARIES += %D%/liblayout.a
%C%_liblayout_a_SOURCES = \
	%D%/collective.c %D%/collective.h \
	%D%/mesh.c %D%/mesh.h \
	%D%/runs.c %D%/runs.h

EXTRA_DIST += %D%/README.md

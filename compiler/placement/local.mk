noinst_LIBRARIES += %D%/libplacement.a
%C%_libplacement_a_SOURCES = \
	%D%/cost_graph.c %D%/cost_graph.h \
	%D%/cost_graph_dnn.c \
	%D%/cost_graph_profile.c \
	%D%/tie.c
EXTRA_DIST += %D%/README.md

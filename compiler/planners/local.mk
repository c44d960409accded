noinst_LIBRARIES += %D%/libsearch.a
%C%_libsearch_a_SOURCES = \
	%D%/allrow.c \
	%D%/at_once.c \
	%D%/bounded.c %D%/bounded.h \
	%D%/carry.c %D%/carry.h \
	%D%/classes.c %D%/classes.h \
	%D%/data_parallel.c \
	%D%/eliminate.c %D%/eliminate.h \
	%D%/equalchop.c \
	%D%/extended.c \
	%D%/figures.c %D%/figures.h \
	%D%/formulate.c %D%/formulate.h \
	%D%/ilp.h \
	%D%/ilp_planner.c \
	%D%/ilp_solve.c \
	%D%/ilp_write.c \
	%D%/joint.c \
	%D%/levels.c %D%/levels.h \
	%D%/model.c %D%/model.h \
	%D%/objective.c %D%/objective.h \
	%D%/optcnn.c \
	%D%/order.c %D%/order.h \
	%D%/outline.c %D%/outline.h \
	%D%/pairs.c %D%/pairs.h \
	%D%/pase.c \
	%D%/pase_cost.c %D%/pase_cost.h \
	%D%/pase_layers.c %D%/pase_layers.h \
	%D%/pase_weights.c %D%/pase_weights.h \
	%D%/planner.h \
	%D%/planners.c \
	%D%/problem.c %D%/problem.h \
	%D%/regions.c %D%/regions.h \
	%D%/search.c %D%/search.h \
	%D%/seconds.c %D%/seconds.h \
	%D%/separable.c %D%/separable.h \
	%D%/solve.c %D%/solve.h \
	%D%/megatron.c %D%/merges.h \
	%D%/minplus.c %D%/minplus.h \
	%D%/branch.c %D%/branch.h \
	%D%/reduce.c %D%/reduce.h %D%/reducer.h \
	%D%/relax.c %D%/relax.h \
	%D%/spartan.c \
	%D%/split.c %D%/split.h \
	%D%/timed.c %D%/timed.h \
	%D%/tofu.c \
	%D%/topology.c %D%/topology.h \
	%D%/ways.c %D%/ways.h \
	%D%/wcsp.c %D%/wcsp.h \
	%D%/whole.c %D%/whole.h \
	%D%/whole_solve.c \
	%D%/whole_table.c %D%/whole_table.h
EXTRA_DIST += %D%/README.md

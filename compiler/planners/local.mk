noinst_LIBRARIES += %D%/libplanners.a
%C%_libplanners_a_SOURCES = \
	%D%/allrow.c \
	%D%/best_first.c %D%/best_first.h \
	%D%/data_parallel.c \
	%D%/equalchop.c \
	%D%/extended.c \
	%D%/ilp_planner.c \
	%D%/joint.c \
	%D%/joint_search.c \
	%D%/joint_solve.c %D%/joint_solve.h \
	%D%/levels.c %D%/levels.h \
	%D%/megatron.c \
	%D%/megatron_chains.c %D%/megatron_chains.h \
	%D%/megatron_sequence.c %D%/megatron_sequence.h \
	%D%/optcnn.c \
	%D%/partial_assignment.c %D%/partial_assignment.h \
	%D%/pase.c \
	%D%/pase_cost.c %D%/pase_cost.h \
	%D%/pase_layers.c %D%/pase_layers.h \
	%D%/pase_weights.c %D%/pase_weights.h \
	%D%/planner.h \
	%D%/planners.c \
	%D%/search.c %D%/search.h \
	%D%/spartan.c \
	%D%/symmetry_bound.c %D%/symmetry_bound.h \
	%D%/tofu.c

EXTRA_DIST += %D%/README.md

# The search, in the order of linking.
planners_libs = %D%/libplanners.a compiler/cost/libcost.a \
	compiler/solver/libsolver.a

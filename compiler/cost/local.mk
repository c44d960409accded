noinst_LIBRARIES += %D%/libcost.a
%C%_libcost_a_SOURCES = \
	%D%/aligned_dims.c %D%/aligned_dims.h \
	%D%/assignment.c %D%/assignment.h \
	%D%/byte_model.c %D%/byte_model.h \
	%D%/candidates.c %D%/candidates.h \
	%D%/formulate.c %D%/formulate.h \
	%D%/instr_time.c %D%/instr_time.h \
	%D%/instr_times.c %D%/instr_times.h \
	%D%/joint_nests.c %D%/joint_nests.h \
	%D%/joint_problem.c %D%/joint_problem.h \
	%D%/joint_table.c %D%/joint_table.h \
	%D%/measured.c %D%/measured.h \
	%D%/merges.h \
	%D%/pair_costs.c %D%/pair_costs.h \
	%D%/partial_values.c %D%/partial_values.h \
	%D%/profiled.c %D%/profiled.h \
	%D%/program_bounds.c %D%/program_bounds.h \
	%D%/program_bounds_build.h \
	%D%/program_bounds_memory.c \
	%D%/program_bounds_time.c \
	%D%/rules.c %D%/rules.h \
	%D%/schedule.c %D%/schedule.h \
	%D%/schedule_zb.c \
	%D%/separable.c %D%/separable.h \
	%D%/step_time.c %D%/step_time.h \
	%D%/time_model.c %D%/time_model.h \
	%D%/topology.c %D%/topology.h \
	%D%/topology_read.c

EXTRA_DIST += %D%/README.md

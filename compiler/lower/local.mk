noinst_LIBRARIES += %D%/liblower.a
%C%_liblower_a_SOURCES = \
	%D%/accumulate.c %D%/accumulate.h \
	%D%/bucket.c %D%/bucket.h %D%/bucket_maker.h \
	%D%/bucket_savings.c \
	%D%/constants.c %D%/constants.h \
	%D%/copy_reuse.c \
	%D%/cost.c %D%/cost.h \
	%D%/folds.c \
	%D%/schedule_early.c \
	%D%/fuse.c %D%/fuse.h %D%/fuse_parts.h \
	%D%/fuse_copies.c %D%/fuse_kernel.c \
	%D%/schedule_late.c \
	%D%/lower.c %D%/lower.h \
	%D%/schedule.c %D%/schedule.h \
	%D%/order.h \
	%D%/pipeline.c %D%/pipeline.h \
	%D%/stage_division.c %D%/stage_division.h \
	%D%/stage_graph.c %D%/stage_graph.h \
	%D%/stage_program.c %D%/stage_program.h \
	%D%/stage_recompute.c %D%/stage_recompute.h \
	%D%/stage_runs.c \
	%D%/stage_ties.c %D%/stage_ties.h \
	%D%/schedule_levels.c \
	%D%/schedule_overlapping.c \
	%D%/program.c %D%/program.h \
	%D%/timeline.c %D%/timeline.h

EXTRA_DIST += %D%/README.md

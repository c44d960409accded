noinst_LIBRARIES += %D%/libplan.a
%C%_libplan_a_SOURCES = \
	%D%/arena_packing.c %D%/arena_packing.h \
	%D%/base64.c %D%/base64.h \
	%D%/bucket.c \
	%D%/chain.c %D%/chain.h %D%/chain_make.c \
	%D%/check.c %D%/check.h \
	%D%/check_bucket.c \
	%D%/check_chain.c \
	%D%/check_epilogue.c \
	%D%/check_loop.c \
	%D%/check_nodes.c \
	%D%/check_pipeline.c \
	%D%/check_stage.c \
	%D%/check_worker.c \
	%D%/classes.c %D%/classes.h \
	%D%/constant.c \
	%D%/cuda_binding.c %D%/cuda_binding.h \
	%D%/epilogue.c \
	%D%/folds.c \
	%D%/gemm.c %D%/gemm.h \
	%D%/gemm_loops.c %D%/gemm_loops.h \
	%D%/gemm_plan.c \
	%D%/kept.c %D%/kept.h \
	%D%/lifetimes.c %D%/lifetimes.h \
	%D%/messages.c %D%/messages.h \
	%D%/overlap.c %D%/overlap.h \
	%D%/peak.c %D%/peak.h \
	%D%/pipeline.c %D%/pipeline.h \
	%D%/pipeline_ends.c \
	%D%/pipeline_whole.c \
	%D%/plan.c %D%/plan.h \
	%D%/profile.c %D%/profile.h \
	%D%/profile_read.c \
	%D%/random_elements.c %D%/random_elements.h \
	%D%/read.c %D%/read.h \
	%D%/read_constant.c \
	%D%/read_cuts.c \
	%D%/read_kernel.c \
	%D%/read_loop.c \
	%D%/read_pipeline.c \
	%D%/read_rows.c %D%/read_rows.h \
	%D%/read_tables.c \
	%D%/single_device.c \
	%D%/state.c \
	%D%/streams.c %D%/streams.h \
	%D%/streams_check.c \
	%D%/unroll.c \
	%D%/write.c %D%/write.h \
	%D%/write_kernel.c \
	%D%/write_pipeline.c

EXTRA_DIST += %D%/README.md

# The contract of compiler and runtime, in the order of linking.
plan_libs = %D%/libplan.a layout/liblayout.a kernel/libkernel.a

noinst_LIBRARIES += %D%/libportfolio.a
%C%_libportfolio_a_SOURCES = \
	%D%/auto.c %D%/auto.h \
	%D%/bucketed.c %D%/bucketed.h \
	%D%/candidates.c %D%/candidates.h \
	%D%/complete_search.c %D%/complete_search.h \
	%D%/frontier.c %D%/frontier.h \
	%D%/limits.c %D%/limits.h \
	%D%/one_planner.c %D%/one_planner.h \
	%D%/pipeline_buckets.c %D%/pipeline_buckets.h \
	%D%/pipeline_costs.c %D%/pipeline_costs.h \
	%D%/pipeline_costs_classes.c \
	%D%/pipeline_judge.c %D%/pipeline_judge.h \
	%D%/pipeline_crossings.c %D%/pipeline_crossings.h \
	%D%/pipeline_known.c %D%/pipeline_known.h \
	%D%/pipeline_layers.c %D%/pipeline_layers.h \
	%D%/pipeline_measure.c %D%/pipeline_measure.h \
	%D%/pipeline_passing.c %D%/pipeline_passing.h \
	%D%/pipeline_plan.c %D%/pipeline_plan.h \
	%D%/pin_text.c %D%/pin_text.h \
	%D%/pins.c %D%/pins.h \
	%D%/tensor_parallel.c %D%/tensor_parallel.h \
	%D%/pipeline_program.c %D%/pipeline_program.h \
	%D%/pipeline_reasons.c %D%/pipeline_reasons.h \
	%D%/pipeline_refusals.c %D%/pipeline_refusals.h \
	%D%/pipeline_refine.c %D%/pipeline_refine.h \
	%D%/pipeline_search.c %D%/pipeline_search.h \
	%D%/pipeline_splits.c %D%/pipeline_splits.h \
	%D%/pipeline_sums.c %D%/pipeline_sums.h \
	%D%/pipeline_ways.c %D%/pipeline_ways.h \
	%D%/stage_pins.c %D%/stage_pins.h \
	%D%/plan_origin.c %D%/plan_origin.h \
	%D%/price_sweep.c %D%/price_sweep.h \
	%D%/program_maker.c %D%/program_maker.h \
	%D%/programs.c %D%/programs.h \
	%D%/request.h

EXTRA_DIST += %D%/README.md

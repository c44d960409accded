noinst_LIBRARIES += %D%/libplacement.a
%C%_libplacement_a_SOURCES = \
	%D%/best.c \
	%D%/cost_graph.c %D%/cost_graph.h \
	%D%/cost_graph_dnn.c \
	%D%/cost_graph_profile.c \
	%D%/cost_graph_write.c \
	%D%/favourites.c \
	%D%/figures.c %D%/figures.h \
	%D%/gantt.c %D%/gantt.h \
	%D%/heft.c \
	%D%/improve.c %D%/improve.h \
	%D%/interior.c %D%/interior.h \
	%D%/judge.c %D%/judge.h \
	%D%/ldl.c %D%/ldl.h \
	%D%/list.c \
	%D%/machine.c %D%/machine.h \
	%D%/metf.c \
	%D%/model_costs.c %D%/model_costs.h \
	%D%/model_program.c %D%/model_program.h \
	%D%/msct.c \
	%D%/pack.c \
	%D%/pardnn.c \
	%D%/placed.c %D%/placed.h \
	%D%/placement_file.c %D%/placement_file.h \
	%D%/simple.c \
	%D%/slice.c %D%/slice.h \
	%D%/table_file.c %D%/table_file.h \
	%D%/task.c %D%/task.h \
	%D%/tie.c
EXTRA_DIST += %D%/README.md

# Stages and schedules; loads.
%C%_libplacement_a_SOURCES += \
	%D%/capture.c %D%/capture.h %D%/capture_more.h \
	%D%/capture_find.c %D%/capture_find.h \
	%D%/capture_uneven.c \
	%D%/chunk_search.c \
	%D%/chunks.c %D%/chunks.h \
	%D%/degrees.c %D%/degrees.h \
	%D%/device_stages.c %D%/device_stages.h \
	%D%/groups.c %D%/groups.h \
	%D%/ideals.c %D%/ideals.h \
	%D%/layers.c %D%/layers.h \
	%D%/load.c %D%/load.h \
	%D%/load_any.c \
	%D%/load_chain.c %D%/load_chain.h \
	%D%/load_search.c %D%/load_search.h \
	%D%/mcap.c %D%/mcap.h \
	%D%/mcap_chunks.c \
	%D%/pipedream.c %D%/pipedream.h \
	%D%/piper.c %D%/piper.h \
	%D%/piper_cost.c \
	%D%/remedy.h \
	%D%/split.c %D%/split.h \
	%D%/split_rows.c \
	%D%/stage_memory.c %D%/stage_memory.h \
	%D%/stage_cost.c %D%/stage_cost.h \
	%D%/stage_program.c %D%/stage_program.h \
	%D%/stage_search.c %D%/stage_search.h \
	%D%/stages.c %D%/stages.h \
	%D%/step_boxes.c %D%/step_boxes.h

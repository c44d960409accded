# Pipelines: schedules, stages, plans over replicas, tensors and stages.
stages_libs = compiler/placement/libplacement.a base/libbase.a $(unit_libs) -lm

unit_tests += \
	%D%/test_capture \
	%D%/test_load \
	%D%/test_schedule \
	%D%/test_split \
	%D%/test_stages

%C%_test_schedule_SOURCES = %D%/test_schedule.c %D%/draw.h
%C%_test_schedule_LDADD = $(stages_libs)

%C%_test_split_SOURCES = %D%/test_split.c %D%/draw.h
%C%_test_split_LDADD = $(stages_libs)

%C%_test_stages_SOURCES = %D%/test_stages.c %D%/draw.h
%C%_test_stages_LDADD = $(stages_libs)

%C%_test_load_SOURCES = %D%/test_load.c %D%/draw.h
%C%_test_load_LDADD = $(stages_libs)

%C%_test_capture_SOURCES = %D%/test_capture.c %D%/draw.h
%C%_test_capture_LDADD = $(stages_libs)

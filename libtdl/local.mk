# The library's parts that tdlc uses, too.
noinst_LIBRARIES += %D%/libjobs.a
%C%_libjobs_a_SOURCES = \
	%D%/describe_json.c \
	%D%/describe_text.c \
	%D%/explain_concrete.c \
	%D%/explain_input.c \
	%D%/graph_json.c %D%/graph_json.h \
	%D%/job.c %D%/job.h \
	%D%/onnx_uses.c %D%/onnx_uses.h \
	%D%/operators.c %D%/operators.h \
	%D%/plan_diff.c %D%/plan_diff.h \
	%D%/plan_input.c %D%/plan_input.h \
	%D%/plan_memory.c %D%/plan_memory.h \
	%D%/plan_report.c %D%/plan_report.h \
	%D%/plan_search.c %D%/plan_search.h \
	%D%/plan_strict.c %D%/plan_strict.h \
	%D%/plan_view.c %D%/plan_view.h \
	%D%/train_options.c %D%/train_options.h \
	%D%/verify_job.c %D%/verify_job.h \
	%D%/describe.h
%C%_libjobs_a_CPPFLAGS = $(AM_CPPFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'

EXTRA_DIST += %D%/README.md

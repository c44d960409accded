noinst_LIBRARIES += %D%/libverify.a
%C%_libverify_a_SOURCES = \
	%D%/agree.c \
	%D%/unoffered.c \
	%D%/cuts.c \
	%D%/data.c \
	%D%/sample.h \
	%D%/sample_attribute.c \
	%D%/sample_signature.c \
	%D%/sample_text.c \
	%D%/gradients.c %D%/gradients.h \
	%D%/partials.c \
	%D%/passing.c \
	%D%/reads.c \
	%D%/reference/fault.c \
	%D%/reference/frame.h \
	%D%/reference/function.c \
	%D%/reference/lambda.c \
	%D%/reference/number.c %D%/reference/number.h \
	%D%/reference/reduce.c \
	%D%/reference/reference.c %D%/reference/reference.h \
	%D%/reference/scope.c \
	%D%/reference/type.c \
	%D%/attr_roles.c \
	%D%/rounded.c \
	%D%/steps.c \
	%D%/dim_map.c \
	%D%/opaque_stub.c \
	%D%/symbolic.c \
	%D%/trial.h \
	%D%/verify.c %D%/verify.h

EXTRA_DIST += %D%/README.md

noinst_LIBRARIES += %D%/libmodel.a
%C%_libmodel_a_SOURCES = \
	%D%/eval.c %D%/eval.h \
	%D%/eval_call.c \
	%D%/eval_expr.c %D%/eval_expr.h \
	%D%/eval_fn.c %D%/eval_fn.h \
	%D%/eval_list.c \
	%D%/eval_scope.c \
	%D%/eval_stmt.c \
	%D%/eval_tensor.c \
	%D%/model.c %D%/model.h \
	%D%/model_declare.c

EXTRA_DIST += %D%/README.md

noinst_LIBRARIES += %D%/libcodegen.a
%C%_libcodegen_a_SOURCES = \
	%D%/classes.c \
	%D%/codegen.c %D%/codegen.h \
	%D%/cuda.c %D%/cuda.h %D%/cuda_map.c %D%/cuda_product.c \
	%D%/cuda_reduce.c %D%/cuda_tidy.c %D%/cuda_vector.c %D%/cuda_where.c \
	%D%/cuda_words.c \
	%D%/emit.c %D%/emit.h \
	%D%/epilogue.c \
	%D%/expr.c %D%/expr.h %D%/expr_fn.c %D%/expr_piece.h \
	%D%/expr_select.c %D%/expr_types.c \
	%D%/flat.c \
	%D%/kept.c \
	%D%/maps.c \
	%D%/merge.c \
	%D%/names.c \
	%D%/nest.c %D%/nest.h \
	%D%/product.c %D%/product_place.c %D%/product_window.c \
	%D%/reduce.c \
	%D%/schedule.c %D%/schedule.h \
	%D%/schedule_turn.c \
	%D%/schedule_where.c \
	%D%/text.c %D%/text.h \
	%D%/window.c

EXTRA_DIST += %D%/README.md

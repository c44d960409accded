noinst_LIBRARIES += %D%/libtrain.a
%C%_libtrain_a_SOURCES = \
	%D%/backward.c \
	%D%/optimizer.c \
	%D%/recompute.c \
	%D%/train.c %D%/train.h \
	%D%/train_doubt.c \
	%D%/train_loss.c \
	%D%/train_option.c \
	%D%/train_order.c \
	%D%/train_terms.c \
	%D%/trainer.h

EXTRA_DIST += %D%/README.md

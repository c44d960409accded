/* The state of one training, shared by the files train*.c alone. */
#ifndef TDL_RUNTIME_RUN_TRAINING_H
#define TDL_RUNTIME_RUN_TRAINING_H

#include "base/vec.h"
#include "runtime/run/checkpoint.h"
#include "runtime/run/data.h"
#include "runtime/run/learning_rate.h"
#include "runtime/run/log.h"
#include "runtime/run/train.h"

/* An evaluation, and the position at which it was made. */
typedef struct judgement {
	position at;
	metric *metrics;
} judgement;

typedef struct training {
	session *s;
	const plan *p;
	feed *feed;
	dataset *data;
	executor *m;
	array *outputs;
	array *kept;	/* the outputs, without data except the loss's */
	int loss, rate; /* outputs[loss], inputs[rate]; -1 for none */
	lr_schedule schedule;
	evaluation *evaluation;
	checkpoints *checkpoints;
	train_log *log;
	position at;
	int64_t resumed; /* the first step of this process */
	int64_t per_epoch;
	int64_t *order; /* of the samples in this epoch */
	int64_t count;	/* of steps in this epoch, .. */
	double sum;	/* .. the sum of the losses of those .. */
	int64_t summed; /* .. this many whose loss is a number */
	double scale;	/* of the loss, in short floats */
	/* consecutive steps that changed nothing but the scale */
	int skipped;
	double begun;	/* when the epoch, or this part of it, began */
	double shown;	/* when the bar was shown last */
	VEC(double) losses;
	VEC(judgement) judgements;
	int signal;
} training;

/* ---- train_open.c ------------------------------------------------------- */

/* Opens everything that the command line names, and resumes from a checkpoint
 * if requested.  Returns false with t->s->f set. */
bool training_open(training *t);

/* Frees a training, even if it is only partly open. */
void training_close(training *t);

/* Reads the scale of the loss in the next step. */
bool training_read_scale(training *t);

/* ---- train_report.c ----------------------------------------------------- */

/* Prints the results. */
void training_report(training *t);

#endif

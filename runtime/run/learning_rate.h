/* The learning rate of each step of a training run. */
#ifndef TDL_RUNTIME_RUN_LEARNING_RATE_H
#define TDL_RUNTIME_RUN_LEARNING_RATE_H

#include <stdint.h>

typedef enum lr_schedule_kind {
	SCHEDULE_CONSTANT,
	SCHEDULE_LINEAR, /* down to 0 */
	SCHEDULE_COSINE, /* down to 0 along half a wave; Loshchilov and Hutter,
			    "SGDR", 2017, without restarts */
} lr_schedule_kind;

typedef struct lr_schedule {
	lr_schedule_kind kind;
	double base;	/* the learning rate that `rate' is a fraction of */
	int64_t warmup; /* steps; the first of them has 1 / warmup of the base,
			   the last all of it */
	int64_t steps;	/* of the whole run; a rate that falls would be 0 in
			   the step after the last */
} lr_schedule;

/* The rate of a step, 0 <= step < steps.  It depends on these alone, so that a
 * resumed run has the same. */
double schedule_rate(const lr_schedule *s, int64_t step);

#endif

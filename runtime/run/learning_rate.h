/* The learning rate of each step of a training run. */
#ifndef TDL_RUNTIME_RUN_LEARNING_RATE_H
#define TDL_RUNTIME_RUN_LEARNING_RATE_H

#include <stdint.h>

typedef enum lr_schedule_kind {
	SCHEDULE_CONSTANT,
	SCHEDULE_LINEAR, /* decreases to 0 */
	/* decreases to 0 along half a wave; Loshchilov and Hutter, "SGDR",
	 * 2017, without restarts */
	SCHEDULE_COSINE,
} lr_schedule_kind;

typedef struct lr_schedule {
	lr_schedule_kind kind;
	double base;	/* the learning rate that `rate' is a fraction of */
	/* steps; the first has 1 / warmup of the base, the last all of it */
	int64_t warmup;
	/* of the whole run; a decreasing rate reaches 0 in the step after the
	 * last */
	int64_t steps;
} lr_schedule;

/* The rate of a step, 0 <= step < steps.  It depends only on the arguments, so
 * that a resumed run has the same rates. */
double schedule_rate(const lr_schedule *s, int64_t step);

#endif

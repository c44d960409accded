#include "config.h"

#include "runtime/run/learning_rate.h"

#include <math.h>

double schedule_rate(const lr_schedule *s, int64_t step)
{
	const double pi = 3.14159265358979323846;
	if (step < s->warmup)
		return s->base * (double)(step + 1) / (double)s->warmup;
	double done = (double)(step - s->warmup) /
		      (double)(s->steps - s->warmup);
	switch (s->kind) {
	case SCHEDULE_CONSTANT:
		break;
	case SCHEDULE_LINEAR:
		return s->base * (1 - done);
	case SCHEDULE_COSINE:
		return s->base * (1 + cos(pi * done)) / 2;
	}
	return s->base;
}

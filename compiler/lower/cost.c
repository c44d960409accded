#include "config.h"

#include "compiler/lower/cost.h"

#include "base/vec.h"
#include "compiler/cost/instr_time.h"
#include "compiler/lower/timeline.h"
#include "plan/region_classes.h"

enum { MOST_LOOKED_AT = 64 };

lower_times lower_time(const plan *p, const topology *t)
{
	arena *tmp = arena_new();
	region_classes *f = region_classes_new(tmp, p);
	VEC(double) known = { 0 }; /* by region_class_instr(); -1: not yet */
	double *seconds = ARENA_ARRAY(tmp, double, p->ninstrs);
	lower_times sum = { 0 };
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		int what = region_class_instr(f, in);
		while (known.n <= what)
			vec_push(tmp, &known, -1);
		if (known.at[what] < 0)
			known.at[what] = instr_time(p, t, in,
						    MOST_LOOKED_AT);
		seconds[i] = known.at[what];
		if (in->op != PLAN_RUN && in->collective != COLL_LOCAL)
			sum.communication += seconds[i];
		else
			sum.computation += seconds[i];
		sum.run += seconds[i];
	}
	if (t->overlap)
		sum.run = timeline_end(p, seconds);
	arena_free(tmp);
	return sum;
}

double lower_seconds(const plan *p, const topology *t)
{
	return lower_time(p, t).run;
}

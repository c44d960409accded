#include "config.h"

#include "compiler/portfolio/pipeline_buckets.h"

#include <math.h>

#include "compiler/lower/bucket.h"
#include "compiler/portfolio/pipeline_sums.h"

enum {
	/* bucket sizes tried: 1, 2, 4, .. parts of the usual one */
	MOST_TRIES = 32,
	MOST_WITHIN = 4, /* of these, that fit in the memory, .. */
	LARGE_WITHIN = 1, /* .. for large plans, .. */
	LARGE = 4096,	  /* .. which have so many instructions in all stages */
	USUAL_SHARE = 10,
};

/* The plan with buckets of one in `share' of the usual bytes.  NULL if no stage
 * has buckets. */
static plan_pipeline *bucketed(const plan_request *how, const plan_pipeline *p,
			       int64_t share)
{
	const bucket_options o = { how->bucket, how->topology, 0 };
	plan_pipeline *q = ARENA_COPY(how->arena, p, 1);
	bool any = false;
	q->stages = ARENA_COPY(how->arena, p->stages, p->nstages);
	for (int s = 0; s < p->nstages; s++) {
		const plan *x = bucket_stage(how->arena, &p->stages[s], &o,
					     share);
		any |= x != NULL;
		if (x)
			q->stages[s] = *x;
	}
	return any ? q : NULL;
}

/* Whether two plans made from one plan have the same buckets. */
static bool is_same(const plan_pipeline *x, const plan_pipeline *y)
{
	for (int s = 0; s < x->nstages; s++)
		for (int i = 0; i < x->stages[s].ninstrs; i++)
			if (x->stages[s].program[i].bucket !=
				    y->stages[s].program[i].bucket ||
			    x->stages[s].program[i].to !=
				    y->stages[s].program[i].to)
				return false;
	return true;
}

/* Whether the stages of q, those of p with buckets, fit in the memory. */
static bool fits(const plan_request *how, const plan_pipeline *p,
		 const plan_pipeline *q)
{
	bool good = true;
	for (int s = 0; s < p->nstages; s++) {
		int begin = pipeline_first(p, s);
		int end = pipeline_first(p, s + 1);
		double without = (double)p->stages[s].arena_bytes;
		double most = how->memory > 0
				      ? INFINITY
				      : without + without / USUAL_SHARE;
		most = fmin(most, pipeline_limit(how, begin, end));
		good &= (double)q->stages[s].arena_bytes <=
			fmax(without, most);
	}
	return good;
}

/* Each try on a large plan takes seconds. */
static int most_tries(const plan_pipeline *p)
{
	int n = 0;
	for (int s = 0; p && s < p->nstages; s++)
		n += p->stages[s].ninstrs;
	return n < LARGE ? MOST_WITHIN : LARGE_WITHIN;
}

void pipeline_in_buckets(const plan_request *how, pipeline_result *r)
{
	const plan_pipeline *without = r->plan, *last = r->plan;
	pipeline_result best = *r;
	int within = 0, most_within = most_tries(r->plan);
	int64_t most = how->bucket > 0 ? how->bucket : INT64_C(1) << MOST_TRIES;
	if (!without || how->bucket == 0)
		return;
	for (int64_t share = 1; share <= most && within < most_within;
	     share *= 2) {
		pipeline_result one = *r;
		one.plan = bucketed(how, without, share);
		if (!one.plan)
			break;
		bool again = is_same(one.plan, last);
		last = one.plan;
		if (again || !fits(how, without, one.plan))
			continue;
		pipeline_count(how, &one);
		if (how->bucket > 0 || one.seconds < best.seconds)
			best = one;
		within += how->bucket > 0 ? MOST_WITHIN : 1;
	}
	*r = best;
}

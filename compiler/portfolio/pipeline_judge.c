#include "config.h"

#include "compiler/portfolio/pipeline_judge.h"

#include "compiler/portfolio/pipeline_sums.h"

int pipeline_fullest(const plan_request *how, const pipeline_result *r,
		     double *limit)
{
	double most = -1;
	int fullest = 0, begin = 0;
	for (int s = 0; s < r->plan->nstages; s++) {
		int end = begin + r->stages[s].way.devices;
		double own = pipeline_limit(how, begin, end);
		double bytes = (double)r->plan->stages[s].arena_bytes;
		begin = end;
		if (bytes / own <= most)
			continue;
		most = bytes / own;
		fullest = s;
		*limit = own;
	}
	return fullest;
}

double pipeline_excess(const plan_request *how, const pipeline_result *r)
{
	double limit;
	int s = pipeline_fullest(how, r, &limit);
	return (double)r->plan->stages[s].arena_bytes / limit;
}

bool pipeline_is_within(const plan_request *how, const pipeline_result *r)
{
	return pipeline_excess(how, r) <= 1;
}

bool pipeline_fits(const plan_request *how, const pipeline_result *r)
{
	bool limited = how->memory > 0 || how->topology->nkinds > 0;
	return r->plan && (!limited || pipeline_is_within(how, r));
}

bool pipeline_is_better(const plan_request *how, const pipeline_result *x,
			const pipeline_result *y)
{
	if (!x->plan || !y->plan)
		return x->plan != NULL;
	bool fits = pipeline_is_within(how, x);
	if (fits != pipeline_is_within(how, y))
		return fits;
	return fits ? x->seconds < y->seconds
		    : pipeline_excess(how, x) < pipeline_excess(how, y);
}

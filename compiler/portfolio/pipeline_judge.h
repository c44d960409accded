/* Judging pipelines: the better of two, and whether one fits in memory. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_JUDGE_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_JUDGE_H

#include "compiler/portfolio/pipeline_plan.h"

/* Whether x is better than y. */
bool pipeline_is_better(const plan_request *how, const pipeline_result *x,
			const pipeline_result *y);

/* The stage that lacks most memory, or has least left; *limit are the bytes
 * that each of its devices may need, of how or of the machine; INFINITY. */
int pipeline_fullest(const plan_request *how, const pipeline_result *r,
		     double *limit);

/* Whether no device needs more than that. */
bool pipeline_is_within(const plan_request *how, const pipeline_result *r);

/* Whether there is a plan, within the limit, and, where devices differ, within
 * the memory of each. */
bool pipeline_fits(const plan_request *how, const pipeline_result *r);

#endif

/* Compares pipelines: which of two is better, and whether one fits in
 * memory. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_JUDGE_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_JUDGE_H

#include "compiler/portfolio/pipeline_plan.h"

/* Whether x is better than y. */
bool pipeline_is_better(const plan_request *how, const pipeline_result *x,
			const pipeline_result *y);

/* The stage that lacks most memory, or has least left. *limit receives the
 * bytes that each of its devices may use, by how or by the machine;
 * INFINITY. */
int pipeline_fullest(const plan_request *how, const pipeline_result *r,
		     double *limit);

/* The memory of that stage, relative to what each of its devices may use. */
double pipeline_excess(const plan_request *how, const pipeline_result *r);

/* Whether no device needs more than its limit. */
bool pipeline_is_within(const plan_request *how, const pipeline_result *r);

/* Whether there is a plan and it is within the limit and, where devices differ,
 * within the memory of each. */
bool pipeline_fits(const plan_request *how, const pipeline_result *r);

#endif

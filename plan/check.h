/* The state of the plan checker, shared by plan/check.c and plan/check_worker.c
 * alone. */
#ifndef TDL_PLAN_CHECK_H
#define TDL_PLAN_CHECK_H

#include "plan/plan.h"

typedef struct plan_checker {
	const plan *p;
	diag_sink *sink;
	const char *path;
	const char *table; /* and row, that are being looked at */
	int row;
} plan_checker;

/* Adds an error at the place that is being looked at; returns false. */
bool flaw(plan_checker *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

#endif

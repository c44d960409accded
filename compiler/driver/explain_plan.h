/* tdlc explain --plan. */
#ifndef TDL_COMPILER_DRIVER_EXPLAIN_PLAN_H
#define TDL_COMPILER_DRIVER_EXPLAIN_PLAN_H

#include "compiler/driver/driver.h"

typedef struct explain_plan_request {
	const char *plan, *tensor; /* a file, a name; NULL: not given */
	int algorithm;		   /* of plan_reasons_planners; -1: not given */
	bool json;
} explain_plan_request;

/* Reads the plan, tries all choices and prints the reasons. */
cli_status explain_plan(driver *d, const explain_plan_request *q);

#endif

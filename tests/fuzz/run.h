/* Running small plans in the interpreter. */
#ifndef TDL_TESTS_FUZZ_RUN_H
#define TDL_TESTS_FUZZ_RUN_H

#include "plan/plan.h"

/* Whether it takes little memory and time to run a plan. */
bool run_is_small(const plan *p);

/* Runs a small plan on invented inputs.  Every plan ends, in a result or a
 * failure. */
void run_plan(const plan *p);

/* Runs a small plan whole and on one worker, which must give the same, where
 * no numbers were added up in another order. */
void run_both(const plan *p);

#endif

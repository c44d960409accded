/* A plain reading of the rules of compiler/simulate/simulate.h. */
#ifndef TDL_TESTS_UNIT_SIMULATE_JUDGE_H
#define TDL_TESTS_UNIT_SIMULATE_JUDGE_H

#include "compiler/simulate/simulate.h"

/* Runs a pipeline, pair by pair of instructions, byte by byte of the arenas,
 * and from each instant to the next at which anything changes, and compares the
 * instants of all units and messages.  Returns the difference, NULL for none.
 */
const char *simulate_judge(arena *a, const plan_pipeline *p,
			   const simulated_seconds *seconds, bool overlap,
			   const simulation *s);

#endif

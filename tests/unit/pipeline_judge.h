/* Pipelines run without data, a judge of what plan/ says about them. */
#ifndef TDL_TESTS_UNIT_PIPELINE_JUDGE_H
#define TDL_TESTS_UNIT_PIPELINE_JUDGE_H

#include "plan/pipeline.h"
#include "tests/unit/random_graph.h"

/* Runs the stages' programs, one instruction of any of them after another, at
 * random.  Instead of elements each place has the number of the buffer that was
 * written there last, so that reading what has been overwritten is found; and
 * each message is what was sent as often as it has been received.  What writes
 * where a message was sent from that is not yet taken has to wait.  Returns why
 * the run is wrong, or does not end; NULL if it is good. */
const char *pipeline_judge(arena *a, const plan_pipeline *p, rng *r);

#endif

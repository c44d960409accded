/* Planning what a model became. */
#ifndef TDL_TESTS_FUZZ_GRAPH_H
#define TDL_TESTS_FUZZ_GRAPH_H

#include "compiler/graph/graph.h"

/* Plans a graph that is not large for two devices.  The plan survives its file,
 * and a small one gives on two workers what it gives on one. */
void fuzz_plan(arena *a, diag_sink *s, const graph *g);

#endif

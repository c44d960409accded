/* A graph as JSON. */
#ifndef TDL_LIBTDL_GRAPH_JSON_H
#define TDL_LIBTDL_GRAPH_JSON_H

#include "base/json.h"
#include "compiler/graph/graph.h"

/* The output of `tdlc show MODEL --json'. */
json_t *graph_json(const graph *g);

#endif

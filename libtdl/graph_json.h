/* A graph as JSON. */
#ifndef TDL_LIBTDL_GRAPH_JSON_H
#define TDL_LIBTDL_GRAPH_JSON_H

#include "base/json.h"
#include "compiler/graph/graph.h"

/* What `tdlc show MODEL --json' prints. */
json_t *graph_json(const graph *g);

#endif

/* A graph as JSON, as text, and as a drawing. */
#ifndef TDL_LIBTDL_GRAPH_JSON_H
#define TDL_LIBTDL_GRAPH_JSON_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/graph/graph.h"
#include "libtdl/job.h"

/* The output of `tdlc show MODEL --json'. */
json_t *graph_json(const graph *g);
/* The same without --json; and with --dot, for graphviz. unfolded: draw each
 * operator; otherwise a large model is drawn by whole blocks. */
void graph_text(FILE *to, arena *a, const graph *g);
void graph_dot(FILE *to, arena *a, const graph *g, bool unfolded);

/* The output of `tdlc show MODEL --costs': the model at path as a cost graph,
 * for a machine; NULL: the default one.  NULL after adding errors. */
json_t *model_costs_json(job *d, const graph *g, const char *machine,
			 const char *path);

#endif

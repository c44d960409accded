/* Micro-batches: a graph whose batch is divided over time.
 *
 * Time is one more axis along which operators are divided; on it each tensor is
 * cut, replicated or partial.  An operator that reads a cut tensor takes part
 * in every turn, divided along the variable whose blocks read exactly the
 * turn's samples.  If that is a variable of the result, the result is cut; if
 * it is reduced, the result is partial, and the turns' results are combined
 * after the last turn.  An operator that reads no cut tensor gives the same in
 * all turns and is computed before them; one that reads combined values is
 * computed after them.
 *
 * A combined value is copied after the last turn, so that a planner can give it
 * two layouts, one for adding up and one for reading.  If the first is partial
 * over the devices as well, they exchange it once.
 *
 * A sum over the batch that is needed inside of the turns, such as the mean of
 * a normalisation, is an error.  On request each turn has its own instead: the
 * sum over its samples times B/b, with B samples in all and b in the turn; for
 * maxima and the like, that of its samples.  All that follows is then as if
 * these samples were all, whatever expression the extent B is part of.  If a
 * value without samples that follows from it is needed after the last turn, it
 * is the mean over the turns, weighted by b/B. */
#ifndef TDL_COMPILER_GRAPH_TURNS_H
#define TDL_COMPILER_GRAPH_TURNS_H

#include "base/hash.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/section.h"
#include "kernel/region.h"

typedef struct graph_turns {
	int turns;
	int64_t batch; /* samples of all turns */
	bool statistics; /* some sums are over each turn's own samples */
	/* By tensor: the dimension that time cuts, NONE; the reducer that
	 * combines the turns' parts, RED_NONE if it is not partial. */
	const int *cut;
	const reducer *partial;
	/* By tensor whose turns are combined because something needs it after
	 * the last turn: the copy that is read there, or the tensor itself if
	 * the copy was merged into its reader; else NONE. */
	const tensor_id *total;
	/* By node: the variable that time divides, NONE. */
	const int *divided;
	const section *sections;
} graph_turns;

/* A batch dimension that an option names. */
typedef struct batch_dim {
	const char *input;
	int dim;
} batch_dim;

typedef struct turns_options {
	int turns;
	int nbatch;
	const batch_dim *batch; /* only these; none: those of the model */
	bool statistics; /* each turn may have sums over its own samples */
} turns_options;

/* The graph of one turn of g, in a, for planners: it has the shapes of the
 * smallest turn, and .whole is the same with all samples.  Returns NULL after
 * adding errors: no input has a batch, there are more turns than samples, or an
 * operator needs the whole batch of a value computed in turns. */
graph *graph_in_turns(arena *a, const graph *g, const turns_options *o,
		      diag_sink *s);

/* The graph with one turn, after which everything is computed, so that nothing
 * is divided over time.  Its batch is the model's, or 1. */
const graph *graph_once(arena *a, const graph *g);

/* The number of samples in the batch that o gives; 0 after adding an error. */
int64_t graph_batch(const graph *g, const turns_options *o, diag_sink *s);

/* Checks that the inputs and dimensions that o names exist, each input once;
 * adds an error if not. */
bool graph_has_batch_dims(const graph *g, const turns_options *o, diag_sink *s);

/* The division over time of the remaining parts of a graph, in a: tensors[t]
 * and nodes[n] are new numbers, -1 for removed ones. */
const graph_turns *graph_turns_kept(arena *a, const graph *g,
				    const int *tensors, const int *nodes);

/* The number of runs of a node in a step: one, or one in each turn. */
static inline int graph_runs(const graph *g, node_id n)
{
	bool body = g->turns && g->turns->sections[n] == SECTION_BODY;
	return body ? g->turns->turns : 1;
}

/* A new name for a tensor or node, made from another's name; it is added to
 * `taken'. */
const char *turns_name(arena *a, strmap *taken, const char *of,
		       const char *what);

/* ---- between turns*.c alone --------------------------------------------- */

/* Values of which each turn has its own, by tensor: partial results, with
 * whether nodes of the turn read them too; values without samples that follow
 * from these. */
typedef struct turns_own {
	bool *partial, *derived;
} turns_own;

/* Whether turns may divide variable v of a kernel. */
bool turns_may_divide(const graph_turns *t, const kernel *k, int v);

/* Whether in each turn, of which a kernel computes its part of variable v,
 * input i is read inside of the turn's part of dimension d. */
bool turns_reads_own(const graph_turns *t, const kernel *k, int v, int i,
		     int d);

/* Whether partial results of a type can be combined from turn to turn. */
bool turns_combines(reducer r, dtype type);

/* Finds how time divides g: fills all of *to but turns, batch and total, and
 * *own. by_input: the batch dimension of each tensor, NONE. */
bool turns_find(arena *a, const graph *g, graph_turns *to, const int *by_input,
		bool statistics, turns_own *own, diag_sink *s);

/* By tensor, in a: whether it is needed after the last turn. */
bool *turns_kept(arena *a, const graph *g, const section *sections);

/* Adds to g and *to the copies of combined values, and the nodes that compute
 * them from values of which each turn has its own.  Replaces g's tables. */
void turns_add_totals(arena *a, graph *g, graph_turns *to,
		      const turns_own *own);

/* Samples [*begin, *end) of turn i. */
static inline void turns_samples(const graph_turns *t, int i, int64_t *begin,
				 int64_t *end)
{
	block(0, t->batch, i, t->turns, begin, end);
}

#endif

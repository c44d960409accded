/* Micro-batches: a graph whose batch is divided over time.
 *
 * Time is one more axis along which operators are divided, and each tensor is
 * cut, replicated or partial on it.  An operator that reads a tensor which is
 * cut takes part in every turn, divided along the variable whose blocks read
 * the turn's samples and no others; where that is one of the result, the result
 * is cut, and where it is reduced, partial: the turns' results are combined
 * when the last one has ended.  What reads none of these is the same in all
 * turns, and is computed before them; what reads combined values, behind.
 *
 * What is combined is copied behind the last turn, so that a planner gives it
 * two layouts, as it is added up and as it is read: where the first is partial
 * over the devices, too, they exchange it once.
 *
 * A sum over the batch that is needed inside of the turns, as for a
 * normalisation's mean, is an error; or, where that is asked for, each turn has
 * its own: the sum over its samples times B/b, of B samples in all and b in the
 * turn, and of maxima and the like that of its samples.  So all that follows is
 * what it were if these samples were all, for any extent B that is a part of an
 * expression.  Where something that follows without samples is needed behind
 * the last turn, it is the mean over the turns, weighted by b/B. */
#ifndef TDL_COMPILER_GRAPH_TURNS_H
#define TDL_COMPILER_GRAPH_TURNS_H

#include "base/hash.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/section.h"
#include "kernel/region.h"

typedef struct graph_turns {
	int turns;
	int64_t batch; /* samples of all turns */
	bool statistics; /* some sums are of each turn's own samples */
	/* By tensor: the dimension that time cuts, NONE; and the reducer that
	 * combines the turns' parts, RED_NONE where it is not partial. */
	const int *cut;
	const reducer *partial;
	/* By tensor: where its parts of all turns are combined, since something
	 * needs it behind the last, the copy that is read there, or itself
	 * where that has become a part of what reads it; else NONE. */
	const tensor_id *total;
	/* By node: the variable that time divides, NONE. */
	const int *divided;
	const section *sections;
} graph_turns;

/* The batch dimension of an input that an option names. */
typedef struct batch_dim {
	const char *input;
	int dim;
} batch_dim;

typedef struct turns_options {
	int turns;
	int nbatch;
	const batch_dim *batch; /* these alone; none: those of the model */
	bool statistics; /* each turn may have sums over its own samples */
} turns_options;

/* The graph of one turn of g, for planners: the shapes are those of the
 * smallest turn, .whole is the same with all samples.  NULL when errors
 * were added: no input has a batch, there are more turns than samples, or
 * an operator needs the whole batch of what the turns compute. */
graph *graph_in_turns(arena *a, const graph *g, const turns_options *o,
		      diag_sink *s);

/* The graph with one turn, behind which all is computed: nothing is divided
 * over time.  Its batch is what the model calls so, or 1. */
const graph *graph_once(arena *a, const graph *g);

/* The samples of the batch that o says; 0 when an error was added. */
int64_t graph_batch(const graph *g, const turns_options *o, diag_sink *s);

/* Whether the inputs and dimensions that o names are there, each input once; if
 * not, with an error. */
bool graph_has_batch_dims(const graph *g, const turns_options *o, diag_sink *s);

/* The division over time of what is left of a graph, in a: tensors[t] and
 * nodes[n] are new numbers, -1 for those that are gone. */
const graph_turns *graph_turns_kept(arena *a, const graph *g,
				    const int *tensors, const int *nodes);

/* The runs of a node in a step: one, or one in each turn. */
static inline int graph_runs(const graph *g, node_id n)
{
	bool body = g->turns && g->turns->sections[n] == SECTION_BODY;
	return body ? g->turns->turns : 1;
}

/* A name of a tensor or a node, made of another's, that is not among those
 * that are taken, to which it is added. */
const char *turns_name(arena *a, strmap *taken, const char *of,
		       const char *what);

/* ---- between turns*.c alone --------------------------------------------- */

/* Values that are other ones in each turn, by tensor: of partial results
 * whether nodes of the turn read them, too; and what follows from these without
 * samples. */
typedef struct turns_own {
	bool *partial, *derived;
} turns_own;

/* Says how time divides g: fills all of to but turns, batch and total, and
 * *own; by_input: the batch dimension of each tensor, NONE. */
bool turns_find(arena *a, const graph *g, graph_turns *to, const int *by_input,
		bool statistics, turns_own *own, diag_sink *s);

/* By tensor, in a: whether it is needed behind the last turn. */
bool *turns_kept(arena *a, const graph *g, const section *sections);

/* Adds the copies of what is combined, and the nodes that make it of values
 * that turns have of their own, to g and to, which was found for it; g's tables
 * are replaced. */
void turns_add_totals(arena *a, graph *g, graph_turns *to,
		      const turns_own *own);

/* Samples [*begin, *end) of turn i. */
static inline void turns_samples(const graph_turns *t, int i, int64_t *begin,
				 int64_t *end)
{
	block(0, t->batch, i, t->turns, begin, end);
}

#endif

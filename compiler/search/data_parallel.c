/* The batch everywhere: activations and the operators that compute them are
 * cut along it, everything else is replicated.
 *
 * The batch is the first dimension of the model's inputs.  It is followed
 * through the operators by what they read, never by their names: a variable
 * carries the batch of an input when dividing it into as many parts as the
 * batch has elements makes each part read one element of the batch, its own.
 * So it survives transposes, reshapes and merged dimensions, and ends at a
 * reduction over the batch, whose partial results are combined. */
#include "config.h"

#include "compiler/analysis/strategy.h"
#include "compiler/search/planner.h"

typedef struct batch {
	int k;	       /* devices */
	int *dim;      /* of each tensor; CUT_NONE: it has no batch */
	int *var;      /* of each node; CUT_NONE: none carries the batch */
	int nstranded; /* nodes that read a batch but cannot be cut along it */
	node_id stranded; /* the first of them */
} batch;

/* Whether part p of variable v reads just element p of dimension d. */
static bool reads_part(const kernel *k, int v, int input, int d, int64_t p)
{
	box space = kernel_space(k);
	int64_t n = k->inputs[input].dims[d], all = k->vars[v].extent;
	space.lo[v] = (int64_t)((__int128)p * all / n);
	space.hi[v] = (int64_t)((__int128)(p + 1) * all / n);
	box need = kernel_need(k, &space, input);
	return !box_is_empty(&need) && need.lo[d] == p && need.hi[d] == p + 1;
}

/* Tried on the parts at both ends and in the middle. */
static bool carries(const kernel *k, int v, int input, int d)
{
	int64_t n = k->inputs[input].dims[d];
	const int64_t parts[] = { 0, 1, 2, n / 2, n - 2, n - 1 };
	if (k->vars[v].extent < n)
		return false;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (parts[i] >= 0 && parts[i] < n &&
		    !reads_part(k, v, input, d, parts[i]))
			return false;
	return true;
}

/* The variable that carries the batch of the most inputs, the lowest of them:
 * an output variable rather than a reduction. */
static int find_var(const batch *b, const node *n, bool *reads)
{
	const kernel *k = n->kernel;
	int best = CUT_NONE, most = 0;
	*reads = false;
	for (int v = 0; v < k->nvars; v++) {
		int count = 0;
		for (int i = 0; i < k->ninputs; i++) {
			int d = b->dim[n->inputs[i]];
			*reads |= d != CUT_NONE;
			count += d != CUT_NONE && carries(k, v, i, d);
		}
		if (count > most && strategy_offered(k, v, NULL)) {
			most = count;
			best = v;
		}
	}
	return best;
}

static void *start(arena *a, const graph *g, int k)
{
	batch *b = ARENA_NEW(a, batch);
	b->k = k;
	b->dim = ARENA_ARRAY(a, int, g->ntensors);
	b->var = ARENA_ARRAY(a, int, g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		bool has = x->kind == TENSOR_INPUT && x->type.ndim > 0 &&
			   x->type.dims[0] > 1;
		b->dim[t] = has ? 0 : CUT_NONE;
	}
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		bool reads;
		int v = find_var(b, n, &reads);
		b->var[id] = v;
		b->dim[n->output] = v < n->kernel->nout ? v : CUT_NONE;
		if (v == CUT_NONE && reads && !b->nstranded++)
			b->stranded = id;
	}
	return b;
}

static choices one_of(choices all, int wanted)
{
	return choices_one(choices_have(&all, wanted) ? wanted : CUT_NONE);
}

static choices dims(const void *state, const step *s, tensor_id t)
{
	const batch *b = state;
	return one_of(step_dims(s, t), b->dim[t]);
}

static choices vars(const void *state, const step *s, node_id n)
{
	const batch *b = state;
	return one_of(step_vars(s, n), b->var[n]);
}

/* The tensor with the smallest batch of those that are not cut throughout, and
 * how long it is; -1 where there are none. */
static int64_t short_batch(const batch *b, const graph *g,
			   const search_result *r, int *ninputs)
{
	int64_t least = -1;
	*ninputs = 0;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		if (b->dim[t] == CUT_NONE)
			continue;
		*ninputs += x->kind == TENSOR_INPUT;
		int64_t n = x->type.dims[b->dim[t]];
		if (planner_whole(&r->assignment.tensor_cuts[t],
				  &r->assignment.mesh) &&
		    (least < 0 || n < least))
			least = n;
	}
	return least;
}

static const char *note(arena *a, const void *state, const graph *g,
			const search_result *r)
{
	const batch *b = state;
	int ninputs;
	int64_t n = short_batch(b, g, r, &ninputs);
	if (b->k == 1)
		return NULL;
	if (!ninputs)
		return "no input has a batch, a first dimension of at least 2, "
		       "to divide: every device computes everything";
	const char *tail = "", *head = "";
	if (n >= 0)
		head = arena_printf(a, "a batch of %lld cannot be cut over all "
				    "%d devices", (long long)n, b->k);
	if (b->nstranded)
		tail = arena_printf(a, "%soperators that cannot be cut along "
				    "the batch and run whole on every device: "
				    "%d, the first is '%s'",
				    n >= 0 ? "; " : "", b->nstranded,
				    g->nodes[b->stranded].name);
	return *head || *tail ? arena_printf(a, "%s%s", head, tail) : NULL;
}

const planner planner_data_parallel = {
	.name = "data-parallel",
	.about = "the batch over all devices, parameters replicated",
	.start = start,
	.dims = dims,
	.vars = vars,
	.note = note,
};

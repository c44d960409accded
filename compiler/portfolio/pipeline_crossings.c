#include "config.h"

#include "compiler/portfolio/pipeline_crossings.h"

/* ---- tensors between layers -------------------------------------------- */

/* The layer that makes a tensor in each turn.  -1: it comes with the batch.
 * NONE - 1: neither. */
static int maker_of(const pipeline_layers *l, tensor_id t)
{
	enum { ELSEWHERE = NONE - 1 };
	node_id from = l->g->tensors[t].producer;
	if (from != NONE)
		return l->layer[from] != NONE ? l->layer[from] : ELSEWHERE;
	return l->g->turns->cut[t] != CUT_NONE ? -1 : ELSEWHERE;
}

bool pipeline_is_given(const pipeline_layers *l, tensor_id t, node_id n)
{
	int from = maker_of(l, t);
	return from >= -1 && from < l->layer[n];
}

/* A tensor of forward passes, with the layers that read it in these passes and
 * in later ones. */
typedef struct crossing {
	int maker;
	bool *reads, *keeps; /* by layer; NULL: none */
	double nbytes;
} crossing;

static void note_layer(arena *tmp, const pipeline_layers *l, bool **by,
		       int layer)
{
	if (!*by)
		*by = ARENA_ARRAY(tmp, bool, l->n);
	(*by)[layer] = true;
}

/* Finds the crossings, by tensor. */
static crossing *find_crossings(arena *tmp, const pipeline_layers *l,
				const stage_division *d)
{
	const graph *g = l->g;
	crossing *of = ARENA_ARRAY(tmp, crossing, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		of[t].maker = maker_of(l, t);
		of[t].nbytes = (double)tensor_nbytes(&g->tensors[t].type);
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			crossing *c = &of[g->nodes[n].inputs[i]];
			if (c->maker < -1)
				continue;
			if (l->layer[n] != NONE)
				note_layer(tmp, l, &c->reads, l->layer[n]);
			else if (g->turns->sections[n] == SECTION_BODY &&
				 d->pass[n] != PASS_FORWARD)
				note_layer(tmp, l, &c->keeps, d->stage[n]);
		}
	return of;
}

/* The first of layers [i, n) that is set; n if there is none. */
static int next_layer(const bool *is, int i, int n)
{
	while (i < n && !(is && is[i]))
		i++;
	return i;
}

/* ---- what is the same in all turns ------------------------------------- */

/* Whether a tensor is there before the turns and is the same in all of them. */
static bool is_fixed(const graph *g, tensor_id t)
{
	node_id from = g->tensors[t].producer;
	return g->turns->cut[t] == CUT_NONE &&
	       (from == NONE || g->turns->sections[from] == SECTION_BEFORE);
}

/* By tensor that is fixed: the layers that read it in turns; NULL: none. */
static bool **fixed_readers(arena *tmp, const pipeline_layers *l,
			    const stage_division *d)
{
	const graph *g = l->g;
	bool **of = ARENA_ARRAY(tmp, bool *, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			tensor_id t = g->nodes[n].inputs[i];
			if (g->turns->sections[n] == SECTION_BODY &&
			    is_fixed(g, t))
				note_layer(tmp, l, &of[t], d->stage[n]);
		}
	return of;
}

/* ---- stages ------------------------------------------------------------ */

typedef struct tables {
	int n; /* layers */
	int gradients; /* messages with gradients for each result: 1 or 0 */
	double *given, *again, *before, *behind, *shared, *nreceived, *received;
} tables;

/* Adds a tensor to the stages that begin after the layer that makes it. */
static void add_before(const tables *x, const crossing *c)
{
	int read = x->n, kept = x->n, row = x->n + 1;
	int first = next_layer(c->keeps, 0, x->n);
	for (int i = x->n; i-- > c->maker + 1;) {
		read = c->reads && c->reads[i] ? i : read;
		kept = c->keeps && c->keeps[i] ? i : kept;
		for (int j = read + 1; j <= x->n; j++) {
			x->given[i * row + j] += c->nbytes;
			if (c->maker >= 0)
				x->before[i * row + j] += c->nbytes *
					(x->gradients + (kept >= j));
		}
		for (int j = kept + 1; j <= x->n && i > first; j++)
			x->again[i * row + j] += c->nbytes;
	}
}

/* Adds a tensor to the stages that have the layer that makes it but not the
 * last one that reads it. */
static void add_behind(const tables *x, const crossing *c)
{
	int last = x->n, row = x->n + 1;
	int kept = next_layer(c->keeps, 0, x->n);
	while (last > 0 && !(c->reads && c->reads[last - 1]))
		last--;
	for (int i = 0; i <= c->maker; i++)
		for (int j = c->maker + 1; j < last; j++)
			x->behind[i * row + j] +=
				c->nbytes * (x->gradients + (kept >= j));
}

/* Adds a fixed tensor to the stages that read it.  Those after the first layer
 * that does get it from there, unless each makes its own. */
static void add_shared(const tables *x, const bool *reads, bool is_own,
		       double nbytes)
{
	int read = x->n, row = x->n + 1, first = next_layer(reads, 0, x->n);
	for (int i = x->n; i-- > 0;) {
		read = reads[i] ? i : read;
		for (int j = read + 1; j <= x->n; j++) {
			bool comes = i > first && !is_own;
			x->shared[i * row + j] += nbytes;
			x->nreceived[i * row + j] += comes;
			x->received[i * row + j] += comes ? nbytes : 0;
		}
	}
}

/* Adds all that several layers read.  Returns which these are. */
static bool *share(arena *a, arena *tmp, const tables *x,
		   const pipeline_layers *l, const stage_division *d)
{
	const graph *g = l->g;
	bool *is = ARENA_ARRAY(a, bool, g->ntensors);
	bool **reads = fixed_readers(tmp, l, d);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		int first = next_layer(reads[t], 0, x->n);
		is[t] = first < x->n &&
			next_layer(reads[t], first + 1, x->n) < x->n;
		if (is[t])
			add_shared(x, reads[t],
				   g->tensors[t].producer == NONE &&
					   g->tensors[t].kind != TENSOR_STATE,
				   (double)tensor_nbytes(&g->tensors[t].type));
	}
	return is;
}

const pipeline_crossings *pipeline_crossings_new(arena *a,
						 const pipeline_layers *l,
						 const stage_division *d)
{
	arena *tmp = arena_new();
	pipeline_crossings *to = ARENA_NEW(a, pipeline_crossings);
	size_t all = (size_t)(l->n + 1) * (size_t)(l->n + 1);
	const tables x = { l->n, l->g->training, ARENA_ARRAY(a, double, all),
			 ARENA_ARRAY(a, double, all),
			 ARENA_ARRAY(a, double, all),
			 ARENA_ARRAY(a, double, all),
			 ARENA_ARRAY(a, double, all),
			 ARENA_ARRAY(a, double, all),
			 ARENA_ARRAY(a, double, all) };
	const crossing *of = find_crossings(tmp, l, d);
	for (tensor_id t = 0; t < l->g->ntensors; t++) {
		if (of[t].maker < -1)
			continue;
		add_before(&x, &of[t]);
		add_behind(&x, &of[t]);
	}
	*to = (pipeline_crossings){ x.given, x.again, x.before, x.behind,
				    x.shared, share(a, tmp, &x, l, d),
				    x.nreceived, x.received };
	arena_free(tmp);
	return to;
}

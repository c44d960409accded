/* Makes the graph of one turn. */
#include "config.h"

#include "compiler/graph/turns.h"

#include <inttypes.h>
#include <string.h>

#include "base/hash.h"

/* ---- the batch --------------------------------------------------------- */

static tensor_id find_input(const graph *g, const char *name)
{
	for (int i = 0; i < g->ninputs; i++)
		if (!strcmp(g->tensors[g->inputs[i]].name, name))
			return g->inputs[i];
	return NONE;
}

/* Sets the batch dimensions that options name. */
static bool take_named(const graph *g, const turns_options *o, int *batch,
		       diag_sink *s)
{
	for (int i = 0; i < o->nbatch; i++) {
		const batch_dim *b = &o->batch[i];
		tensor_id t = find_input(g, b->input);
		bool twice = t != NONE && batch[t] != NONE;
		if (t != NONE && !twice && b->dim >= 0 &&
		    b->dim < g->tensors[t].type.ndim) {
			batch[t] = b->dim;
			continue;
		}
		call_error(s, DIAG_NO_BATCH, g->site, g->name,
			   t == NONE ? "%s: there is no input '%s'"
			   : twice   ? "%s: '%s' is named twice"
				     : "%s: '%s' has no dimension %d",
			   diag_option(s, "batch-dim"), b->input, b->dim);
		return false;
	}
	return true;
}

bool graph_has_batch_dims(const graph *g, const turns_options *o, diag_sink *s)
{
	arena *tmp = arena_new();
	int *batch = ARENA_ARRAY(tmp, int, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++)
		batch[t] = NONE;
	bool ok = take_named(g, o, batch, s);
	arena_free(tmp);
	return ok;
}

/* Finds the number of samples: the smallest extent, of which the others have to
 * be multiples. */
static bool find_batch(const graph *g, const turns_options *o, const int *batch,
		       int64_t *n, diag_sink *s)
{
	*n = INT64_MAX;
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (batch[t] != NONE && g->tensors[t].type.dims[batch[t]] < *n)
			*n = g->tensors[t].type.dims[batch[t]];
	if (*n == INT64_MAX)
		call_error(s, DIAG_NO_BATCH, g->site, g->name,
			   "no input has a dimension that the model calls "
			   "its batch; %s NAME=D says which is",
			   diag_option(s, "batch-dim"));
	else if (*n < o->turns)
		call_error(s, DIAG_NO_BATCH, g->site, g->name,
			   "the batch has %" PRId64 " sample%s, fewer than "
			   "%d micro-batches",
			   *n, *n == 1 ? "" : "s", o->turns);
	if (*n == INT64_MAX || *n < o->turns)
		return false;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		if (batch[t] == NONE ||
		    g->tensors[t].type.dims[batch[t]] % *n == 0)
			continue;
		call_error(s, DIAG_NO_BATCH, g->site, g->name,
			   "dimension %d of '%s' is %" PRId64 ", no multiple "
			   "of the %" PRId64 " samples of another input",
			   batch[t], g->tensors[t].name,
			   g->tensors[t].type.dims[batch[t]], *n);
		return false;
	}
	return true;
}

static bool find_dimensions(const graph *g, const turns_options *o, int *batch,
			    int64_t *n, diag_sink *s)
{
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		bool named = x->kind == TENSOR_INPUT && o->nbatch == 0;
		batch[t] = named ? x->batch - 1 : NONE;
	}
	return take_named(g, o, batch, s) && find_batch(g, o, batch, n, s);
}

int64_t graph_batch(const graph *g, const turns_options *o, diag_sink *s)
{
	arena *tmp = arena_new();
	int *batch = ARENA_ARRAY(tmp, int, g->ntensors);
	int64_t n;
	bool found = find_dimensions(g, o, batch, &n, s);
	arena_free(tmp);
	return found ? n : 0;
}

/* ---- kernels of one turn ------------------------------------------------ */

/* A kernel and how turns divide it. */
typedef struct version {
	const kernel *whole, *made;
	int var;
	int cut[MAX_NINPUTS];
} version;

typedef struct shrinker {
	arena *a, *tmp;
	const graph_turns *t;
	VEC(version) versions;
	hash_table by_whole;
} shrinker;

/* The elements of the smallest turn for this extent. */
static int64_t shrunk(const shrinker *x, int64_t extent)
{
	return extent / x->t->batch * (x->t->batch / x->t->turns);
}

static const kernel *shrink(shrinker *x, const version *v)
{
	kernel *k = ARENA_COPY(x->a, v->whole, 1);
	k->vars = ARENA_COPY(x->a, k->vars, k->nvars);
	k->inputs = ARENA_COPY(x->a, k->inputs, k->ninputs);
	if (v->var != NONE)
		k->vars[v->var].extent = shrunk(x, k->vars[v->var].extent);
	for (int i = 0; i < k->ninputs; i++)
		if (v->cut[i] != NONE) {
			int64_t *n = &k->inputs[i].dims[v->cut[i]];
			*n = shrunk(x, *n);
		}
	kernel_finish(x->a, k);
	return k;
}

static bool same_version(const version *x, const version *y)
{
	return x->whole == y->whole && x->var == y->var &&
	       !memcmp(x->cut, y->cut,
		       (size_t)x->whole->ninputs * sizeof(*x->cut));
}

static const kernel *kernel_in_turn(shrinker *x, version *v)
{
	bool same = v->var == NONE;
	for (int i = 0; i < v->whole->ninputs; i++)
		same = same && v->cut[i] == NONE;
	if (same)
		return v->whole;
	uint64_t hash = hash_bytes(HASH_SEED, &v->whole, sizeof(v->whole));
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&x->by_whole, hash, &at)) >= 0;)
		if (same_version(&x->versions.at[i], v))
			return x->versions.at[i].made;
	v->made = shrink(x, v);
	hash_table_add(x->tmp, &x->by_whole, hash, x->versions.n);
	vec_push(x->tmp, &x->versions, *v);
	return v->made;
}

static void shrink_graph(shrinker *x, graph *g)
{
	g->tensors = ARENA_COPY(x->a, g->tensors, g->ntensors);
	g->nodes = ARENA_COPY(x->a, g->nodes, g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (x->t->cut[t] != NONE) {
			int64_t *n = &g->tensors[t].type.dims[x->t->cut[t]];
			*n = shrunk(x, *n);
		}
	for (node_id i = 0; i < g->nnodes; i++) {
		node *n = &g->nodes[i];
		version v = { .whole = n->kernel, .var = x->t->divided[i] };
		for (int j = 0; j < n->kernel->ninputs; j++)
			v.cut[j] = x->t->cut[n->inputs[j]];
		n->kernel = kernel_in_turn(x, &v);
	}
}

graph *graph_in_turns(arena *a, const graph *g, const turns_options *o,
		      diag_sink *s)
{
	shrinker x = { .a = a, .tmp = arena_new() };
	graph_turns *t = ARENA_NEW(a, graph_turns);
	int *batch = ARENA_ARRAY(x.tmp, int, g->ntensors);
	graph *one = NULL;
	turns_own own;
	t->turns = o->turns;
	if (find_dimensions(g, o, batch, &t->batch, s) &&
	    turns_find(a, g, t, batch, o->statistics, &own, s)) {
		graph *whole = ARENA_COPY(a, g, 1);
		turns_add_totals(a, whole, t, &own);
		whole->turns = x.t = t;
		one = ARENA_COPY(a, whole, 1);
		one->whole = whole;
		shrink_graph(&x, one);
	}
	arena_free(x.tmp);
	return one;
}

const graph *graph_once(arena *a, const graph *g)
{
	graph *once = ARENA_COPY(a, g, 1);
	int *cut = ARENA_ARRAY(a, int, g->ntensors);
	tensor_id *total = ARENA_ARRAY(a, tensor_id, g->ntensors);
	int *divided = ARENA_ARRAY(a, int, g->nnodes);
	section *sections = ARENA_ARRAY(a, section, g->nnodes);
	graph_turns *t = ARENA_NEW(a, graph_turns);
	int64_t batch = 1;
	for (tensor_id i = 0; i < g->ntensors; i++) {
		const tensor *x = &g->tensors[i];
		cut[i] = total[i] = NONE;
		if (x->batch > 0 && x->type.dims[x->batch - 1] > batch)
			batch = x->type.dims[x->batch - 1];
	}
	for (node_id n = 0; n < g->nnodes; n++) {
		divided[n] = NONE;
		sections[n] = SECTION_AFTER;
	}
	*t = (graph_turns){ 1, batch, false, cut,
			    ARENA_ARRAY(a, reducer, g->ntensors), total,
			    divided, sections };
	once->turns = t;
	return once;
}

/* The new number of the copy of t's total, or of t if the copy is gone. */
static tensor_id total_kept(const graph *g, const int *tensors, tensor_id t)
{
	tensor_id total = g->turns->total[t];
	if (total != NONE && tensors[total] < 0)
		return tensors[t];
	return total == NONE ? NONE : tensors[total];
}

const graph_turns *graph_turns_kept(arena *a, const graph *g,
				    const int *tensors, const int *nodes)
{
	graph_turns *to = ARENA_COPY(a, g->turns, 1);
	int *cut = ARENA_ARRAY(a, int, g->ntensors);
	reducer *partial = ARENA_ARRAY(a, reducer, g->ntensors);
	tensor_id *total = ARENA_ARRAY(a, tensor_id, g->ntensors);
	int *divided = ARENA_ARRAY(a, int, g->nnodes);
	section *sections = ARENA_ARRAY(a, section, g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (tensors[t] >= 0) {
			cut[tensors[t]] = g->turns->cut[t];
			partial[tensors[t]] = g->turns->partial[t];
			total[tensors[t]] = total_kept(g, tensors, t);
		}
	for (node_id n = 0; n < g->nnodes; n++)
		if (nodes[n] >= 0) {
			divided[nodes[n]] = g->turns->divided[n];
			sections[nodes[n]] = g->turns->sections[n];
		}
	to->cut = cut;
	to->partial = partial;
	to->total = total;
	to->divided = divided;
	to->sections = sections;
	return to;
}

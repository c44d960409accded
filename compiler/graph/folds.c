/* Constants that follow from weights: finds the ones in use, and the tensors
 * from which they can be computed again. */
#include "config.h"

#include <string.h>

#include "base/intern.h"
#include "compiler/graph/builder.h"

void graph_free_weights(graph_builder *b)
{
	b->free_weights = true;
}

static bool is_folded(const built_tensor *x)
{
	return x->t.kind == TENSOR_CONSTANT && x->from;
}

/* The sources of a constant were made before it. */
built_folds build_find_folds(graph_builder *b, const bool *live)
{
	int n = b->tensors.n;
	built_folds f = { ARENA_ARRAY(b->tmp, bool, n + 1),
			  ARENA_ARRAY(b->tmp, bool, n + 1) };
	for (int i = n; i-- > 0;) {
		const built_tensor *x = b->tensors.at[i];
		for (int j = 0; is_folded(x) && (live[i] || f.needed[i]) &&
				j < x->nfrom; j++)
			f.needed[x->from[j]] = true;
	}
	for (int i = 0; i < n; i++) {
		built_tensor *x = b->tensors.at[i];
		if (b->free_weights && x->t.parameter && !x->read &&
		    x->t.kind == TENSOR_CONSTANT && (live[i] || f.needed[i]))
			x->t.kind = TENSOR_STATE;
		f.varies[i] = x->t.kind == TENSOR_STATE;
		for (int j = 0; is_folded(x) && j < x->nfrom; j++)
			f.varies[i] |= f.varies[x->from[j]];
		f.needed[i] |= live[i] && is_folded(x);
	}
	return f;
}

/* Whether folds use a tensor: one that is computed again, or is read for
 * that. */
static bool *find_used(graph_builder *b, const built_folds *f)
{
	bool *used = ARENA_ARRAY(b->tmp, bool, b->tensors.n + 1);
	for (int i = 0; i < b->tensors.n; i++) {
		const built_tensor *x = b->tensors.at[i];
		if (!f->needed[i] || !f->varies[i] || !is_folded(x))
			continue;
		used[i] = true;
		for (int j = 0; j < x->nfrom; j++)
			used[x->from[j]] = true;
	}
	return used;
}

/* Copies a tensor that is not in the graph to the list of kept ones.  Returns
 * its name. */
static const char *keep(graph_builder *b, graph *g, int i, strmap *taken)
{
	tensor *t = &g->kept[g->nkept++];
	*t = b->tensors.at[i]->t;
	t->name = build_unique_name(b, taken, t->name ? t->name : "constant");
	t->producer = t->next = t->gradient_of = NONE;
	return t->name;
}

static void place(graph_builder *b, graph *g, int i, const char *const *names)
{
	const built_tensor *x = b->tensors.at[i];
	graph_fold *to = &g->folds[g->nfolds++];
	to->kernel = x->folded;
	to->output = names[i];
	to->ninputs = x->nfrom;
	to->inputs = ARENA_ARRAY(b->arena, const char *, x->nfrom + 1);
	for (int j = 0; j < x->nfrom; j++)
		to->inputs[j] = names[x->from[j]];
}

void build_place_folds(graph_builder *b, graph *g, const built_folds *f,
		       const tensor_id *number, strmap *taken)
{
	int n = b->tensors.n;
	const bool *used = find_used(b, f);
	const char **names = ARENA_ARRAY(b->tmp, const char *, n + 1);
	g->folds = ARENA_ARRAY(b->arena, graph_fold, n + 1);
	g->kept = ARENA_ARRAY(b->arena, tensor, n + 1);
	for (int i = 0; i < n; i++)
		if (used[i])
			names[i] = number[i] != NONE
					   ? g->tensors[number[i]].name
					   : keep(b, g, i, taken);
	for (int i = 0; i < n; i++)
		if (used[i] && is_folded(b->tensors.at[i]) && f->varies[i])
			place(b, g, i, names);
}

/* ---- what follows ------------------------------------------------------ */

static bool has_tensor(const graph *g, const char *name)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (!strcmp(g->tensors[t].name, name))
			return true;
	return false;
}

const char *graph_folded_to(arena *tmp, const graph *g, const char *name)
{
	strmap *follows = strmap_new(tmp);
	strmap_put(follows, name, follows);
	for (int i = 0; i < g->nfolds; i++) {
		const graph_fold *f = &g->folds[i];
		bool any = false;
		for (int j = 0; j < f->ninputs; j++)
			any = any || strmap_get(follows, f->inputs[j]);
		if (any && has_tensor(g, f->output))
			return f->output;
		if (any)
			strmap_put(follows, f->output, follows);
	}
	return NULL;
}

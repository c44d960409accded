#include "config.h"

#include "compiler/planners/pase_weights.h"

#include <string.h>

/* ---- which there are --------------------------------------------------- */

static bool is_weight(const tensor *t)
{
	return (t->kind == TENSOR_STATE || t->kind == TENSOR_CONSTANT) &&
	       dtype_is_float(t->type.type);
}

shared_weights *pase_weights(arena *a, const graph *g, const bool *forward)
{
	shared_weights *w = ARENA_NEW(a, shared_weights);
	shared_weight *of = ARENA_ARRAY(a, shared_weight, g->ntensors);
	w->inputs = ARENA_ARRAY(a, uint32_t, g->nnodes);
	w->at = ARENA_ARRAY(a, shared_weight, g->ntensors);
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
			of[g->nodes[n].inputs[i]].n += forward[n];
	for (tensor_id t = 0; t < g->ntensors; t++) {
		bool is = of[t].n > 1 && is_weight(&g->tensors[t]);
		of[t].uses = is ? ARENA_ARRAY(a, weight_use, of[t].n) : NULL;
		of[t].n = 0;
	}
	for (node_id n = 0; n < g->nnodes; n++)
		for (int i = 0; i < g->nodes[n].kernel->ninputs; i++) {
			shared_weight *s = &of[g->nodes[n].inputs[i]];
			if (!forward[n] || !s->uses)
				continue;
			s->uses[s->n++] = (weight_use){ n, i };
			w->inputs[n] |= UINT32_C(1) << i;
		}
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (of[t].uses)
			w->at[w->n++] = of[t];
	return w;
}

/* ---- in the problem ---------------------------------------------------- */

typedef VEC(pase_sum) sums;

/* The index of an equal sum in the list; adds the sum if there is none. */
static int place_of(arena *a, sums *all, const pase_sum *s)
{
	for (int i = 0; i < all->n; i++)
		if (pase_sum_equal(&all->at[i], s))
			return i;
	vec_push(a, all, *s);
	return all->n - 1;
}

/* The readers of a weight in one layer.  place: by configuration, the index of
 * their gradient among the sums of all readers. */
typedef struct reader {
	const pase_configs *layer;
	int input;
	int *place;
	const int64_t *table;
} reader;

typedef VEC(reader) readers;

static reader *reader_of(arena *a, readers *all, const pase_configs *l,
			 int input)
{
	for (int i = 0; i < all->n; i++)
		if (all->at[i].layer == l && all->at[i].input == input)
			return &all->at[i];
	reader r = { .layer = l, .input = input };
	vec_push(a, all, r);
	return &all->at[all->n - 1];
}

static void set_places(arena *a, reader *r, sums *all)
{
	r->place = ARENA_ARRAY(a, int, r->layer->n);
	for (int i = 0; i < r->layer->n; i++) {
		pase_sum s = pase_gradient(r->layer->kernel, &r->layer->at[i],
					   r->input);
		r->place[i] = place_of(a, all, &s);
	}
}

/* The reader's cost table, [configuration][0: each reader does its own
 * exchange; 1 + s: joint exchange of sum s]. */
static const int64_t *table_of(arena *a, const reader *r, const sums *all)
{
	int width = 1 + all->n;
	int64_t *table = ARENA_ARRAY(a, int64_t, (size_t)r->layer->n * width);
	for (int i = 0; i < r->layer->n; i++) {
		int64_t *row = table + (size_t)i * width;
		for (int j = 0; j < width; j++)
			row[j] = j == 1 + r->place[i] ?
					 0 :
					 pase_sum_cost(&all->at[r->place[i]]);
	}
	return table;
}

static bool add_weight(arena *a, layers *l, const shared_weight *w)
{
	readers of = { 0 };
	sums all = { 0 };
	for (int i = 0; i < w->n; i++)
		reader_of(a, &of, l->of[w->uses[i].node], w->uses[i].input);
	for (int i = 0; i < of.n; i++)
		set_places(a, &of.at[i], &all);
	for (int i = 0; i < of.n; i++)
		l->cells += (int64_t)of.at[i].layer->n * (1 + all.n);
	if (l->cells > PASE_MOST_CELLS)
		return false;
	for (int i = 0; i < of.n; i++)
		of.at[i].table = table_of(a, &of.at[i], &all);
	int var = problem_add_var(l->problem, 1 + all.n);
	for (int i = 0; i < all.n; i++)
		problem_add_cost(l->problem, var, 1 + i,
				 pase_sum_cost(&all.at[i]));
	for (int i = 0; i < w->n; i++) {
		node_id n = w->uses[i].node;
		const reader *r = reader_of(a, &of, l->of[n],
					    w->uses[i].input);
		problem_add_table(l->problem, n, var, r->table);
	}
	return true;
}

bool pase_weights_add(arena *a, layers *l, const shared_weights *w)
{
	for (int i = 0; i < w->n; i++)
		if (!add_weight(a, l, &w->at[i]))
			return false;
	return true;
}

/* ---- costs ------------------------------------------------------------- */

/* The cost of the readers' exchanges if the readers whose gradient equals *s
 * share one exchange. */
static int64_t cost_together(const pase_sum *of, int n, const pase_sum *s)
{
	int64_t cost = s ? pase_sum_cost(s) : 0;
	for (int i = 0; i < n; i++)
		if (!s || !pase_sum_equal(&of[i], s))
			cost = cost_add(cost, pase_sum_cost(&of[i]));
	return cost;
}

int64_t pase_weights_cost(const graph *g, const shared_weights *w,
			  const counts *of)
{
	int64_t cost = 0;
	for (int i = 0; i < w->n; i++) {
		const shared_weight *s = &w->at[i];
		arena *tmp = arena_new();
		pase_sum *sum = ARENA_ARRAY(tmp, pase_sum, s->n);
		for (int j = 0; j < s->n; j++) {
			node_id n = s->uses[j].node;
			sum[j] = pase_gradient(g->nodes[n].kernel, &of[n],
					       s->uses[j].input);
		}
		int64_t least = cost_together(sum, s->n, NULL);
		sums seen = { 0 };
		for (int j = 0; j < s->n; j++) {
			int before = seen.n;
			if (place_of(tmp, &seen, &sum[j]) < before)
				continue;
			int64_t c = cost_together(sum, s->n, &sum[j]);
			least = c < least ? c : least;
		}
		cost = cost_add(cost, least);
		arena_free(tmp);
	}
	return cost;
}

#include "config.h"

#include "compiler/cost/candidates.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"

/* ---- equal ones are one ------------------------------------------------ */

struct candidate_pool {
	arena *arena;
	VEC(const candidates *) known;
	hash_table by_cuts;
};

candidate_pool *candidate_pool_new(arena *a)
{
	candidate_pool *p = ARENA_NEW(a, candidate_pool);
	p->arena = a;
	return p;
}

static bool same(const candidates *w, const cuts *at, int n)
{
	return w->n == n && !memcmp(w->at, at, sizeof(*at) * (size_t)n);
}

const candidates *candidates_shared(candidate_pool *p, const cuts *at, int n)
{
	uint64_t hash = hash_bytes(HASH_SEED, at, sizeof(*at) * (size_t)n);
	uint32_t probe = 0;
	for (int i; (i = hash_table_next(&p->by_cuts, hash, &probe)) >= 0;)
		if (same(p->known.at[i], at, n))
			return p->known.at[i];
	candidates *w = ARENA_NEW(p->arena, candidates);
	w->n = n;
	w->at = ARENA_COPY(p->arena, at, n);
	hash_table_add(p->arena, &p->by_cuts, hash, p->known.n);
	vec_push(p->arena, &p->known, w);
	return w;
}

/* ---- all of some rules ------------------------------------------------- */

/* A tensor or node whose candidates are known, a model for similar ones. */
typedef struct model {
	tensor_id tensor; /* NONE: a node */
	node_id node;
	const candidates *found;
} model;

/* The state of an enumeration of the choices of one tensor or node, axis after
 * axis. */
typedef struct finder {
	arena *arena;
	const rules *rules;
	assignment as; /* the choices so far */
	step step;
	int naxes, limit;
	VEC(cuts) found;
	bool too_many;
	candidate_pool *pool;
	VEC(model) models;
	hash_table by_key;
} finder;

static choices choices_at(finder *f, tensor_id t, node_id n)
{
	return t != NONE ? rules_dims(f->rules, &f->step, t)
			 : rules_vars(f->rules, &f->step, n);
}

/* Adds all candidates that begin with the choices on the axes before. */
static void enumerate(finder *f, tensor_id t, node_id n, int axis)
{
	cuts *c = t != NONE ? &f->as.tensor_cuts[t] : &f->as.node_cuts[n];
	if (axis == f->naxes) {
		f->too_many |= f->found.n >= f->limit;
		if (!f->too_many)
			vec_push(f->arena, &f->found, *c);
		return;
	}
	f->as.mesh.naxes = axis + 1;
	choices all = choices_at(f, t, n);
	for (int i = 0; i < all.n && !f->too_many; i++) {
		c->dim[axis] = all.at[i];
		enumerate(f, t, n, axis + 1);
		f->as.mesh.naxes = axis + 1;
	}
	c->dim[axis] = CUT_NONE;
}

/* ---- one for those that are alike -------------------------------------- */

static const cuts *now_of(const finder *f, tensor_id t, node_id n)
{
	const assignment *now = f->rules->now;
	return t != NONE ? &now->tensor_cuts[t] : &now->node_cuts[n];
}

/* Whether tensors, or nodes, may be partial in the same ways. */
static bool same_sets(const partial_values *p, const model *m, tensor_id t,
		      node_id n)
{
	return !p || (t != NONE ? p->tensors[m->tensor] == p->tensors[t]
				: p->nodes[m->node] == p->nodes[n]);
}

static uint64_t hash_of(const finder *f, tensor_id t, node_id n)
{
	const graph *g = f->step.g;
	uint64_t h = HASH_SEED;
	if (t != NONE) {
		const tensor_type *type = &g->tensors[t].type;
		h = hash_words(h, (const uint64_t *)type->dims,
			       (size_t)type->ndim);
	} else {
		const uint64_t k = (uintptr_t)g->nodes[n].kernel;
		h = hash_words(h, &k, 1);
	}
	return f->rules->now ? hash_bytes(h, now_of(f, t, n)->dim,
					  (size_t)f->naxes)
			     : h;
}

/* Whether uniform rules cannot distinguish this tensor or node from the
 * model. */
static bool is_like(const finder *f, const model *m, tensor_id t, node_id n)
{
	const graph *g = f->step.g;
	if ((m->tensor == NONE) != (t == NONE) ||
	    !same_sets(f->rules->partial, m, t, n) ||
	    !same_sets(f->rules->sets, m, t, n))
		return false;
	if (f->rules->now && memcmp(now_of(f, m->tensor, m->node)->dim,
				    now_of(f, t, n)->dim, (size_t)f->naxes))
		return false;
	if (t == NONE)
		return g->nodes[m->node].kernel == g->nodes[n].kernel;
	const tensor_type *x = &g->tensors[m->tensor].type;
	const tensor_type *y = &g->tensors[t].type;
	return x->ndim == y->ndim &&
	       !memcmp(x->dims, y->dims, sizeof(*x->dims) * (size_t)x->ndim);
}

static const candidates *find_alone(finder *f, tensor_id t, node_id n)
{
	f->found.n = 0;
	enumerate(f, t, n, 0);
	return candidates_shared(f->pool, f->found.at, f->found.n);
}

static const candidates *find(finder *f, tensor_id t, node_id n)
{
	if (!f->rules->uniform)
		return find_alone(f, t, n);
	uint64_t hash = hash_of(f, t, n);
	uint32_t probe = 0;
	for (int i; (i = hash_table_next(&f->by_key, hash, &probe)) >= 0;)
		if (is_like(f, &f->models.at[i], t, n))
			return f->models.at[i].found;
	const model m = { t, n, find_alone(f, t, n) };
	hash_table_add(f->arena, &f->by_key, hash, f->models.n);
	vec_push(f->arena, &f->models, m);
	return m.found;
}

/* ---- all of a graph ---------------------------------------------------- */

candidate_set candidates_find(arena *a, const graph *g, const mesh *m,
			      const rules *r, int limit)
{
	return candidates_find_in(candidate_pool_new(a), a, g, m, r, limit);
}

candidate_set candidates_find_in(candidate_pool *p, arena *a, const graph *g,
				 const mesh *m, const rules *r, int limit)
{
	finder f = { .arena = a, .rules = r,
		     .as = assignment_undivided(a, g, m),
		     .naxes = m->naxes, .limit = limit,
		     .pool = p };
	candidate_set w = {
		.tensors = ARENA_ARRAY(a, const candidates *, g->ntensors),
		.nodes = ARENA_ARRAY(a, const candidates *, g->nnodes),
		.tied = tied_tensors(a, g)};
	f.step = (step){ g, &f.as };
	for (tensor_id t = 0; t < g->ntensors && !f.too_many; t++)
		w.tensors[t] = w.tied[t] == t ? find(&f, t, NONE)
					      : w.tensors[w.tied[t]];
	for (node_id n = 0; n < g->nnodes && !f.too_many; n++)
		w.nodes[n] = find(&f, NONE, n);
	w.complete = !f.too_many;
	return w;
}

void candidates_take(const candidate_set *w, const graph *g, const int *value,
		     assignment *as)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		as->tensor_cuts[t] = w->tensors[t]->at[value[w->tied[t]]];
	for (node_id n = 0; n < g->nnodes; n++)
		as->node_cuts[n] = w->nodes[n]->at[value[g->ntensors + n]];
}

int candidates_index(const candidates *w, const cuts *c, int naxes)
{
	for (int i = 0; i < w->n; i++)
		if (!memcmp(w->at[i].dim, c->dim, (size_t)naxes))
			return i;
	return -1;
}

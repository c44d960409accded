#include "config.h"

#include "compiler/cost/pair_costs.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/separable.h"

/* The number of groups to enumerate; more only where necessary. */
enum { FEW_GROUPS = 4 };

/* The key of a table: all that distinguishes it from others, as bytes,
 * zero-padded to whole words. */
enum {
	WORD = sizeof(uint64_t),
	MAX_BYTES = sizeof(void *) + 8 + 2 * MAX_AXES + 2 * (1 + MAX_CHOICES),
	MAX_KEY = (MAX_BYTES + WORD - 1) / WORD * WORD,
};

typedef struct key {
	size_t n;
	unsigned char at[MAX_KEY];
} key;

typedef struct entry {
	key key;
	int64_t *table;
} entry;

struct pair_cache {
	arena *arena;
	const mesh *mesh;
	int axis, size, ngroups; /* ngroups: of the axes before */
	VEC(entry) entries;
	hash_table by_key;
};

pair_cache *pair_cache_new(arena *a, const mesh *m)
{
	pair_cache *c = ARENA_NEW(a, pair_cache);
	c->arena = a;
	c->mesh = m;
	c->axis = m->naxes - 1;
	c->size = m->size[c->axis];
	c->ngroups = mesh_workers(m) / c->size;
	return c;
}

/* ---- computing a table ------------------------------------------------- */

/* A group of the axes before, about to be divided. */
typedef struct site {
	const pair_cache *c;
	const pair *p;
	int coords[MAX_AXES];
	box space, stored; /* of the node; of the tensor */
	box needed;	   /* by part coords[axis] of the node */
	int64_t *sum;
} site;

/* Cuts dimension d of b to what part p has; undone by restoring was[]. */
static void narrow(box *b, int d, int p, int size, int64_t was[2])
{
	if (d < 0)
		return;
	was[0] = b->lo[d];
	was[1] = b->hi[d];
	block(was[0], was[1], p, size, &b->lo[d], &b->hi[d]);
}

static void widen(box *b, int d, const int64_t was[2])
{
	if (d < 0)
		return;
	b->lo[d] = was[0];
	b->hi[d] = was[1];
}

/* Adds what one part of the node receives for each choice of the tensor. */
static void add_part(site *s, int var, int64_t *sum)
{
	const pair *p = s->p;
	int axis = s->c->axis;
	cuts tensor_cuts = *p->tensor_cuts, node_cuts = *p->node_cuts;
	result_move r = { s->c->mesh, &tensor_cuts, 0 };
	node_cuts.dim[axis] = (signed char)var;
	for (int i = 0; i < p->dims->n; i++) {
		int64_t was[2], n;
		int d = p->dims->at[i];
		tensor_cuts.dim[axis] = (signed char)d;
		if (!p->inputs)
			r.partial = layout_combined_axes(s->c->mesh, p->kernel,
							 &node_cuts,
							 &tensor_cuts);
		narrow(&s->stored, d, s->coords[axis], s->c->size, was);
		uint32_t zeros = !p->inputs ? 0 :
			layout_zero_axes(s->c->mesh, p->kernel, &node_cuts,
					 p->inputs, &tensor_cuts);
		if (layout_has_zeros(s->c->mesh, zeros, s->coords))
			n = 0;
		else if (p->inputs)
			n = box_volume_less(&s->needed, &s->stored);
		else
			n = byte_model_result(&r, &s->needed, &s->stored,
					      s->coords);
		widen(&s->stored, d, was);
		sum[i] = cost_add(sum[i], cost_clamp(n));
	}
}

/* The region of the tensor that the node reads or produces. */
static box region_of(const pair *p, const box *space)
{
	return p->inputs ? layout_needs(p->kernel, space, p->inputs) :
			   kernel_produces(p->kernel, space);
}

static void add_site(site *s)
{
	const pair *p = s->p;
	int axis = s->c->axis, size = s->c->size;
	for (int i = 0; i < p->vars->n; i++) {
		int v = p->vars->at[i];
		for (int part = 0; part < size; part++) {
			int64_t was[2];
			narrow(&s->space, v, part, size, was);
			if (v >= 0 || part == 0)
				s->needed = region_of(p, &s->space);
			widen(&s->space, v, was);
			s->coords[axis] = part;
			add_part(s, v, s->sum + i * p->dims->n);
		}
	}
}

/* The whole tensor, and the bytes of an element, as the kernel knows them. */
static box tensor_of(const pair *p, int64_t *element)
{
	const kernel *k = p->kernel;
	if (p->inputs) {
		const kinput *in = &k->inputs[__builtin_ctz(p->inputs)];
		*element = (int64_t)dtype_size(in->type);
		return box_whole(in->dims, in->ndim);
	}
	int64_t dims[MAX_NVARS];
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	*element = (int64_t)dtype_size(k->type);
	return box_whole(dims, k->nout);
}

/* Computes the table in elements, group by group. */
static void enumerate(const pair_cache *c, const pair *p, const box *whole,
		      int64_t *table)
{
	box space = kernel_space(p->kernel);
	mesh before = *c->mesh;
	before.naxes = c->axis;
	site s = { .c = c, .p = p, .sum = table };
	for (int g = 0; g < c->ngroups; g++) {
		mesh_coords(&before, g, s.coords);
		s.space = cuts_block(&space, &before, p->node_cuts, c->axis,
				     s.coords);
		s.stored = cuts_block(whole, &before, p->tensor_cuts, c->axis,
				      s.coords);
		add_site(&s);
	}
}

/* Makes choices that do not fit maximally expensive. */
static void exclude(const pair_cache *c, const pair *p, int64_t *table)
{
	cuts tensor_cuts = *p->tensor_cuts, node_cuts = *p->node_cuts;
	for (int i = 0; i < p->vars->n; i++)
		for (int j = 0; j < p->dims->n; j++) {
			node_cuts.dim[c->axis] = p->vars->at[i];
			tensor_cuts.dim[c->axis] = p->dims->at[j];
			if (!layout_fits(c->mesh, p->kernel, &node_cuts,
					 p->inputs, &tensor_cuts))
				table[i * p->dims->n + j] = COST_MAX;
		}
}

static int64_t *compute(pair_cache *c, const pair *p)
{
	int ncells = p->vars->n * p->dims->n;
	int64_t *table = ARENA_ARRAY(c->arena, int64_t, ncells), element;
	box whole = tensor_of(p, &element);
	if (c->ngroups < FEW_GROUPS || !separable_table(c->mesh, p, table)) {
		memset(table, 0, (size_t)ncells * sizeof(*table));
		enumerate(c, p, &whole, table);
	}
	for (int i = 0; i < ncells; i++)
		table[i] = cost_mul(cost_mul(table[i], element), p->runs);
	exclude(c, p, table);
	return table;
}

/* ---- the cache --------------------------------------------------------- */

static void put(key *k, const void *p, size_t n)
{
	memcpy(k->at + k->n, p, n);
	k->n += n;
}

static void put_choices(key *k, const choices *c)
{
	unsigned char n = (unsigned char)c->n;
	put(k, &n, 1);
	put(k, c->at, n);
}

static key key_of(const pair_cache *c, const pair *p)
{
	key k = { 0 };
	put(&k, &p->kernel, sizeof(p->kernel));
	put(&k, &p->inputs, sizeof(p->inputs));
	put(&k, &p->runs, sizeof(p->runs));
	put(&k, p->node_cuts->dim, (size_t)c->axis);
	put(&k, p->tensor_cuts->dim, (size_t)c->axis);
	put_choices(&k, p->vars);
	put_choices(&k, p->dims);
	return k;
}

static uint64_t hash_key(const key *k)
{
	uint64_t words[MAX_KEY / WORD];
	size_t n = (k->n + WORD - 1) / WORD;
	memcpy(words, k->at, n * WORD);
	return hash_words(HASH_SEED, words, n);
}

const int64_t *pair_table(pair_cache *c, const pair *p)
{
	key k = key_of(c, p);
	uint64_t hash = hash_key(&k);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&c->by_key, hash, &at)) >= 0;) {
		const entry *e = &c->entries.at[i];
		if (e->key.n == k.n && !memcmp(e->key.at, k.at, k.n))
			return e->table;
	}
	int64_t *table = compute(c, p);
	hash_table_add(c->arena, &c->by_key, hash, c->entries.n);
	vec_push(c->arena, &c->entries, ((entry){ k, table }));
	return table;
}

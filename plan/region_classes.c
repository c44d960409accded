#include "config.h"

#include "plan/region_classes.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "plan/transfer.h"

/* The values that the formula of a buffer depends on; the others are zero.
 * Without padding, so that keys are compared as bytes. */
typedef struct key {
	int64_t dims[MAX_NDIM];
	const kernel *kernel;
	uint32_t inputs; /* of the kernel that are the tensor, a bit each */
	cuts tensor_cuts, node_cuts;
	int region, type, ndim;
} key;

typedef struct region_class {
	key key;
	plan_buffer buffer; /* one of the class */
	uint32_t axes;	    /* on which its region depends */
	int64_t nbytes;
} region_class;

typedef enum fact_kind {
	FACT_SAME,
	FACT_COVERS,
	FACT_MOVE,
	FACT_COMBINE,
	FACT_RUN,
} fact_kind;

/* A fact about two classes. */
typedef struct fact {
	int kind, x, y;
	int64_t value;
	collective collective; /* of a transfer */
} fact;

struct region_classes {
	arena *a;
	const plan *p;
	VEC(region_class) region_classes;
	VEC(fact) facts;
	hash_table by_key, by_pair; /* by their keys */
};

region_classes *region_classes_new(arena *a, const plan *p)
{
	region_classes *f = ARENA_NEW(a, region_classes);
	f->a = a;
	f->p = p;
	return f;
}

/* ---- classes ----------------------------------------------------------- */

/* The key of a buffer; all of its bytes are defined. */
static void make_key(const plan *p, const plan_buffer *b, key *k)
{
	const plan_tensor *t = &p->tensors[b->tensor];
	memset(k, 0, sizeof(*k));
	k->region = (int)b->region;
	k->type = (int)t->type;
	if (b->region == PLAN_STORED || b->region == PLAN_REDUCED_SHARD) {
		k->tensor_cuts = t->cuts;
		k->ndim = t->ndim;
		memcpy(k->dims, t->dims, (size_t)t->ndim * sizeof(*t->dims));
	}
	if (b->region == PLAN_STORED)
		return;
	const plan_node *n = &p->nodes[b->node];
	k->kernel = p->kernels[n->kernel].kernel;
	k->node_cuts = n->cuts;
	for (int i = 0; b->region == PLAN_NEEDS && i < k->kernel->ninputs; i++)
		if (n->inputs[i] == b->tensor)
			k->inputs |= UINT32_C(1) << i;
}

static uint32_t axes_of(const mesh *m, const key *k)
{
	bool node = k->region != PLAN_STORED;
	bool tensor =
		k->region == PLAN_STORED || k->region == PLAN_REDUCED_SHARD;
	uint32_t axes = 0;
	for (int a = 0; a < m->naxes; a++)
		if ((node && k->node_cuts.dim[a] != CUT_NONE) ||
		    (tensor && k->tensor_cuts.dim[a] != CUT_NONE))
			axes |= UINT32_C(1) << a;
	return axes;
}

/* The next coordinates, counted over some axes; the others are 0. */
static bool next_coords(const mesh *m, uint32_t axes, int *coords)
{
	for (int a = m->naxes - 1; a >= 0; a--) {
		if (!(axes >> a & 1))
			continue;
		if (++coords[a] < m->size[a])
			return true;
		coords[a] = 0;
	}
	return false;
}

static int64_t most_bytes(const region_classes *f, const region_class *x)
{
	int coords[MAX_AXES] = { 0 };
	int64_t most = 0;
	do {
		region r = plan_region_at(f->p, &x->buffer, coords);
		most = r.count > most ? r.count : most;
	} while (next_coords(&f->p->mesh, x->axes, coords));
	return most * (int64_t)dtype_size((dtype)x->key.type);
}

/* By words: the size of a key is a multiple of theirs. */
static uint64_t hash_key(const key *k)
{
	uint64_t words[sizeof(*k) / sizeof(uint64_t)];
	memcpy(words, k, sizeof(words));
	return hash_words(HASH_SEED, words, sizeof(words) / sizeof(*words));
}

int region_class_of(region_classes *f, const plan_buffer *b)
{
	key k;
	make_key(f->p, b, &k);
	uint64_t hash = hash_key(&k);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&f->by_key, hash, &at)) >= 0;)
		if (!memcmp(&f->region_classes.at[i].key, &k, sizeof(k)))
			return i;
	region_class x = { .buffer = *b, .axes = axes_of(&f->p->mesh, &k) };
	memcpy(&x.key, &k, sizeof(k));
	x.nbytes = most_bytes(f, &x);
	hash_table_add(f->a, &f->by_key, hash, f->region_classes.n);
	vec_push(f->a, &f->region_classes, x);
	return f->region_classes.n - 1;
}

int64_t region_class_nbytes(region_classes *f, int x)
{
	return f->region_classes.at[x].nbytes;
}

/* ---- facts ------------------------------------------------------------- */

static uint64_t hash_fact(int kind, int x, int y)
{
	return hash_i64(hash_i64(hash_i64(HASH_SEED, kind), x), y);
}

/* The number of a fact; -1: it is not known yet. */
static int find_fact(const region_classes *f, int kind, int x, int y)
{
	uint64_t hash = hash_fact(kind, x, y);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&f->by_pair, hash, &at)) >= 0;) {
		const fact *k = &f->facts.at[i];
		if (k->kind == kind && k->x == x && k->y == y)
			return i;
	}
	return -1;
}

static void add_fact(region_classes *f, fact x)
{
	hash_table_add(f->a, &f->by_pair, hash_fact(x.kind, x.x, x.y),
		       f->facts.n);
	vec_push(f->a, &f->facts, x);
}

static bool same(const region *x, const region *y)
{
	return (x->count == 0 && y->count == 0) ||
	       (box_equal(&x->at, &y->at) && x->first == y->first &&
		x->count == y->count);
}

/* Whether x covers y; only whole boxes cover. */
static bool covers(const region *x, const region *y)
{
	return y->count == 0 ||
	       (box_contains(&x->at, &y->at) && x->first == 0 &&
		x->count == box_volume(&x->at));
}

/* Whether a predicate holds of the regions on every worker. */
static bool on_all(region_classes *f, fact_kind kind, int x, int y,
		   bool (*holds)(const region *, const region *))
{
	int known = find_fact(f, (int)kind, x, y);
	if (known >= 0)
		return f->facts.at[known].value;
	const region_class *a = &f->region_classes.at[x];
	const region_class *b = &f->region_classes.at[y];
	int coords[MAX_AXES] = { 0 };
	bool all = true;
	do {
		region r = plan_region_at(f->p, &a->buffer, coords);
		region s = plan_region_at(f->p, &b->buffer, coords);
		all = holds(&r, &s);
	} while (all && next_coords(&f->p->mesh, a->axes | b->axes, coords));
	add_fact(f, (fact){ (int)kind, x, y, all, COLL_LOCAL });
	return all;
}

bool region_class_same(region_classes *f, int x, int y)
{
	return x == y || on_all(f, FACT_SAME, x, y, same);
}

bool region_class_cover(region_classes *f, int x, int y)
{
	bool whole = f->region_classes.at[x].key.region != PLAN_REDUCED_SHARD;
	return (x == y && whole) || on_all(f, FACT_COVERS, x, y, covers);
}

/* The class of an instruction's source; of a run, which has none, that of its
 * result before it is stored. */
static int source_class(region_classes *f, const plan *p,
			const plan_instr *in)
{
	if (in->op != PLAN_RUN)
		return region_class_of(f, &p->buffers[in->from]);
	const plan_buffer made = { .tensor = p->nodes[in->node].output,
				   .region = PLAN_PRODUCES,
				   .node = in->node };
	return region_class_of(f, &made);
}

int region_class_instr(region_classes *f, const plan *p, const plan_instr *in)
{
	static const fact_kind kinds[] = { [PLAN_RUN] = FACT_RUN,
					   [PLAN_MOVE] = FACT_MOVE,
					   [PLAN_COMBINE] = FACT_COMBINE };
	fact x = { .kind = (int)kinds[in->op], .x = source_class(f, p, in),
		   .y = region_class_of(f, &p->buffers[in->to]) };
	int known = find_fact(f, x.kind, x.x, x.y);
	if (known >= 0)
		return known;
	if (in->op != PLAN_RUN) {
		x.value = transfer_total(p, in);
		x.collective = transfer_collective(p, in);
	}
	add_fact(f, x);
	return f->facts.n - 1;
}

int64_t region_class_received(region_classes *f, const plan *p,
			      const plan_instr *in)
{
	int what = region_class_instr(f, p, in);
	return f->facts.at[what].value;
}

collective region_class_collective(region_classes *f, const plan *p,
				   const plan_instr *in)
{
	int what = region_class_instr(f, p, in);
	return f->facts.at[what].collective;
}

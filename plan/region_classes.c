#include "config.h"

#include "plan/region_classes.h"

#include <string.h>

#include "base/intern.h"
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

typedef struct form {
	key key;
	plan_buffer buffer; /* one of this form */
	uint32_t axes;	    /* on which its region depends */
	int64_t nbytes;
} form;

typedef enum fact_kind {
	FACT_SAME,
	FACT_COVERS,
	FACT_MOVE,
	FACT_COMBINE,
	FACT_RUN,
} fact_kind;

/* Something known of two forms. */
typedef struct fact {
	int kind, x, y;
	int64_t value;
	collective collective; /* of a transfer */
} fact;

/* Row numbers by the hash of the row's key; 0 is free. */
typedef struct table {
	int *slots;
	size_t nslots; /* a power of two */
} table;

struct region_classes {
	arena *a;
	const plan *p;
	VEC(form) region_classes;
	VEC(fact) facts;
	table of_forms, of_facts;
};

static void table_new(arena *a, table *t, size_t nslots)
{
	t->nslots = nslots;
	t->slots = ARENA_ARRAY(a, int, nslots);
}

region_classes *region_classes_new(arena *a, const plan *p)
{
	region_classes *f = ARENA_NEW(a, region_classes);
	f->a = a;
	f->p = p;
	table_new(a, &f->of_forms, 64);
	table_new(a, &f->of_facts, 64);
	return f;
}

/* ---- forms ------------------------------------------------------------- */

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

static int64_t most_bytes(const region_classes *f, const form *x)
{
	int coords[MAX_AXES] = { 0 };
	int64_t most = 0;
	do {
		region r = plan_region_at(f->p, &x->buffer, coords);
		most = r.count > most ? r.count : most;
	} while (next_coords(&f->p->mesh, x->axes, coords));
	return most * (int64_t)dtype_size((dtype)x->key.type);
}

/* Of words, of which keys have a whole number. */
static size_t hash_key(const key *k)
{
	uint64_t words[sizeof(*k) / sizeof(uint64_t)], h = HASH_SEED;
	memcpy(words, k, sizeof(words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		h = (h ^ words[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return (size_t)h;
}

static int *form_slot(const region_classes *f, const key *k)
{
	size_t mask = f->of_forms.nslots - 1, i = hash_key(k) & mask;
	for (;; i = (i + 1) & mask) {
		int *slot = &f->of_forms.slots[i];
		if (!*slot || !memcmp(&f->region_classes.at[*slot - 1].key, k,
				      sizeof(*k)))
			return slot;
	}
}

static void grow_forms(region_classes *f)
{
	table_new(f->a, &f->of_forms, 2 * f->of_forms.nslots);
	for (int i = 0; i < f->region_classes.n; i++)
		*form_slot(f, &f->region_classes.at[i].key) = i + 1;
}

int region_class_of(region_classes *f, const plan_buffer *b)
{
	key k;
	make_key(f->p, b, &k);
	int *slot = form_slot(f, &k);
	if (*slot)
		return *slot - 1;
	form x = { .buffer = *b, .axes = axes_of(&f->p->mesh, &k) };
	memcpy(&x.key, &k, sizeof(k));
	x.nbytes = most_bytes(f, &x);
	vec_push(f->a, &f->region_classes, x);
	*slot = f->region_classes.n;
	if ((size_t)f->region_classes.n * 2 > f->of_forms.nslots)
		grow_forms(f);
	return f->region_classes.n - 1;
}

int64_t region_class_nbytes(region_classes *f, int x)
{
	return f->region_classes.at[x].nbytes;
}

/* ---- facts ------------------------------------------------------------- */

static int *fact_slot(const region_classes *f, int kind, int x, int y)
{
	size_t mask = f->of_facts.nslots - 1;
	size_t i = hash_i64(hash_i64(hash_i64(HASH_SEED, kind), x), y) & mask;
	for (;; i = (i + 1) & mask) {
		int *slot = &f->of_facts.slots[i];
		const fact *at = *slot ? &f->facts.at[*slot - 1] : NULL;
		if (!at || (at->kind == kind && at->x == x && at->y == y))
			return slot;
	}
}

static void grow_facts(region_classes *f)
{
	table_new(f->a, &f->of_facts, 2 * f->of_facts.nslots);
	for (int i = 0; i < f->facts.n; i++) {
		const fact *x = &f->facts.at[i];
		*fact_slot(f, x->kind, x->x, x->y) = i + 1;
	}
}

static void add_fact(region_classes *f, fact x)
{
	vec_push(f->a, &f->facts, x);
	*fact_slot(f, x.kind, x.x, x.y) = f->facts.n;
	if ((size_t)f->facts.n * 2 > f->of_facts.nslots)
		grow_facts(f);
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
	int slot = *fact_slot(f, (int)kind, x, y);
	if (slot)
		return f->facts.at[slot - 1].value;
	const form *a = &f->region_classes.at[x], *b = &f->region_classes.at[y];
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

/* The form of a run, besides what it writes to, is that of what it makes. */
static int source_form(region_classes *f, const plan_instr *in)
{
	if (in->op != PLAN_RUN)
		return region_class_of(f, &f->p->buffers[in->from]);
	const plan_buffer made = { .tensor = f->p->nodes[in->node].output,
				   .region = PLAN_PRODUCES,
				   .node = in->node };
	return region_class_of(f, &made);
}

int region_class_instr(region_classes *f, const plan_instr *in)
{
	static const fact_kind kinds[] = { [PLAN_RUN] = FACT_RUN,
					   [PLAN_MOVE] = FACT_MOVE,
					   [PLAN_COMBINE] = FACT_COMBINE };
	fact x = { .kind = (int)kinds[in->op], .x = source_form(f, in),
		   .y = region_class_of(f, &f->p->buffers[in->to]) };
	int slot = *fact_slot(f, x.kind, x.x, x.y);
	if (slot)
		return slot - 1;
	if (in->op != PLAN_RUN) {
		x.value = transfer_total(f->p, in);
		x.collective = transfer_collective(f->p, in);
	}
	add_fact(f, x);
	return f->facts.n - 1;
}

int64_t region_class_received(region_classes *f, const plan_instr *in)
{
	int what = region_class_instr(f, in);
	return f->facts.at[what].value;
}

collective region_class_collective(region_classes *f, const plan_instr *in)
{
	int what = region_class_instr(f, in);
	return f->facts.at[what].collective;
}

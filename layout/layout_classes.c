#include "config.h"

#include "layout/layout_classes.h"

#include <string.h>

#include "base/hash.h"
#include "base/vec.h"
#include "layout/product.h"

/* The values on which the formula of a layout depends; others are zero.  Has no
 * padding, so that keys are compared as bytes. */
typedef struct key {
	int64_t dims[MAX_NDIM];
	const kernel *kernel;
	uint32_t inputs, zeros;
	cuts tensor_cuts, space_cuts;
	int kind, type, ndim;
	int tensor_time, space_time;
	int64_t turn[3];
} key;

typedef struct layout_class {
	key key;
	layout layout;	/* has the values of the key */
	uint32_t axes;	/* on which its region depends */
	int64_t nbytes;
} layout_class;

/* The kinds of facts about two classes: the uses, and .. */
enum {
	FACT_SAME = LAYOUT_COMBINE + 1,
	FACT_COVERS,
	FACT_BYTES, /* of one class, in turns */
	NKINDS
};

typedef struct fact {
	int kind, x, y;
	int64_t value;
	collective collective; /* of a transfer */
} fact;

struct layout_classes {
	arena *a;
	mesh mesh;
	VEC(layout_class *) classes;
	VEC(fact) facts;
	hash_table by_key, by_pair; /* by their keys */
};

layout_classes *layout_classes_new(arena *a, const mesh *m)
{
	layout_classes *f = ARENA_NEW(a, layout_classes);
	f->a = a;
	f->mesh = *m;
	return f;
}

/* ---- classes ----------------------------------------------------------- */

/* Sets the turn, which stays 0 for a layout that time does not divide: it is
 * the same in all turns. */
static void set_turn(const layout *l, int time, int *of, int64_t *turn)
{
	if (l->turn.batch == 0 || time == CUT_NONE)
		return;
	*of = 1 + time;
	turn[0] = l->turn.batch;
	turn[1] = l->turn.begin;
	turn[2] = l->turn.end;
}

/* The key of a layout; all of its bytes are defined. */
static void make_key(const layout *l, key *k)
{
	memset(k, 0, sizeof(*k));
	k->kind = (int)l->kind;
	k->type = (int)l->type;
	if (l->kind == LAYOUT_STORED || l->kind == LAYOUT_REDUCED_SHARD) {
		k->tensor_cuts = *l->cuts;
		k->ndim = l->ndim;
		memcpy(k->dims, l->dims, (size_t)l->ndim * sizeof(*l->dims));
		set_turn(l, l->tensor_time, &k->tensor_time, k->turn);
	}
	if (l->kind == LAYOUT_STORED)
		return;
	set_turn(l, l->space_time, &k->space_time, k->turn);
	k->kernel = l->kernel;
	k->space_cuts = *l->space;
	if (l->kind != LAYOUT_NEEDS)
		return;
	k->inputs = l->inputs;
	k->zeros = l->zeros;
}

/* Hashes by words: the size of a key is a multiple of a word's. */
static uint64_t hash_key(const key *k)
{
	uint64_t words[sizeof(*k) / sizeof(uint64_t)];
	memcpy(words, k, sizeof(words));
	return hash_words(HASH_SEED, words, sizeof(words) / sizeof(*words));
}

/* Keeps a layout, borrowing only its kernel. */
static layout_class *class_new(layout_classes *f, const layout *l,
			       const key *k)
{
	layout_class *x = ARENA_NEW(f->a, layout_class);
	memcpy(&x->key, k, sizeof(*k));
	x->layout = *l;
	x->layout.dims = ARENA_COPY(f->a, l->dims, l->ndim);
	x->layout.cuts = &x->key.tensor_cuts;
	x->layout.space = &x->key.space_cuts;
	x->axes = layout_axes(&x->layout, &f->mesh);
	x->nbytes = layout_most_bytes(&x->layout, &f->mesh);
	return x;
}

int layout_class_of(layout_classes *f, const layout *l)
{
	key k;
	make_key(l, &k);
	uint64_t hash = hash_key(&k);
	uint32_t at = 0;
	for (int i; (i = hash_table_next(&f->by_key, hash, &at)) >= 0;)
		if (!memcmp(&f->classes.at[i]->key, &k, sizeof(k)))
			return i;
	hash_table_add(f->a, &f->by_key, hash, f->classes.n);
	vec_push(f->a, &f->classes, class_new(f, l, &k));
	return f->classes.n - 1;
}

int64_t layout_class_nbytes(const layout_classes *f, int x)
{
	return f->classes.at[x]->nbytes;
}

/* ---- facts ------------------------------------------------------------- */

static uint64_t hash_fact(int kind, int x, int y)
{
	return hash_i64(hash_i64(hash_i64(HASH_SEED, kind), x), y);
}

/* The number of a fact; -1 if it is not known yet. */
static int find_fact(const layout_classes *f, int kind, int x, int y)
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

static int add_fact(layout_classes *f, fact x)
{
	hash_table_add(f->a, &f->by_pair, hash_fact(x.kind, x.x, x.y),
		       f->facts.n);
	vec_push(f->a, &f->facts, x);
	return f->facts.n - 1;
}

static bool same(const region *x, const region *y)
{
	return (x->count == 0 && y->count == 0) ||
	       (box_equal(&x->at, &y->at) && x->first == y->first &&
		x->count == y->count);
}

/* Whether x contains y; only whole boxes contain others. */
static bool covers(const region *x, const region *y)
{
	return y->count == 0 ||
	       (box_contains(&x->at, &y->at) && x->first == 0 &&
		x->count == box_volume(&x->at));
}

/* Whether a predicate holds for the regions on every worker. */
static bool on_all(const layout_classes *f, const layout_class *x,
		   const layout_class *y,
		   bool (*holds)(const region *, const region *))
{
	int coords[MAX_AXES] = { 0 };
	bool all = true;
	do {
		region r = layout_region(&x->layout, &f->mesh, coords);
		region s = layout_region(&y->layout, &f->mesh, coords);
		all = holds(&r, &s);
	} while (all && mesh_next(&f->mesh, x->axes | y->axes, coords));
	return all;
}

/* Compares two classes, once. */
static bool compare(layout_classes *f, int kind, int x, int y)
{
	int known = find_fact(f, kind, x, y);
	bool is_same, covering;
	if (known >= 0)
		return f->facts.at[known].value;
	const layout_class *a = f->classes.at[x], *b = f->classes.at[y];
	if (a->key.zeros != b->key.zeros)
		return false;
	arena *tmp = arena_new();
	const product *p = product_of(tmp, &a->layout, &f->mesh);
	const product *q = product_of(tmp, &b->layout, &f->mesh);
	if (!p || !q || !product_compare(p, q, &is_same, &covering)) {
		is_same = kind == FACT_SAME && on_all(f, a, b, same);
		covering = kind == FACT_COVERS && on_all(f, a, b, covers);
	}
	arena_free(tmp);
	bool holds = kind == FACT_SAME ? is_same : covering;
	add_fact(f, (fact){ kind, x, y, holds, COLL_LOCAL });
	return holds;
}

bool layout_class_same(layout_classes *f, int x, int y)
{
	return x == y || compare(f, FACT_SAME, x, y);
}

bool layout_class_cover(layout_classes *f, int x, int y)
{
	bool whole = f->classes.at[x]->layout.kind != LAYOUT_REDUCED_SHARD;
	return (x == y && whole) || compare(f, FACT_COVERS, x, y);
}

/* ---- in turns ---------------------------------------------------------- */

/* The kind of a fact about all of n turns, in each of which a layout has a
 * class. */
static int kind_in_turns(int kind, int n)
{
	return kind + n * NKINDS;
}

/* The class, in turn i of n, of a layout that has class x in one of them. */
static int class_in_turn(layout_classes *f, int x, int n, int i)
{
	layout l = f->classes.at[x]->layout;
	if (l.turn.batch == 0)
		return x;
	l.turn = layout_turn_of(l.turn.batch, n, i);
	return layout_class_of(f, &l);
}

/* Whether a relation holds in all turns, tried in the last one first; computed
 * once. */
static bool holds_in_turns(layout_classes *f, int kind, int x, int y, int n,
			   bool (*holds)(layout_classes *f, int x, int y))
{
	int known = find_fact(f, kind_in_turns(kind, n), x, y);
	bool all = true;
	if (known >= 0)
		return f->facts.at[known].value;
	for (int i = n; i-- > 0 && all;)
		all = holds(f, class_in_turn(f, x, n, i),
			    class_in_turn(f, y, n, i));
	add_fact(f, (fact){ kind_in_turns(kind, n), x, y, all, COLL_LOCAL });
	return all;
}

bool layout_class_same_in_turns(layout_classes *f, int x, int y, int n)
{
	return holds_in_turns(f, FACT_SAME, x, y, n, layout_class_same);
}

bool layout_class_cover_in_turns(layout_classes *f, int x, int y, int n)
{
	return holds_in_turns(f, FACT_COVERS, x, y, n, layout_class_cover);
}

int64_t layout_class_nbytes_in_turns(layout_classes *f, int x, int n)
{
	int kind = kind_in_turns(FACT_BYTES, n);
	int known = find_fact(f, kind, x, x);
	int64_t most = 0;
	if (known >= 0)
		return f->facts.at[known].value;
	for (int i = 0; i < n; i++) {
		int64_t one = layout_class_nbytes(f, class_in_turn(f, x, n, i));
		most = one > most ? one : most;
	}
	add_fact(f, (fact){ kind, x, x, most, COLL_LOCAL });
	return most;
}

/* ---- pairs ------------------------------------------------------------- */

int layout_class_pair(layout_classes *f, layout_use use, int x, int y)
{
	int known = find_fact(f, (int)use, x, y);
	if (known >= 0)
		return known;
	fact found = { (int)use, x, y, 0, COLL_LOCAL };
	if (use != LAYOUT_RUN) {
		const layout_transfer t = { &f->mesh, f->classes.at[x]->layout,
					    f->classes.at[y]->layout,
					    use == LAYOUT_COMBINE };
		found.value = transfer_total(&t);
		found.collective = transfer_collective(&t, found.value);
	}
	return add_fact(f, found);
}

int64_t layout_pair_received(const layout_classes *f, int pair)
{
	return f->facts.at[pair].value;
}

collective layout_pair_collective(const layout_classes *f, int pair)
{
	return f->facts.at[pair].collective;
}

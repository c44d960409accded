/* Tests: layout kernel */
/* layout: what workers need of the inputs of random kernels.  Sums over all
 * workers, transfers and comparisons of classes against a visit of each worker
 * that asks a kernel for one box at a time. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "layout/layout_classes.h"
#include "layout/product.h"
#include "tests/unit/hand_kernels.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

enum {
	TRIALS = 20000,
	MOST_WORKERS = 64,
};

typedef struct scene {
	arena *a;
	rng r;
	kernel *k, *maker; /* which reads the tensor; which makes it */
	mesh m;
	int nworkers, ndim;
	int64_t dims[MAX_NDIM]; /* of the tensor */
	uint32_t inputs, zeros; /* zeros: axes, of a layout */
	cuts space, made, stored;
} scene;

/* ---- random kernels ---------------------------------------------------- */

/* An index that stays in [0, n). */
static kexpr *wrapped(arena *a, kexpr *index, int64_t n)
{
	return kx_fn2(a, FN_MOD, index, kx_int(a, n, DT_I64));
}

/* Keeps the reads without a guard inside their inputs, as those of all kernels
 * are. */
static void keep_inside(arena *a, const kernel *k, kexpr *e)
{
	for (int i = 0; i < e->nargs; i++)
		keep_inside(a, k, e->args[i]);
	if (e->kind != KX_READ || e->guarded)
		return;
	for (int d = 0; d < e->nargs; d++)
		e->args[d] = wrapped(a, e->args[d],
				     k->inputs[e->input].dims[d]);
}

static void add_var(arena *a, kernel *k, kvar v)
{
	kvar *vars = ARENA_ARRAY(a, kvar, k->nvars + 1);
	memcpy(vars, k->vars, (size_t)k->nvars * sizeof(*vars));
	vars[k->nvars++] = v;
	k->vars = vars;
}

/* A variable for the elements of one dimension of an input. */
static void derive(scene *s)
{
	kernel *k = s->k;
	int i = pick(&s->r, 0, k->ninputs - 1);
	const kinput *in = &k->inputs[i];
	if (in->ndim == 0)
		return;
	int d = pick(&s->r, 0, in->ndim - 1);
	k->derived = ARENA_NEW(s->a, kderived);
	k->derived[k->nderived++] = (kderived){ k->nvars, i, d };
	add_var(s->a, k, (kvar){ .name = "derived", .kind = KVAR_DERIVED,
				 .extent = in->dims[d] });
}

static kslice random_slice(scene *s, const recipe *how)
{
	kernel *k = s->k;
	kslice x = { .input = pick(&s->r, 0, k->ninputs - 1) };
	x.ndim = k->inputs[x.input].ndim;
	for (int d = 0; d < x.ndim; d++)
		if (chance(&s->r, 60))
			x.at[d] = wrapped(s->a,
					  random_index(s->a, &s->r, k, how),
					  k->inputs[x.input].dims[d]);
	return x;
}

static void make_opaque(scene *s, const recipe *how)
{
	kernel *k = s->k;
	k->body = NULL;
	k->opaque = k->opaque_symbol = "function";
	k->reducer = RED_NONE;
	k->nslices = pick(&s->r, 1, 3);
	k->slices = ARENA_ARRAY(s->a, kslice, k->nslices);
	for (int i = 0; i < k->nslices; i++)
		k->slices[i] = random_slice(s, how);
}

static void draw_kernel(scene *s)
{
	recipe how = { .max_extent = 7 };
	how.quasi = chance(&s->r, 40);
	how.joint = chance(&s->r, 40);
	how.conditions = chance(&s->r, 50);
	how.data = chance(&s->r, 40);
	how.reduce = chance(&s->r, 70);
	kernel *k = s->k = random_kernel(s->a, &s->r, &how);
	/* The same tensor may be several inputs. */
	for (int i = 1; i < k->ninputs; i++)
		if (k->inputs[i].ndim == k->inputs[0].ndim)
			memcpy(k->inputs[i].dims, k->inputs[0].dims,
			       sizeof(k->inputs[i].dims));
	if (chance(&s->r, 15))
		make_opaque(s, &how);
	else if (chance(&s->r, 60))
		keep_inside(s->a, k, k->body);
	if (k->body && how.data && chance(&s->r, 60))
		derive(s);
	kernel_finish(s->a, k);
}

/* ---- random layouts ---------------------------------------------------- */

static cuts draw_cuts(scene *s, int n)
{
	cuts c = cuts_none();
	for (int a = 0; a < s->m.naxes && n > 0; a++)
		c.dim[a] = (signed char)pick(&s->r, CUT_NONE, n - 1);
	return c;
}

/* One that makes the tensor, of whose variables one or two may be reduced. */
static void draw_maker(scene *s)
{
	int64_t extents[MAX_NVARS];
	int n = s->ndim + pick(&s->r, 0, 2);
	for (int v = 0; v < n; v++)
		extents[v] = v < s->ndim ? s->dims[v] : pick(&s->r, 1, 7);
	s->maker = make_kernel(s->a, DT_I64, s->ndim, n, extents);
	s->maker->reducer = n > s->ndim ? RED_SUM : RED_NONE;
	s->made = draw_cuts(s, n);
}

static void draw_scene(scene *s)
{
	draw_kernel(s);
	s->m.naxes = pick(&s->r, 1, 3);
	for (int a = 0; a < s->m.naxes; a++)
		s->m.size[a] = pick(&s->r, 1, 4);
	s->nworkers = mesh_workers(&s->m);
	int input = pick(&s->r, 0, s->k->ninputs - 1);
	const kinput *in = &s->k->inputs[input];
	s->ndim = in->ndim;
	memcpy(s->dims, in->dims, sizeof(s->dims));
	s->inputs = UINT32_C(1) << input;
	for (int i = 0; i < s->k->ninputs; i++)
		if (s->k->inputs[i].ndim == s->ndim &&
		    !memcmp(s->k->inputs[i].dims, s->dims,
			    (size_t)s->ndim * sizeof(*s->dims)) &&
		    chance(&s->r, 50))
			s->inputs |= UINT32_C(1) << i;
	s->space = draw_cuts(s, s->k->nvars);
	s->stored = draw_cuts(s, s->ndim);
	draw_maker(s);
	/* Along some axes that divide neither what is read nor the reader. */
	for (int a = 0; a < s->m.naxes; a++)
		if (s->space.dim[a] == CUT_NONE &&
		    s->stored.dim[a] == CUT_NONE && chance(&s->r, 50))
			s->zeros |= UINT32_C(1) << a;
}

static layout layout_in(const scene *s, layout_kind kind)
{
	bool needs = kind == LAYOUT_NEEDS;
	return (layout){ .kind = kind, .type = DT_I64, .ndim = s->ndim,
			 .dims = s->dims, .cuts = &s->stored,
			 .kernel = needs ? s->k : s->maker,
			 .space = needs ? &s->space : &s->made,
			 .inputs = s->inputs,
			 .zeros = needs ? s->zeros : 0 };
}

/* ---- a visit of all workers -------------------------------------------- */

/* The region of every worker. */
typedef struct visit {
	region at[MOST_WORKERS];
} visit;

/* The part of a kernel's variables that a worker has: none of any where it has
 * none of one. */
static box own_space(const scene *s, int worker)
{
	int coords[MAX_AXES];
	bool some = true;
	box space = kernel_space(s->k);
	mesh_coords(&s->m, worker, coords);
	for (int a = 0; a < s->m.naxes; a++) {
		int v = s->space.dim[a];
		if (v == CUT_NONE)
			continue;
		int64_t lo = space.lo[v], n = space.hi[v] - lo;
		space.lo[v] = lo + n * coords[a] / s->m.size[a];
		space.hi[v] = lo + n * (coords[a] + 1) / s->m.size[a];
		some = some && space.lo[v] < space.hi[v];
	}
	return some ? space : box_empty(space.n);
}

/* The bounding box of what a worker reads through the inputs. */
static box own_needs(const scene *s, int worker)
{
	box space = own_space(s, worker), all = box_empty(s->ndim);
	for (int i = 0; i < s->k->ninputs; i++) {
		if (!(s->inputs >> i & 1))
			continue;
		box one = kernel_need(s->k, &space, i);
		all = box_hull(&all, &one);
	}
	return all;
}

static void visit_all(const scene *s, const layout *l, visit *v)
{
	for (int w = 0; w < s->nworkers; w++)
		v->at[w] = layout_region_of(l, &s->m, w);
	for (int w = 0; w < s->nworkers && l->kind == LAYOUT_NEEDS; w++) {
		box own = own_needs(s, w);
		ck_assert(box_equal(&own, &v->at[w].at));
		ck_assert_int_eq(v->at[w].first, 0);
		ck_assert_int_eq(v->at[w].count, box_volume(&own));
	}
}

/* ---- comparisons ------------------------------------------------------- */

static void check_sums(const scene *s, const layout *l, const visit *v)
{
	int64_t sum = 0, most = 0;
	for (int w = 0; w < s->nworkers; w++) {
		sum += v->at[w].count;
		most = v->at[w].count > most ? v->at[w].count : most;
	}
	ck_assert_int_eq(layout_elements(l, &s->m), sum);
	ck_assert_int_eq(layout_most_bytes(l, &s->m), 8 * most);
}

/* Whether a worker's owners each give it all that they have, and want the
 * same. */
static bool is_gathered(const scene *s, const layout_transfer *t, int worker,
			const visit *v, const visit *u)
{
	int64_t given[MOST_WORKERS] = { 0 };
	piece *q;
	int n = transfer_pieces(s->a, t, worker, &q);
	for (int i = 0; i < n; i++) {
		given[q[i].peer] += box_volume(&q[i].at);
		if (!box_equal(&u->at[q[i].peer].at, &u->at[worker].at))
			return false;
	}
	for (int i = 0; i < n; i++)
		if (given[q[i].peer] != v->at[q[i].peer].count)
			return false;
	return true;
}

static void check_collective(const scene *s, const layout_transfer *t,
			     int64_t received, const visit *v, const visit *u)
{
	bool gather = received > 0 && t->to.zeros == 0, holds = true;
	for (int w = 0; w < s->nworkers; w++) {
		gather = gather && is_gathered(s, t, w, v, u);
		holds = holds && box_contains(&u->at[w].at, &v->at[w].at);
	}
	collective c = transfer_collective(t, received);
	ck_assert((c == COLL_LOCAL) == (received == 0));
	ck_assert_int_eq(c == COLL_ALL_GATHER, gather);
	ck_assert(c != COLL_HALO || holds);
}

/* Whether a worker is not the first along all axes in the mask. */
static bool is_later(const scene *s, uint32_t axes, int worker)
{
	for (int a = s->m.naxes - 1; a >= 0; a--) {
		if ((axes >> a & 1) && worker % s->m.size[a] > 0)
			return true;
		worker /= s->m.size[a];
	}
	return false;
}

/* Of all that the worker wants nothing is copied. */
static void check_zeros(const scene *s, const layout_transfer *t, int worker,
			const box *want)
{
	piece *q;
	int64_t count = 0;
	int n = transfer_pieces(s->a, t, worker, &q);
	for (int i = 0; i < n; i++) {
		ck_assert(q[i].zeros && q[i].peer == worker && !q[i].add);
		ck_assert(box_contains(want, &q[i].at));
		count += box_volume(&q[i].at);
	}
	ck_assert_int_le(n, 1);
	ck_assert_int_eq(count, box_volume(want));
}

/* Returns the bytes. */
static int64_t check_transfer(const scene *s, const layout *from,
			      const visit *v, const layout *to, const visit *u)
{
	layout_transfer t = { &s->m, *from, *to, false };
	int64_t total = 0;
	for (int w = 0; w < s->nworkers; w++) {
		int64_t held = region_held(&v->at[w], &u->at[w].at);
		int64_t bytes = 8 * (u->at[w].count - held);
		if (is_later(s, to->zeros, w)) {
			check_zeros(s, &t, w, &u->at[w].at);
			bytes = 0;
		}
		ck_assert_int_eq(transfer_bytes(&t, w), bytes);
		total += bytes;
	}
	ck_assert_int_eq(transfer_total(&t), total);
	check_collective(s, &t, total, v, u);
	return total;
}

static bool is_same(const region *x, const region *y)
{
	return (x->count == 0 && y->count == 0) ||
	       (box_equal(&x->at, &y->at) && x->first == y->first &&
		x->count == y->count);
}

/* Only a whole box covers. */
static bool is_cover(const region *x, const region *y)
{
	return y->count == 0 || (x->count == box_volume(&x->at) &&
				 box_contains(&x->at, &y->at));
}

static void check_classes(const scene *s, const layout *x, const visit *v,
			  const layout *y, const visit *u)
{
	layout_classes *f = layout_classes_new(s->a, &s->m);
	int a = layout_class_of(f, x), b = layout_class_of(f, y);
	bool same = x->zeros == y->zeros, cover = same, back = same;
	for (int w = 0; w < s->nworkers; w++) {
		same = same && is_same(&v->at[w], &u->at[w]);
		cover = cover && is_cover(&v->at[w], &u->at[w]);
		back = back && is_cover(&u->at[w], &v->at[w]);
	}
	ck_assert_int_eq(layout_class_same(f, a, b), same);
	ck_assert_int_eq(layout_class_same(f, b, a), same);
	ck_assert_int_eq(layout_class_cover(f, a, b), cover);
	ck_assert_int_eq(layout_class_cover(f, b, a), back);
}

/* ---- tests ------------------------------------------------------------- */

typedef struct tally {
	int trials, products, moved, several, opaque, derived, empty, runs;
	int zeros;
} tally;

static void count(tally *n, const scene *s, const layout *needs,
		  const visit *v, int64_t moved)
{
	int64_t sum, most;
	const product *p = product_of(s->a, needs, &s->m);
	bool empty = false;
	for (int w = 0; w < s->nworkers; w++)
		empty = empty || v->at[w].count == 0;
	n->trials++;
	n->products += p && product_elements(p, &sum, &most);
	n->moved += moved > 0;
	n->zeros += needs->zeros != 0;
	n->several += (s->inputs & (s->inputs - 1)) != 0;
	n->opaque += !s->k->body;
	n->derived += s->k->nderived > 0;
	n->empty += empty;
}

static void try_one(tally *n, scene *s)
{
	visit needs, stored, own, made;
	const layout to = layout_in(s, LAYOUT_NEEDS);
	const layout at = layout_in(s, LAYOUT_STORED);
	const layout share = layout_in(s, LAYOUT_REDUCED_SHARD);
	const layout out = layout_in(s, LAYOUT_PRODUCES);
	visit_all(s, &to, &needs);
	visit_all(s, &at, &stored);
	visit_all(s, &share, &own);
	visit_all(s, &out, &made);
	check_sums(s, &to, &needs);
	check_sums(s, &share, &own);
	int64_t moved = check_transfer(s, &at, &stored, &to, &needs);
	layout all = to;
	all.zeros = 0;
	check_classes(s, &to, &needs, &all, &needs);
	check_transfer(s, &share, &own, &all, &needs);
	check_transfer(s, &out, &made, &all, &needs);
	check_classes(s, &to, &needs, &at, &stored);
	check_classes(s, &to, &needs, &share, &own);
	check_classes(s, &to, &needs, &out, &made);
	check_classes(s, &share, &own, &at, &stored);
	count(n, s, &to, &needs, moved);
	for (int w = 0; w < s->nworkers; w++)
		if (own.at[w].count < box_volume(&own.at[w].at)) {
			n->runs++;
			break;
		}
}

START_TEST(needs_equal_visits)
{
	tally n = { 0 };
	for (int seed = 0; seed < TRIALS; seed++) {
		outside o;
		if (!sampled(seed))
			continue;
		scene s = { .a = arena_new(), .r = { (uint64_t)seed } };
		draw_scene(&s);
		if (!kernel_reads_outside(s.k, &o))
			try_one(&n, &s);
		arena_free(s.a);
	}
	ck_assert_int_gt(n.trials, at_least(10000));
	ck_assert_int_gt(n.products, at_least(5000));
	ck_assert_int_gt(n.moved, at_least(3000));
	ck_assert_int_gt(n.several, at_least(1000));
	ck_assert_int_gt(n.opaque, at_least(1000));
	ck_assert_int_gt(n.derived, at_least(500));
	ck_assert_int_gt(n.empty, at_least(1000));
	ck_assert_int_gt(n.zeros, at_least(1000));
	ck_assert_int_gt(n.runs, at_least(500));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("layout_needs");
	TCase *t = tcase_create("layout_needs");
	tcase_add_test(t, needs_equal_visits);
	suite_add_tcase(s, t);
	return s;
}

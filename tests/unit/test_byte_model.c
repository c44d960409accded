/* Tests: compiler/cost */
/* compiler/cost: the byte model, against a simulation that keeps a set of
 * elements per worker and counts what is needed and not there. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/cost/byte_model.h"
#include "compiler/cost/formulate.h"
#include "tests/unit/graphs.h"
#include "tests/unit/suite.h"

/* ---- the judge --------------------------------------------------------- */

enum { MAX_WORKERS = 16, MAX_ELEMENTS = 4096 };

typedef struct set {
	bool has[MAX_ELEMENTS];
} set;

typedef struct judge {
	const graph *g;
	const assignment *as;
	int naxes, nworkers;
} judge;

/* A worker's coordinate on an axis, out of the mixed radix. */
static int coordinate(const judge *j, int worker, int axis)
{
	for (int a = j->naxes - 1; a > axis; a--)
		worker /= j->as->mesh.size[a];
	return worker % j->as->mesh.size[axis];
}

/* Narrows [lo, hi) to the block that a worker has of dimension d, cut by those
 * of the axes that are in the mask. */
static void nested(const judge *j, const cuts *c, uint32_t axes, int d,
		   int worker, int64_t *lo, int64_t *hi)
{
	for (int a = 0; a < j->naxes; a++) {
		if (c->dim[a] != d || !(axes >> a & 1))
			continue;
		int64_t p = coordinate(j, worker, a), n = *hi - *lo;
		int64_t k = j->as->mesh.size[a], first = *lo;
		*lo = first + p * n / k;
		*hi = first + (p + 1) * n / k;
	}
}

static int64_t count_elements(const tensor_type *t)
{
	int64_t n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= t->dims[d];
	ck_assert_int_le(n, MAX_ELEMENTS);
	return n;
}

/* All elements of a tensor inside the intervals. */
static void fill(const tensor_type *t, const int64_t *lo, const int64_t *hi,
		 set *s)
{
	int64_t n = count_elements(t);
	memset(s, 0, sizeof(*s));
	for (int64_t e = 0; e < n; e++) {
		int64_t rest = e;
		s->has[e] = true;
		for (int d = t->ndim - 1; d >= 0; d--) {
			int64_t x = rest % t->dims[d];
			rest /= t->dims[d];
			s->has[e] &= x >= lo[d] && x < hi[d];
		}
	}
}

static int64_t missing(const set *want, const set *have)
{
	int64_t n = 0;
	for (int e = 0; e < MAX_ELEMENTS; e++)
		n += want->has[e] && !have->has[e];
	return n;
}

static int64_t size_of(const set *s)
{
	static const set nothing;
	return missing(s, &nothing);
}

static void stored(const judge *j, tensor_id id, int worker, set *s)
{
	const tensor_type *t = &j->g->tensors[id].type;
	int64_t lo[MAX_NDIM] = { 0 }, hi[MAX_NDIM];
	for (int d = 0; d < t->ndim; d++) {
		hi[d] = t->dims[d];
		nested(j, &j->as->tensor_cuts[id], ~0u, d, worker, &lo[d],
		       &hi[d]);
	}
	fill(t, lo, hi, s);
}

typedef struct bounds {
	bool some;
	int64_t lo[MAX_NDIM], hi[MAX_NDIM];
} bounds;

static int64_t index_value(const kexpr *e, const int64_t *point)
{
	if (e->kind == KX_INT)
		return e->i;
	if (e->kind == KX_VAR)
		return point[e->var];
	int64_t x = index_value(e->args[0], point);
	int64_t y = index_value(e->args[1], point);
	switch (e->fn) {
	case FN_ADD:
		return x + y;
	case FN_SUB:
		return x - y;
	case FN_MUL:
		return x * y;
	case FN_DIV:
		return x / y;
	case FN_MOD:
		return x % y;
	default:
		ck_abort_msg("an index that the judge does not know");
	}
}

/* The index of a read in dimension d, [lo, hi): one value, or where it depends
 * on data all that the worker is responsible for. */
static void index_range(const kernel *k, const kexpr *read, int d,
			const int64_t *point, const int64_t *vlo,
			const int64_t *vhi, int64_t *lo, int64_t *hi)
{
	if (!kx_has_read(read->args[d])) {
		*lo = index_value(read->args[d], point);
		*hi = *lo + 1;
		return;
	}
	*lo = 0;
	*hi = k->inputs[read->input].dims[d];
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].input == read->input &&
		    k->derived[i].dim == d) {
			*lo = vlo[k->derived[i].var];
			*hi = vhi[k->derived[i].var];
		}
}

typedef struct read_list {
	int n;
	const kexpr *at[8];
} read_list;

/* The reads of tensor id in e. */
static void list_reads(const node *n, tensor_id id, const kexpr *e,
		       read_list *l)
{
	for (int i = 0; i < e->nargs; i++)
		list_reads(n, id, e->args[i], l);
	if (e->kind != KX_READ || n->inputs[e->input] != id)
		return;
	ck_assert_int_lt(l->n, 8);
	l->at[l->n++] = e;
}

/* Grows the bounds by the indices of a read at a point. */
static void see(const kernel *k, const kexpr *read, const int64_t *point,
		const int64_t *vlo, const int64_t *vhi, bounds *b)
{
	int64_t lo[MAX_NDIM], hi[MAX_NDIM];
	for (int d = 0; d < kx_ndim(read); d++) {
		index_range(k, read, d, point, vlo, vhi, &lo[d], &hi[d]);
		if (!b->some || lo[d] < b->lo[d])
			b->lo[d] = lo[d];
		if (!b->some || hi[d] > b->hi[d])
			b->hi[d] = hi[d];
	}
	b->some = true;
}

/* Grows `all` by the part of the bounds that is inside of the tensor; those of
 * a guarded read may be outside. */
static void add_inside(const tensor_type *t, const bounds *b, bounds *all)
{
	bounds in = *b;
	for (int d = 0; d < t->ndim; d++) {
		in.lo[d] = in.lo[d] < 0 ? 0 : in.lo[d];
		in.hi[d] = in.hi[d] > t->dims[d] ? t->dims[d] : in.hi[d];
		if (in.lo[d] >= in.hi[d])
			return;
	}
	for (int d = 0; d < t->ndim; d++) {
		if (!all->some || in.lo[d] < all->lo[d])
			all->lo[d] = in.lo[d];
		if (!all->some || in.hi[d] > all->hi[d])
			all->hi[d] = in.hi[d];
	}
	all->some = true;
}

/* Fills s with the elements that a worker reads of a tensor: at every point of
 * its part, read by read. */
static void needed(const judge *j, const node *n, const cuts *c, tensor_id id,
		   int worker, set *s)
{
	const kernel *k = n->kernel;
	const tensor_type *t = &j->g->tensors[id].type;
	int64_t lo[MAX_NVARS] = { 0 }, hi[MAX_NVARS], at[MAX_NVARS];
	bounds all = { 0 };
	read_list reads = { 0 };
	int nloops = k->nvars - k->nderived, v;
	for (v = 0; v < k->nvars; v++) {
		hi[v] = k->vars[v].extent;
		nested(j, c, ~0u, v, worker, &lo[v], &hi[v]);
		ck_assert(lo[v] < hi[v]);
	}
	list_reads(n, id, k->body, &reads);
	for (int i = 0; i < reads.n; i++) {
		bounds b = { 0 };
		memcpy(at, lo, sizeof(at));
		do {
			see(k, reads.at[i], at, lo, hi, &b);
			for (v = 0; v < nloops && ++at[v] == hi[v]; v++)
				at[v] = lo[v];
		} while (v < nloops);
		add_inside(t, &b, &all);
	}
	memset(s, 0, sizeof(*s));
	if (all.some)
		fill(t, all.lo, all.hi, s);
}

/* The axes that cut a variable of another kind than output. */
static uint32_t partial_axes(const judge *j, const kernel *k, const cuts *c)
{
	uint32_t axes = 0;
	for (int a = 0; a < j->naxes; a++)
		if (c->dim[a] >= k->nout)
			axes |= 1u << a;
	return axes;
}

/* The part of a partial result that a worker combines. */
static void owned(const judge *j, const node *n, const cuts *c, uint32_t axes,
		  int worker, set *s)
{
	const tensor_type *t = &j->g->tensors[n->output].type;
	const cuts *to = &j->as->tensor_cuts[n->output];
	int64_t lo[MAX_NDIM] = { 0 }, hi[MAX_NDIM];
	for (int d = 0; d < t->ndim; d++) {
		hi[d] = t->dims[d];
		nested(j, c, ~0u, d, worker, &lo[d], &hi[d]);
		nested(j, to, axes, d, worker, &lo[d], &hi[d]);
	}
	fill(t, lo, hi, s);
	int64_t rank = 0, nranks = 1, total = size_of(s), seen = 0;
	for (int a = 0; a < j->naxes; a++)
		if ((axes >> a & 1) && to->dim[a] == CUT_NONE) {
			rank = rank * j->as->mesh.size[a] +
			       coordinate(j, worker, a);
			nranks *= j->as->mesh.size[a];
		}
	for (int e = 0; e < MAX_ELEMENTS; e++)
		if (s->has[e]) {
			s->has[e] = seen >= rank * total / nranks &&
				    seen < (rank + 1) * total / nranks;
			seen++;
		}
}

static int64_t judge_result(const judge *j, const node *n, const cuts *c,
			    int worker)
{
	const tensor_type *t = &j->g->tensors[n->output].type;
	uint32_t axes = partial_axes(j, n->kernel, c);
	int64_t share = 1;
	static set own, block;
	owned(j, n, c, axes, worker, &own);
	stored(j, n->output, worker, &block);
	for (int a = 0; a < j->naxes; a++)
		share *= axes >> a & 1 ? j->as->mesh.size[a] : 1;
	return ((share - 1) * size_of(&own) + missing(&block, &own)) *
	       (int64_t)dtype_size(t->type);
}

static int64_t judge_node(const judge *j, node_id id)
{
	const node *n = &j->g->nodes[id];
	const cuts *c = &j->as->node_cuts[id];
	static set want, have;
	int64_t sum = 0;
	for (int w = 0; w < j->nworkers; w++) {
		for (int i = 0; i < n->kernel->ninputs; i++) {
			tensor_id t = n->inputs[i];
			bool again = false;
			for (int o = 0; o < i; o++)
				again |= n->inputs[o] == t;
			if (again)
				continue;
			needed(j, n, c, t, w, &want);
			stored(j, t, w, &have);
			sum += missing(&want, &have) *
			       (int64_t)dtype_size(j->g->tensors[t].type.type);
		}
		sum += judge_result(j, n, c, w);
	}
	return sum;
}

/* ---- tests ------------------------------------------------------------- */

static const mesh meshes[] = {
	{ 1, { 2 } },    { 1, { 3 } },	     { 1, { 5 } },
	{ 2, { 2, 2 } }, { 2, { 3, 2 } },    { 3, { 2, 2, 2 } },
	{ 2, { 5, 3 } }, { 4, { 2, 2, 2, 2 } },
};

enum { NMESHES = sizeof(meshes) / sizeof(meshes[0]) };

static int any_of(rng *r, choices c)
{
	return chance(r, 15) ? CUT_NONE : c.at[pick(r, 0, c.n - 1)];
}

/* Cuts everything at random, as far as it may be cut; whole now and then. */
static assignment random_assignment(arena *a, rng *r, const graph *g,
				    const mesh *m)
{
	assignment as = { .tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors),
			  .node_cuts = ARENA_ARRAY(a, cuts, g->nnodes) };
	step s = { g, &as };
	for (int t = 0; t < g->ntensors; t++)
		as.tensor_cuts[t] = cuts_none();
	for (int n = 0; n < g->nnodes; n++)
		as.node_cuts[n] = cuts_none();
	for (int i = 0; i < m->naxes; i++) {
		as.mesh.size[as.mesh.naxes++] = m->size[i];
		for (int t = 0; t < g->ntensors; t++)
			as.tensor_cuts[t].dim[i] =
				(signed char)any_of(r, step_dims(&s, t));
		for (int n = 0; n < g->nnodes; n++)
			as.node_cuts[n].dim[i] =
				(signed char)any_of(r, step_vars(&s, n));
	}
	return as;
}

START_TEST(model_equals_the_judge)
{
	rng r = { 1000 + (uint64_t)_i };
	const mesh *m = &meshes[_i];
	int64_t all = 0;
	for (int round = 0; round < 100; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 5);
		assignment as = random_assignment(a, &r, g, m);
		judge j = { g, &as, 0, 1 };
		for (j.naxes = 0; j.naxes <= m->naxes; j.naxes++) {
			for (node_id n = 0; n < g->nnodes; n++) {
				int64_t is = byte_model_node(g, &as, n,
							     j.naxes);
				int64_t want = judge_node(&j, n);
				all += want;
				ck_assert_msg(is == want,
					      "round %d, %d axes, node %d, "
					      "%s: %lld, the judge says %lld",
					      round, j.naxes, n,
					      g->nodes[n].kernel->name,
					      (long long)is, (long long)want);
			}
			j.nworkers *= m->size[j.naxes];
		}
		arena_free(a);
	}
	ck_assert_int_gt(all, 0);
}
END_TEST

/* The shares of a partial result are a partition of it: the model's own count
 * of combining is (share - 1) times what all produce, per share. */
START_TEST(shares_are_a_partition)
{
	rng r = { 5 };
	for (int round = 0; round < 200; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 3);
		const mesh *m = &meshes[pick(&r, 0, NMESHES - 1)];
		assignment as = random_assignment(a, &r, g, m);
		judge j = { g, &as, m->naxes, mesh_workers(m) };
		for (node_id n = 0; n < g->nnodes; n++) {
			const cuts *c = &as.node_cuts[n];
			const kernel *k = g->nodes[n].kernel;
			uint32_t axes = partial_axes(&j, k, c);
			int64_t own = 0, whole = 1, copies = 1;
			static set s;
			for (int w = 0; w < j.nworkers; w++) {
				owned(&j, &g->nodes[n], c, axes, w, &s);
				own += size_of(&s);
			}
			for (int d = 0; d < k->nout; d++)
				whole *= kernel_dim(k, d);
			for (int i = 0; i < m->naxes; i++)
				if (c->dim[i] == CUT_NONE)
					copies *= m->size[i];
			ck_assert_int_eq(own, whole * copies);
		}
		arena_free(a);
	}
}
END_TEST

/* A matmul of even sizes: out and both inputs are 4096 bytes. */
typedef struct example {
	graph *g;
	assignment as;
} example;

enum { BYTES = 32 * 32 * 4 };

static example square_matmul(arena *a, int naxes, int size)
{
	graph_maker m = { .a = a };
	const int64_t dims[] = { 32, 32 };
	tensor_id in[2];
	in[0] = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, dims);
	in[1] = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 2, dims);
	add_node(&m, kernel_matmul(a, 32, 32, 32, false), in);
	example e = { .g = make_graph(&m) };
	e.as.tensor_cuts = ARENA_ARRAY(a, cuts, 3);
	e.as.node_cuts = ARENA_ARRAY(a, cuts, 1);
	for (int t = 0; t < 3; t++)
		e.as.tensor_cuts[t] = cuts_none();
	e.as.node_cuts[0] = cuts_none();
	e.as.mesh.naxes = naxes;
	for (int i = 0; i < naxes; i++)
		e.as.mesh.size[i] = size;
	return e;
}

/* The table of one even step. i, j and k are variables 0, 1, 2. */
START_TEST(one_even_step)
{
	enum { WHOLE = CUT_NONE };
	const int k = 4;
	static const struct {
		int a, b, out, var;
		int64_t bytes; /* in units of BYTES / 4 */
	} cases[] = {
		/* a: rows are cut, rows are needed; b, whole, is needed */
		{ 0, WHOLE, 0, 0, 0 },
		/* a: columns are cut, rows are needed: S (k-1) / k */
		{ 1, WHOLE, 0, 0, 3 },
		/* b: rows are cut, all is needed: S (k-1) */
		{ 0, 0, 0, 0, 12 },
		/* out: rows are computed, columns are stored: S (k-1) / k */
		{ 0, WHOLE, 1, 0, 3 },
		/* out: rows are computed, all is stored: S (k-1) */
		{ 0, WHOLE, WHOLE, 0, 12 },
		/* whole to cut costs nothing */
		{ WHOLE, WHOLE, 0, WHOLE, 0 },
		{ WHOLE, WHOLE, 1, WHOLE, 0 },
		{ WHOLE, WHOLE, WHOLE, WHOLE, 0 },
		/* partial to cut, reduce-scatter: S (k-1) */
		{ 1, 0, 0, 2, 12 },
		{ 1, 0, 1, 2, 12 },
		/* partial to whole, all-reduce: 2 S (k-1) */
		{ 1, 0, WHOLE, 2, 24 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		arena *a = arena_new();
		example e = square_matmul(a, 1, k);
		e.as.tensor_cuts[0].dim[0] = (signed char)cases[i].a;
		e.as.tensor_cuts[1].dim[0] = (signed char)cases[i].b;
		e.as.tensor_cuts[2].dim[0] = (signed char)cases[i].out;
		e.as.node_cuts[0].dim[0] = (signed char)cases[i].var;
		ck_assert_msg(byte_model_total(e.g, &e.as, 1) ==
				      cases[i].bytes * (BYTES / 4),
			      "case %zu: %lld", i,
			      (long long)byte_model_total(e.g, &e.as, 1));
		ck_assert_int_eq(byte_model_total(e.g, &e.as, 0), 0);
		arena_free(a);
	}
}
END_TEST

/* Partial on both axes of 2 x 2: the axes are combined jointly. */
START_TEST(axes_are_combined_jointly)
{
	arena *a = arena_new();
	example e = square_matmul(a, 2, 2);
	e.as.node_cuts[0].dim[0] = e.as.node_cuts[0].dim[1] = 2;
	e.as.tensor_cuts[0].dim[0] = e.as.tensor_cuts[0].dim[1] = 1;
	e.as.tensor_cuts[1].dim[0] = e.as.tensor_cuts[1].dim[1] = 0;
	ck_assert_int_eq(byte_model_total(e.g, &e.as, 2), 6 * BYTES);
	e.as.tensor_cuts[2].dim[0] = 0;
	ck_assert_int_eq(byte_model_total(e.g, &e.as, 2), 3 * BYTES + BYTES);
	e.as.tensor_cuts[2].dim[1] = 1;
	ck_assert_int_eq(byte_model_total(e.g, &e.as, 2), 3 * BYTES);
	arena_free(a);
}
END_TEST

/* A tensor that a node reads twice is fetched once. */
START_TEST(a_tensor_counts_once)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t dims[] = { 8, 3 };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, dims);
	add_node(&m, kernel_matmul(a, 8, 8, 3, true), (tensor_id[]){ x, x });
	cuts tensor_cuts[2] = { cuts_none(), cuts_none() };
	cuts node_cuts = cuts_none();
	assignment as = { { 1, { 2 } }, tensor_cuts, &node_cuts };
	graph *g = make_graph(&m);
	tensor_cuts[0].dim[0] = tensor_cuts[1].dim[0] = node_cuts.dim[0] = 0;
	ck_assert_int_eq(byte_model_total(g, &as, 1), 8 * 3 * 4);
	arena_free(a);
}
END_TEST

/* An embedding cut along its vocabulary moves only its result. */
START_TEST(vocabulary_parallel)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	tensor_id in[2];
	in[0] = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 2,
			   (int64_t[]){ 1000, 8 });
	in[1] = add_tensor(&m, TENSOR_INPUT, DT_I64, 1, (int64_t[]){ 4 });
	add_node(&m, kernel_gather(a, 4, 1000, 8), in);
	cuts tensor_cuts[3] = { cuts_none(), cuts_none(), cuts_none() };
	cuts node_cuts = cuts_none();
	assignment as = { { 1, { 4 } }, tensor_cuts, &node_cuts };
	graph *g = make_graph(&m);
	tensor_cuts[0].dim[0] = tensor_cuts[2].dim[0] = 0;
	node_cuts.dim[0] = 2;
	ck_assert_int_eq(byte_model_total(g, &as, 1), 3 * 4 * 8 * 4);
	node_cuts.dim[0] = 0;
	ck_assert_int_eq(byte_model_total(g, &as, 1), 3 * 1000 * 8 * 4);
	arena_free(a);
}
END_TEST

/* Bytes that do not fit saturate at COST_MAX, without overflow. */
START_TEST(bytes_saturate)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t n = (int64_t)1 << 29;
	tensor_id in[2];
	in[0] = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, (int64_t[]){ n, n });
	in[1] = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, (int64_t[]){ n, n });
	add_node(&m, kernel_matmul(a, n, n, n, false), in);
	cuts tensor_cuts[3] = { cuts_none(), cuts_none(), cuts_none() };
	cuts node_cuts = cuts_none();
	assignment as = { { 1, { 1024 } }, tensor_cuts, &node_cuts };
	node_cuts.dim[0] = 2;
	ck_assert_int_eq(byte_model_total(make_graph(&m), &as, 1), COST_MAX);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("model");
	TCase *c = tcase_create("all");
	tcase_add_loop_test(c, model_equals_the_judge, 0, NMESHES);
	tcase_add_test(c, shares_are_a_partition);
	tcase_add_test(c, one_even_step);
	tcase_add_test(c, axes_are_combined_jointly);
	tcase_add_test(c, a_tensor_counts_once);
	tcase_add_test(c, vocabulary_parallel);
	tcase_add_test(c, bytes_saturate);
	suite_add_tcase(s, c);
	return s;
}

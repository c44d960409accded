/* Tests: compiler/cost */
/* compiler/cost: the byte model, against a simulation that keeps a set of
 * elements per worker and counts what is needed and not there. */
#include "config.h"

#include <check.h>

#include "compiler/cost/byte_model.h"
#include "compiler/cost/formulate.h"
#include "tests/unit/byte_judge.h"
#include "tests/unit/graphs.h"
#include "tests/unit/stay_partial.h"
#include "tests/unit/suite.h"

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
	stay_partial(a, r->state, g, &as);
	return as;
}

/* Makes tensors partial, and nodes hand something on, where that does not
 * fit. */
static void spoil(rng *r, const graph *g, assignment *as)
{
	int axis = pick(r, 0, as->mesh.naxes - 1);
	tensor_id t = pick(r, 0, g->ntensors - 1);
	node_id n = pick(r, 0, g->nnodes - 1);
	int npassings = g->nodes[n].kernel->npassings;
	if (chance(r, 50))
		as->tensor_cuts[t].dim[axis] = cut_partial(RED_SUM);
	if (npassings > 0 && chance(r, 50))
		as->node_cuts[n].dim[axis] =
			cut_passing(pick(r, 0, npassings - 1));
}

static bool partial_along(const assignment *as, tensor_id t)
{
	for (int a = 0; a < as->mesh.naxes; a++)
		if (as->tensor_cuts[t].dim[a] < CUT_NONE)
			return true;
	return false;
}

START_TEST(model_equals_the_judge)
{
	rng r = { 1000 + (uint64_t)_i };
	const mesh *m = &meshes[_i];
	int64_t all = 0;
	int left = 0, misfits = 0;
	for (int round = 0; round < 100; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 5);
		assignment as = random_assignment(a, &r, g, m);
		judge j = { g, &as, 0, 1 };
		if (chance(&r, 20))
			spoil(&r, g, &as);
		for (j.naxes = 0; j.naxes <= m->naxes; j.naxes++) {
			for (node_id n = 0; n < g->nnodes; n++) {
				int64_t is = byte_model_node(g, &as, n,
							     j.naxes);
				int64_t want = judge_node(&j, n);
				left += partial_along(&as, g->nodes[n].output);
				misfits += want == COST_MAX;
				all += want < COST_MAX ? want : 0;
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
	ck_assert_int_gt(left, 20);
	ck_assert_int_gt(misfits, 0);
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
			uint32_t axes = partial_axes(&j, &g->nodes[n], c);
			int64_t own = 0, whole = 1, copies = 1;
			static set s;
			for (int w = 0; w < j.nworkers; w++) {
				owned(&j, &g->nodes[n], c, axes, w, &s);
				own += size_of(&s);
			}
			for (int d = 0; d < k->nout; d++)
				whole *= kernel_dim(k, d);
			for (int i = 0; i < m->naxes; i++)
				if (!(axes >> i & 1) &&
				    (c->dim[i] < 0 || c->dim[i] >= k->nout))
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

/* Tests: compiler/lower kernel */
/* Copies in another order that products of matrices do without. */
#include "config.h"

#include <check.h>

#include "kernel/contraction.h"
#include "tests/unit/graphs.h"
#include "tests/unit/lowering.h"
#include "tests/unit/suite.h"

enum { ROWS = 8, INNER = 16, COLUMNS = 12 };

/* The product of an input of some rows and a matrix. */
static tensor_id add_product(graph_maker *m, tensor_id matrix, int64_t rows)
{
	const int64_t dims[] = { rows, INNER };
	tensor_id in[] = { add_tensor(m, TENSOR_INPUT, DT_F32, 2, dims),
			   matrix };
	return add_node(m, kernel_matmul(m->a, rows, COLUMNS, INNER, false),
			in);
}

/* A product of two inputs, of so many rows and columns. */
static tensor_id add_computed(graph_maker *m, int64_t rows, int64_t columns)
{
	const int64_t left[] = { rows, ROWS }, right[] = { ROWS, columns };
	tensor_id in[] = { add_tensor(m, TENSOR_INPUT, DT_F32, 2, left),
			   add_tensor(m, TENSOR_INPUT, DT_F32, 2, right) };
	return add_node(m, kernel_matmul(m->a, rows, columns, ROWS, false),
			in);
}

static void add_output(arena *a, graph *g, tensor_id t)
{
	tensor_id *to = ARENA_ARRAY(a, tensor_id, g->noutputs + 1);
	for (int i = 0; i < g->noutputs; i++)
		to[i] = g->outputs[i];
	to[g->noutputs++] = t;
	g->outputs = to;
	g->tensors[t].output = true;
}

/* A tensor, an input or the result of a product, its copy, and what two nodes
 * make of that: a product, and another one of `rows', or a maximum if that is
 * 0. */
typedef struct example {
	graph *g;
	assignment as;
	tensor_id w, t, y, z;
} example;

static example example_of(arena *a, int64_t rows, bool computed)
{
	static const int64_t dims[] = { COLUMNS, INNER };
	static const int64_t turned[] = { INNER, COLUMNS };
	graph_maker m = { .a = a };
	example x = { .as.mesh = { 1, { 2 } } };
	x.w = computed ? add_computed(&m, COLUMNS, INNER)
		       : add_tensor(&m, TENSOR_INPUT, DT_F32, 2, dims);
	x.t = add_node(&m, kernel_transpose(a, 2, dims), &x.w);
	x.y = add_product(&m, x.t, ROWS);
	x.z = rows ? add_product(&m, x.t, rows)
		   : add_node(&m, kernel_reduce(a, 2, turned, 0, RED_MAX),
			      &x.t);
	x.g = make_graph(&m);
	x.g->loss = x.g->learning_rate = x.g->loss_scale = NONE;
	x.g->inputs = ARENA_ARRAY(a, tensor_id, x.g->ntensors);
	for (int t = 0; t < x.g->ntensors; t++)
		if (x.g->tensors[t].kind == TENSOR_INPUT)
			x.g->inputs[x.g->ninputs++] = t;
	add_output(a, x.g, x.y);
	add_output(a, x.g, x.z);
	x.as.tensor_cuts = ARENA_ARRAY(a, cuts, x.g->ntensors);
	x.as.node_cuts = ARENA_ARRAY(a, cuts, x.g->nnodes);
	for (int t = 0; t < x.g->ntensors; t++)
		x.as.tensor_cuts[t] = cuts_none();
	for (int n = 0; n < x.g->nnodes; n++)
		x.as.node_cuts[n] = cuts_none();
	return x;
}

static int nodes_of(arena *a, const example *x)
{
	static const lower_options how = { .algorithm = "random" };
	return lower_by(a, x->g, &x->as, &how)->nnodes;
}

START_TEST(products_do_without)
{
	arena *a = arena_new();
	example x = example_of(a, 5, false);
	ck_assert_int_eq(nodes_of(a, &x), 2);
	x = example_of(a, PACKED_LEAST - 1, false);
	ck_assert_int_eq(nodes_of(a, &x), 3);
	x = example_of(a, 0, false);
	ck_assert_int_eq(nodes_of(a, &x), 3);
	x = example_of(a, 5, false);
	add_output(a, x.g, x.t);
	ck_assert_int_eq(nodes_of(a, &x), 3);
	arena_free(a);
}
END_TEST

/* Both products are divided along columns: copies of what each worker holds
 * are left out, others are not. */
START_TEST(as_they_are_divided)
{
	arena *a = arena_new();
	example x = example_of(a, 5, false);
	for (int n = 0; n < x.g->nnodes; n++)
		x.as.node_cuts[n].dim[0] = 1;
	x.as.tensor_cuts[x.t].dim[0] = 1;
	x.as.tensor_cuts[x.y].dim[0] = x.as.tensor_cuts[x.z].dim[0] = 1;
	ck_assert_int_eq(nodes_of(a, &x), 2);
	x.as.tensor_cuts[x.w].dim[0] = 0;
	ck_assert_int_eq(nodes_of(a, &x), 2);
	x.as.tensor_cuts[x.w].dim[0] = 1;
	ck_assert_int_eq(nodes_of(a, &x), 3);
	arena_free(a);
}
END_TEST

/* A computed tensor is not kept whole, for the copy's readers, by workers that
 * need a part of it; if it is kept anyway, as an output is, they read it. */
START_TEST(no_more_is_kept)
{
	arena *a = arena_new();
	example x = example_of(a, 5, true);
	ck_assert_int_eq(nodes_of(a, &x), 3);
	for (node_id n = 1; n < x.g->nnodes; n++)
		x.as.node_cuts[n].dim[0] = 1;
	x.as.tensor_cuts[x.t].dim[0] = 1;
	x.as.tensor_cuts[x.y].dim[0] = x.as.tensor_cuts[x.z].dim[0] = 1;
	ck_assert_int_eq(nodes_of(a, &x), 4);
	x.as.node_cuts[0].dim[0] = x.as.tensor_cuts[x.w].dim[0] = 0;
	ck_assert_int_eq(nodes_of(a, &x), 3);
	x.as.node_cuts[0].dim[0] = x.as.tensor_cuts[x.w].dim[0] = CUT_NONE;
	add_output(a, x.g, x.w);
	ck_assert_int_eq(nodes_of(a, &x), 3);
	arena_free(a);
}
END_TEST

/* Memory has to run along the last of the product's variables of a kind. */
START_TEST(as_memory_runs)
{
	arena *a = arena_new();
	const int64_t dims[] = { COLUMNS, INNER };
	const kernel *k = kernel_matmul(a, ROWS, COLUMNS, INNER, false);
	kernel *copy = kernel_transpose(a, 2, dims);
	ck_assert(kernel_is_reordering(copy));
	ck_assert(contraction_reads_through(k, 1, copy));
	copy->body->args[0] = copy->body->args[1];
	ck_assert(!kernel_is_reordering(copy)); /* a diagonal */
	ck_assert(!kernel_is_reordering(k));
	arena_free(a);
}
END_TEST

/* Of a convolution's filter these are o, its row, and r, but not c. */
START_TEST(last_of_its_kind)
{
	arena *a = arena_new();
	const int64_t data[] = { 4, 4, 9 }, filter[] = { 4, 4, 4 };
	const kernel *k = kernel_conv(a, data, filter, 1, 0);
	kernel *copy = kernel_transpose(a, 3, filter);
	kexpr **at = copy->body->args, *o = at[2], *c = at[1], *r = at[0];
	ck_assert(contraction_reads_through(k, 1, copy));
	at[1] = o, at[2] = c;
	ck_assert(kernel_is_reordering(copy));
	ck_assert(!contraction_reads_through(k, 1, copy));
	at[0] = c, at[2] = r;
	ck_assert(contraction_reads_through(k, 1, copy));
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("copies");
	TCase *t = tcase_create("copies");
	tcase_add_test(t, products_do_without);
	tcase_add_test(t, as_they_are_divided);
	tcase_add_test(t, no_more_is_kept);
	tcase_add_test(t, as_memory_runs);
	tcase_add_test(t, last_of_its_kind);
	suite_add_tcase(s, t);
	return s;
}

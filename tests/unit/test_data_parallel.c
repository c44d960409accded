/* Tests: compiler/planners */
/* The planners by data parallelism: which tensors follow the batch. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/planners/search.h"
#include "tests/unit/graphs.h"
#include "tests/unit/results.h"
#include "tests/unit/suite.h"

static bool mentions(const char *text, const char *what)
{
	return text && strstr(text, what);
}

/* ---- steps ------------------------------------------------------------- */

static search_result *plan_for(arena *a, const graph *g, int k,
			       const char *name)
{
	search_result *r = search_plan(a, g, k, name);
	ck_assert_str_eq(r->algorithm, name);
	return r;
}

/* ---- data parallelism -------------------------------------------------- */

static const signed char *cut_of(const search_result *r, tensor_id t)
{
	return r->assignment.tensor_cuts[t].dim;
}

/* The batch goes through a convolution, a transpose, into a merged dimension,
 * through a matmul and out again, and moves nothing; a sum over it is an
 * all-reduce. */
START_TEST(batch_is_followed)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t data[] = { 8, 4, 10 }, filter[] = { 6, 4, 3 };
	const int64_t conv[] = { 8, 6, 8 }, turned[] = { 8, 6, 8 };
	const int64_t flat[] = { 48, 8 }, weight[] = { 8, 5 };
	const int64_t rows[] = { 48, 5 }, apart[] = { 8, 6, 5 };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 3, data);
	tensor_id f = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 3, filter);
	tensor_id w = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 2, weight);
	tensor_id y = add_node(&m, kernel_conv(a, data, filter, 1, 0),
			       (tensor_id[]){ x, f });
	tensor_id z = add_node(&m, kernel_transpose(a, 3, conv), &y);
	tensor_id back = add_node(&m, kernel_transpose(a, 3, turned), &z);
	tensor_id merged = add_node(&m, kernel_reshape(a, 3, conv, 2, flat),
				    &back);
	tensor_id out = add_node(&m, kernel_matmul(a, 48, 5, 8, false),
				 (tensor_id[]){ merged, w });
	tensor_id again = add_node(&m, kernel_reshape(a, 2, rows, 3, apart),
				   &out);
	tensor_id sum = add_node(&m, kernel_reduce(a, 2, rows, 0, RED_SUM),
				 &out);
	graph *g = make_graph(&m);
	search_result *r = plan_for(a, g, 4, "data-parallel");
	check_result_by_step(g, r, 4);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(cut_of(r, x)[i], 0);
		ck_assert_int_eq(cut_of(r, y)[i], 0);
		ck_assert_int_eq(cut_of(r, z)[i], 2);
		ck_assert_int_eq(cut_of(r, back)[i], 0);
		ck_assert_int_eq(cut_of(r, merged)[i], 0);
		ck_assert_int_eq(cut_of(r, out)[i], 0);
		ck_assert_int_eq(cut_of(r, again)[i], 0);
		ck_assert_int_eq(cut_of(r, f)[i], CUT_NONE);
		ck_assert_int_eq(cut_of(r, w)[i], CUT_NONE);
		ck_assert_int_eq(cut_of(r, sum)[i], CUT_NONE);
	}
	ck_assert_int_eq(r->total, 2 * 5 * 4 * 3);
	ck_assert(!r->note);
	arena_free(a);
}
END_TEST

/* Two elements are for two devices of four, however many rows they have. */
START_TEST(merged_batch_is_no_longer)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t data[] = { 2, 12, 5 }, flat[] = { 24, 5 };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 3, data);
	tensor_id y = add_node(&m, kernel_reshape(a, 3, data, 2, flat), &x);
	search_result *r = plan_for(a, make_graph(&m), 4, "data-parallel");
	ck_assert_int_eq(cut_of(r, y)[0], 0);
	ck_assert_int_eq(cut_of(r, y)[1], CUT_NONE);
	ck_assert_int_eq(r->total, 0);
	ck_assert(mentions(r->note, "a batch of 2 cannot be cut over all 4"));
	arena_free(a);
}
END_TEST

/* A window over the batch is not the batch. */
START_TEST(windows_are_not_followed)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t data[] = { 10, 4, 6 }, turned[] = { 6, 4, 10 };
	const int64_t filter[] = { 5, 4, 3 };
	tensor_id in[2], x;
	x = add_tensor(&m, TENSOR_INPUT, DT_F32, 3, data);
	in[0] = add_node(&m, kernel_transpose(a, 3, data), &x);
	in[1] = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 3, filter);
	add_node(&m, kernel_conv(a, turned, filter, 1, 1), in);
	search_result *r = plan_for(a, make_graph(&m), 2, "data-parallel");
	ck_assert_int_eq(cut_of(r, in[0])[0], 2);
	ck_assert(mentions(r->note, "1, the first is 'n1'"));
	arena_free(a);
}
END_TEST

static graph *perceptron(arena *a, int64_t batch)
{
	graph_maker m = { .a = a };
	tensor_id in[2];
	in[0] = add_tensor(&m, TENSOR_INPUT, DT_F32, 2,
			   (int64_t[]){ batch, 16 });
	in[1] = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 2,
			   (int64_t[]){ 16, 16 });
	add_node(&m, kernel_matmul(a, batch, 16, 16, false), in);
	return make_graph(&m);
}

START_TEST(batch_has_notes)
{
	arena *a = arena_new();
	search_result *r;
	r = plan_for(a, perceptron(a, 8), 8, "data-parallel");
	ck_assert(!r->note && r->total == 0 && r->lower_bound == 0);
	/* uneven, but enough for everybody */
	r = plan_for(a, perceptron(a, 5), 3, "data-parallel");
	ck_assert(!r->note && r->total == 0);
	r = plan_for(a, perceptron(a, 3), 8, "data-parallel");
	ck_assert(mentions(r->note, "a batch of 3 cannot be cut over all 8"));
	r = plan_for(a, perceptron(a, 1), 8, "data-parallel");
	ck_assert(mentions(r->note, "no input has a batch"));

	/* an operator that sees the batch only through data */
	graph_maker m = { .a = a };
	tensor_id in[2];
	in[0] = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 2,
			   (int64_t[]){ 9, 4 });
	in[1] = add_tensor(&m, TENSOR_INPUT, DT_I64, 1, (int64_t[]){ 8 });
	kernel *k = kernel_gather(a, 8, 9, 4);
	k->vars[0].indivisible_reason = "the test wants it";
	add_node(&m, k, in);
	r = plan_for(a, make_graph(&m), 2, "data-parallel");
	ck_assert(mentions(r->note, "1, the first is 'n0'"));
	ck_assert_int_eq(r->total, 8 * 8);
	arena_free(a);
}
END_TEST

START_TEST(tofu_notes_what_is_whole)
{
	arena *a = arena_new();
	search_result *r = plan_for(a, perceptron(a, 8), 8, "tofu");
	ck_assert(!r->note);
	graph_maker m = { .a = a };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 1,
				 (int64_t[]){ 3 });
	add_node(&m, kernel_to(a, 1, (int64_t[]){ 3 }, DT_F64), &x);
	r = plan_for(a, make_graph(&m), 8, "tofu");
	ck_assert(mentions(r->note, "2 of 2 tensors (36 bytes in all) and 1 of "
				    "1 operators"));
	arena_free(a);
}
END_TEST

/* Tensors of less than a hundredth of a model are not worth a note. */
START_TEST(tofu_notes_nothing_small)
{
	arena *a = arena_new();
	for (int i = 0; i < 2; i++) {
		int64_t small = i ? 7 : 3, large = i ? 80 : 8000;
		graph_maker m = { .a = a };
		tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 1, &small);
		tensor_id y = add_tensor(&m, TENSOR_INPUT, DT_F32, 1, &large);
		add_node(&m, kernel_to(a, 1, &small, DT_F32), &x);
		add_node(&m, kernel_to(a, 1, &large, DT_F32), &y);
		graph *g = make_graph(&m);
		ck_assert_int_eq(!plan_for(a, g, 8, "tofu")->note, !i);
		ck_assert(mentions(plan_for(a, g, 8, "allrow")->note,
				   "2 of 4 tensors"));
	}
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("data_parallel");
	TCase *c = tcase_create("all");
	tcase_add_test(c, batch_is_followed);
	tcase_add_test(c, merged_batch_is_no_longer);
	tcase_add_test(c, windows_are_not_followed);
	tcase_add_test(c, batch_has_notes);
	tcase_add_test(c, tofu_notes_what_is_whole);
	tcase_add_test(c, tofu_notes_nothing_small);
	suite_add_tcase(s, c);
	return s;
}

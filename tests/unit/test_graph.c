/* Tests: compiler/graph */
/* compiler/graph: building, folding and finishing graphs. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/graph/canonical.h"
#include "compiler/graph/graph.h"
#include "compiler/graph/order.h"
#include "tests/unit/suite.h"
#include "tests/unit/written.h"

static const char operators[] =
	"op relu(x[..d]) -> y[..d] = lambda ..d: max(x[..d], 0)\n"
	"op add(broadcast a[..d], broadcast b[..d]) -> y[..d] =\n"
	"    lambda ..d: a[..d] + b[..d]\n"
	"op add_index(x[N]: f32) -> y[N]: f32 =\n"
	"    lambda n: x[n] + cast(n, f32)\n"
	"op total(x[N, M]) -> y[N] = lambda n: Sum(lambda m: x[n, m])\n"
	"op pad(x[N]) -> y[N + 1] = lambda n: (x[n] else 0)\n"
	"op first(x[N], i[M]: i64) -> y[M] = lambda m: x[i[m]]\n"
	"op norm(x[..d]) -> y[..d] =\n"
	"    let m = lambda: Max(lambda ..d: x[..d])\n"
	"    lambda ..d: x[..d] - m[]\n"
	"op reshape(x[..d]; shape: int[]) -> y[..shape] =\n"
	"    lambda ..shape: x[..unravel(ravel(..shape))]\n"
	"op transpose(x[..d]; perm: int[]) -> y[..d[perm]] =\n"
	"    lambda ..d[perm]: x[..d]\n";

static graph_builder *b;

static void setup(void)
{
	set_up_modules();
	if (!load_text(operators))
		diag_print(sink, stderr, false);
	ck_assert_int_eq(diag_errors(sink), 0);
	b = graph_begin(a, modules, sink, "test");
}

static tensor_type type2(dtype t, int64_t n, int64_t m)
{
	return (tensor_type){ .type = t, .ndim = 2, .dims = { n, m } };
}

static tensor_id call_shape(const char *op, const char *name, tensor_id x,
			    const int64_t *ints, int n)
{
	tensor_id result = NONE;
	attr_value list = { .type = ATTR_INT, .is_list = true, .n = n,
			    .ints = ints };
	const attr_value *attrs[1] = { ints ? &list : NULL };
	ck_assert(graph_call(b, dsl_op(modules, op), name, &x, attrs,
			     (call_site){ .place = "the test" }, &result));
	return result;
}

static tensor_id call1(const char *op, const char *name, tensor_id x)
{
	return call_shape(op, name, x, NULL, 0);
}

static tensor_id call2(const char *op, const char *name, tensor_id x,
		       tensor_id y)
{
	tensor_id args[2] = { x, y }, result = NONE;
	const attr_value *none = NULL;
	ck_assert(graph_call(b, dsl_op(modules, op), name, args, &none,
			     (call_site){ .place = "the test" }, &result));
	return result;
}

static tensor_id input(const char *name, int64_t n, int64_t m)
{
	tensor_type t = type2(DT_F32, n, m);
	return graph_add_input(b, name, &t);
}

static tensor_id floats(const float *data, int64_t n)
{
	tensor_type t = { .type = DT_F32, .ndim = 1, .dims = { n } };
	return graph_add_constant(b, NULL, &t, &(constant){ .data = data });
}

static tensor_id fill(const float *value, int64_t n, int64_t m)
{
	tensor_type t = type2(DT_F32, n, m);
	return graph_add_constant(b, NULL, &t,
				  &(constant){ .data = value, .fill = true });
}

/* Equal calls share a kernel; what no output needs is gone. */
START_TEST(sharing)
{
	tensor_id x = input("x", 2, 3);
	tensor_id y = call1("relu", "r1", x);
	tensor_id z = call1("relu", "r2", y);
	call1("norm", "dead", z);
	graph_set_output(b, z, "z");
	graph *g = graph_finish(b);
	ck_assert_ptr_nonnull(g);
	ck_assert_int_eq(g->nnodes, 2);
	ck_assert_int_eq(g->ntensors, 3);
	ck_assert_ptr_eq(g->nodes[0].kernel, g->nodes[1].kernel);
	ck_assert_int_eq(g->tensors[g->nodes[1].output].producer, 1);
	ck_assert_int_eq(graph_flops(g), 12);
	ck_assert_int_eq(graph_parameter_bytes(g), 0);
}
END_TEST

/* One call keeps its node's name, several get their operators' added; stages
 * have labels; what is taken is numbered. */
START_TEST(names)
{
	const char *group = "n";
	tensor_id x = input("x", 2, 3);
	tensor_id y = call1("relu", group, x);
	y = call1("norm", group, y);
	graph_name(b, y, "x2");
	y = call1("norm", "n2", y);
	y = call1("relu", "n2.m", y);
	graph_set_output(b, y, "y");
	graph *g = graph_finish(b);
	static const char *const nodes[] = { "n.relu", "n.norm.m", "n.norm",
					     "n2.m",   "n2",	   "n2.m_2" };
	static const char *const ops[] = { "relu",   "norm.m", "norm",
					   "norm.m", "norm",   "relu" };
	ck_assert_int_eq(g->nnodes, 6);
	for (int i = 0; i < 6; i++) {
		ck_assert_str_eq(g->nodes[i].name, nodes[i]);
		ck_assert_str_eq(g->nodes[i].op, ops[i]);
	}
	ck_assert_str_eq(g->tensors[g->nodes[2].output].name, "x2");
	ck_assert_str_eq(g->tensors[g->nodes[4].output].name, "n2");
	ck_assert_str_eq(g->tensors[g->nodes[5].output].name, "y");
}
END_TEST

/* Two branches of a sum and an output beside it, the statements as they are
 * drawn: from x, or from y. */
static const graph *branches(bool other)
{
	enum { N = 2 };
	tensor_id in[N], r[N], m[N];
	for (int i = 0; i < N; i++) {
		int at = other ? N - 1 - i : i;
		in[at] = input(at ? "y" : "x", 2, 3);
	}
	for (int i = 0; i < N; i++) {
		int at = other ? N - 1 - i : i;
		r[at] = call1("relu", at ? "ry" : "rx", in[at]);
		m[at] = at ? call1("norm", "my", r[at]) : r[at];
	}
	tensor_id sum = other ? call2("add", "sum", m[1], m[0])
			      : call2("add", "sum", m[0], m[1]);
	graph_set_output(b, sum, "sum");
	graph_set_output(b, call2("add", "more", r[1], in[0]), "more");
	return graph_canonical(a, graph_finish(b));
}

/* However the statements are ordered, and the operands of a sum. */
START_TEST(written_otherwise)
{
	const graph *g = branches(false);
	b = graph_begin(a, modules, sink, "test");
	const graph *h = branches(true);
	ck_assert_int_eq(g->nnodes, h->nnodes);
	ck_assert_int_eq(g->ntensors, h->ntensors);
	for (int n = 0; n < g->nnodes; n++) {
		const node *x = &g->nodes[n], *y = &h->nodes[n];
		ck_assert_str_eq(x->name, y->name);
		ck_assert_int_eq(x->output, y->output);
		for (int i = 0; i < x->kernel->ninputs; i++)
			ck_assert_int_eq(x->inputs[i], y->inputs[i]);
		ck_assert_int_eq(g->tensors[x->output].producer, n);
	}
	for (int t = 0; t < g->ntensors; t++)
		ck_assert_str_eq(g->tensors[t].name, h->tensors[t].name);
	for (int i = 0; i < g->noutputs; i++)
		ck_assert_int_eq(g->outputs[i], h->outputs[i]);
	ck_assert_str_eq(g->tensors[g->inputs[0]].name, "x");
	ck_assert_str_eq(h->tensors[h->inputs[0]].name, "y");
}
END_TEST

/* Names are those of the model, as far as a plan can have them. */
START_TEST(strange_names)
{
	char endless[2001] = { 0 };
	memset(endless, 'n', 2000);
	tensor_id x = input("x\n\x1b[2J", 2, 3);
	tensor_id y = call1("relu", "\xff", x);
	y = call1("relu", "\xfe", y);
	y = call1("relu", endless, y);
	graph_set_output(b, y, "\xc3\xa4");
	graph *g = graph_finish(b);
	ck_assert_str_eq(g->tensors[0].name, "x__[2J");
	ck_assert_str_eq(g->nodes[0].name, "_");
	ck_assert_str_eq(g->nodes[1].name, "__2");
	ck_assert_uint_eq(strlen(g->nodes[2].name), 1000);
	ck_assert_str_eq(g->tensors[g->outputs[0]].name, "\xc3\xa4");
}
END_TEST

/* An input, a constant and what is an output already are copied. */
START_TEST(outputs)
{
	static const float one = 1;
	tensor_id x = input("x", 2, 3), y = call1("relu", "r", x);
	graph_set_output(b, y, "y");
	graph_set_output(b, y, "z");
	graph_set_output(b, x, "v");
	graph_set_output(b, fill(&one, 2, 3), "u");
	graph *g = graph_finish(b);
	ck_assert_int_eq(g->nnodes, 4);
	ck_assert_int_eq(g->noutputs, 4);
	static const char *const want[] = { "y", "z", "v", "u" };
	for (int i = 0; i < 4; i++) {
		const tensor *t = &g->tensors[g->outputs[i]];
		ck_assert_str_eq(t->name, want[i]);
		ck_assert(t->output && t->kind == TENSOR_RESULT);
	}
}
END_TEST

START_TEST(folding)
{
	static const float data[] = { 1, -2, 3 };
	tensor_id c = floats(data, 3);
	tensor_id r = call1("relu", "r", call1("add_index", "i", c));
	ck_assert_int_eq(graph_tensor(b, r)->kind, TENSOR_CONSTANT);
	const float *v = graph_constant_data(b, r, 100);
	ck_assert(v[0] == 1 && v[1] == 0 && v[2] == 5);
	ck_assert_ptr_null(graph_constant_data(b, r, 11));
	/* One input that is fed, and nothing is folded. */
	tensor_id y = call2("add", "a", r, input("x", 2, 3));
	ck_assert_int_eq(graph_tensor(b, y)->kind, TENSOR_RESULT);
}
END_TEST

/* A fill of any size stays one where every element is made alike. */
START_TEST(fills)
{
	static const float two = 2, three = 3;
	tensor_id x = fill(&two, 1000000, 1000000);
	tensor_id y = fill(&three, 1000000, 1000000);
	const tensor *t = graph_tensor(b, call2("add", "a", x, y));
	ck_assert(t->kind == TENSOR_CONSTANT && t->constant.fill);
	ck_assert(*(const float *)t->constant.data == 5);
	ck_assert_int_eq(t->type.dims[0], 1000000);
	static const int64_t perm[] = { 1, 0 };
	t = graph_tensor(b, call_shape("transpose", "t", x, perm, 2));
	ck_assert(t->kind == TENSOR_CONSTANT && t->constant.fill);
	/* A sum is not alike, and too large to be computed here. */
	t = graph_tensor(b, call1("total", "s", x));
	ck_assert_int_eq(t->kind, TENSOR_RESULT);
	/* Small ones are computed: a padded fill is no fill. */
	tensor_type small = { .type = DT_F32, .ndim = 1, .dims = { 2 } };
	constant c = { .data = &two, .fill = true };
	tensor_id p = call1("pad", "p",
			    graph_add_constant(b, NULL, &small, &c));
	ck_assert(!graph_tensor(b, p)->constant.fill);
	const float *v = graph_constant_data(b, p, 12);
	ck_assert(v[0] == 2 && v[1] == 2 && v[2] == 0);
}
END_TEST

/* Weights in another shape are the same weights. */
START_TEST(same_order)
{
	static const struct {
		int from_ndim;
		int64_t from[4];
		int to_ndim;
		int64_t to[4];
	} shapes[] = {
		{ 2, { 1000, 1024 }, 4, { 1000, 1024, 1, 1 } },
		{ 4, { 1000, 1, 32, 32 }, 2, { 1000, 1024 } },
		{ 2, { 1000, 1024 }, 1, { 1024000 } },
		{ 1, { 1024000 }, 3, { 64, 16, 1000 } },
		{ 2, { 1000, 1024 }, 2, { 1024, 1000 } },
		{ 3, { 70, 60, 50 }, 3, { 35, 120, 50 } },
		{ 2, { 4096, 25088 }, 4, { 4096, 512, 7, 7 } },
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		tensor_type t = { .type = DT_F32,
				  .ndim = shapes[i].from_ndim };
		memcpy(t.dims, shapes[i].from, sizeof(shapes[i].from));
		constant c = { .path = "weights", .offset = 77 };
		tensor_id x = graph_add_constant(b, NULL, &t, &c);
		const tensor *y = graph_tensor(
			b, call_shape("reshape", "r", x, shapes[i].to,
				      shapes[i].to_ndim));
		ck_assert_msg(y->kind == TENSOR_CONSTANT, "shape %zu", i);
		ck_assert_str_eq(y->constant.path, "weights");
		ck_assert_int_eq(y->constant.offset, 77);
		ck_assert_int_eq(y->type.ndim, shapes[i].to_ndim);
	}
}
END_TEST

/* An operator that moves elements is not taken for a reshape. */
START_TEST(another_order)
{
	static const int64_t perm[] = { 1, 0 };
	static const struct {
		int64_t n, m;
		bool kept;
	} shapes[] = {
		{ 300, 400, false }, { 400, 400, false },
		{ 1, 400000, true }, { 400000, 1, true },
	};
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		tensor_type t = type2(DT_F32, shapes[i].n, shapes[i].m);
		constant c = { .path = "weights" };
		tensor_id x = graph_add_constant(b, NULL, &t, &c);
		const tensor *y = graph_tensor(
			b, call_shape("transpose", "t", x, perm, 2));
		ck_assert_msg((y->kind == TENSOR_CONSTANT) == shapes[i].kept,
			      "shape %zu", i);
	}
}
END_TEST

/* An index that is known to be outside is the model's fault. */
START_TEST(outside)
{
	static const float data[] = { 1, 2, 3 };
	static const int64_t index[] = { 2, 3 };
	tensor_type t = { .type = DT_I64, .ndim = 1, .dims = { 2 } };
	tensor_id args[2] = { floats(data, 3),
			      graph_add_constant(
				      b, NULL, &t,
				      &(constant){ .data = index }) };
	tensor_id r;
	ck_assert(!graph_call(b, dsl_op(modules, "first"), "f", args, NULL,
			      (call_site){ .place = "the test" }, &r));
	ck_assert_int_eq(diag_errors(sink), 1);
	ck_assert_ptr_null(graph_finish(b));
}
END_TEST

START_TEST(types)
{
	tensor_type t = type2(DT_F32, 3, 4);
	ck_assert_str_eq(tensor_type_text(a, &t), "f32 [3, 4]");
	ck_assert_int_eq(tensor_nbytes(&t), 48);
	ck_assert(tensor_type_ok(&t));
	t.dims[0] = INT64_MAX / 8;
	ck_assert(!tensor_type_ok(&t));
	t.dims[0] = -1;
	ck_assert(!tensor_type_ok(&t));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("graph");
	TCase *t = tcase_create("graph");
	tcase_add_checked_fixture(t, setup, tear_down_modules);
	tcase_add_test(t, sharing);
	tcase_add_test(t, names);
	tcase_add_test(t, written_otherwise);
	tcase_add_test(t, strange_names);
	tcase_add_test(t, outputs);
	tcase_add_test(t, folding);
	tcase_add_test(t, fills);
	tcase_add_test(t, same_order);
	tcase_add_test(t, another_order);
	tcase_add_test(t, outside);
	tcase_add_test(t, types);
	suite_add_tcase(s, t);
	return s;
}

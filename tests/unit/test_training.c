/* Tests: compiler/train */
/* compiler/train: the backward pass of random models against differences of
 * their loss, both computed by the interpreter, in f64. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "compiler/train/train.h"
#include "kernel/eval.h"
#include "tests/unit/suite.h"
#include "tests/unit/written.h"

static const char operators[] =
	"op add(broadcast a[..d], broadcast b[..d]) -> y[..d] =\n"
	"    lambda ..d: a[..d] + b[..d]\n"
	"op mul(broadcast a[..d], broadcast b[..d]) -> y[..d] =\n"
	"    lambda ..d: a[..d] * b[..d]\n"
	"op matmul(a[M, K], b[K, N]) -> y[M, N] =\n"
	"    lambda m, n: Sum(lambda k: a[m, k] * b[k, n])\n"
	"op tanh_of(x[..d]) -> y[..d] = lambda ..d: tanh(x[..d])\n"
	"op relu(x[..d]) -> y[..d] = lambda ..d: max(x[..d], 0)\n"
	"op same(x[..d]) -> y[..d] = lambda ..d: x[..d]\n"
	"op softmax(x[M, N]) -> y[M, N] =\n"
	"    let m = lambda i: Max(lambda j: x[i, j])\n"
	"    let z = lambda i: Sum(lambda j: exp(x[i, j] - m[i]))\n"
	"    lambda i, j: exp(x[i, j] - m[i]) / z[i]\n"
	"grad softmax x(dy[M, N], x[M, N]) -> dx[M, N] =\n"
	"    let y = softmax(x)\n"
	"    let mean = lambda i: Sum(lambda j: dy[i, j] * y[i, j])\n"
	"    lambda i, j: y[i, j] * (dy[i, j] - mean[i])\n"
	"op centred(x[M, N]) -> y[M, N] =\n"
	"    let t = lambda i: Sum(lambda j: x[i, j])\n"
	"    lambda i, j: x[i, j] - t[i] / (1 + t[i] * t[i])\n"
	"op flip(x[M, N]) -> y[N, M] = lambda i, j: x[j, i]\n"
	"op pair(x[M, N]) -> (a[M, N], b[N, M], c[M]: i64) =\n"
	"    lambda i, j: x[i, j] * x[i, j]\n"
	"    lambda i, j: sigmoid(x[j, i])\n"
	"    lambda i: cast(ceil(Sum(lambda j: x[i, j])), i64)\n"
	"op rows(x[M, N], at[M]: i64) -> y[M, N] =\n"
	"    lambda i, j: (x[at[i], j] else 0)\n"
	"op shifted(x[M, N]) -> y[M, N] =\n"
	"    lambda i, j: (x[i, j - 1] else 0) - 2 * x[i, j]\n"
	"op steps(x[M, N]) -> y[M, N] = lambda i, j: floor(3 * x[i, j])\n"
	"op total(x[..d]) -> y[] = lambda: Sum(lambda ..d: x[..d])\n"
	"op descend(w[..d], g[..d]) -> next_w[..d] =\n"
	"    lambda ..d: w[..d] - g[..d]\n";

enum { TRIALS = 300, MOST_TENSORS = 64 };

static graph_builder *b;
static uint64_t state; /* xorshift64 */

static void setup(void)
{
	set_up_modules();
	if (!load_text(operators))
		diag_print(sink, stderr, false);
	ck_assert_int_eq(diag_errors(sink), 0);
	state = 7;
}

/* ---- random models ----------------------------------------------------- */

static int below(int n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (int)((state >> 20) % (uint64_t)n);
}

static double number(void)
{
	return below(2001) / 1000.0 - 1;
}

static tensor_type matrix(int64_t m, int64_t n)
{
	return (tensor_type){ .type = DT_F64, .ndim = 2, .dims = { m, n } };
}

static const void *numbers(int64_t n)
{
	double *p = ARENA_ARRAY(a, double, n + 1);
	for (int64_t i = 0; i < n; i++)
		p[i] = number();
	return p;
}

typedef struct model {
	tensor_id tensors[MOST_TENSORS];
	int n, nweights, ninputs;
	int64_t m, k; /* the two extents that there are */
} model;

static void keep(model *m, tensor_id t)
{
	if (m->n < MOST_TENSORS)
		m->tensors[m->n++] = t;
}

static tensor_id any_of(model *m)
{
	return m->tensors[below(m->n)];
}

static void call(const char *op, const tensor_id *args, tensor_id *results)
{
	const attr_value *none[1] = { NULL };
	ck_assert(graph_call(b, dsl_op(modules, op), op, args, none,
			     (call_site){ .place = "the test" }, results));
}

/* A second operand of the same shape, or one that broadcasts. */
static tensor_id partner(model *m, tensor_id x, bool product)
{
	const tensor_type *t = graph_type(b, x);
	for (int i = 0; i < 20; i++) {
		tensor_id y = any_of(m);
		const tensor_type *u = graph_type(b, y);
		if (product ? u->dims[0] == t->dims[1]
			    : (u->dims[0] == t->dims[0] || u->dims[0] == 1) &&
				      (u->dims[1] == t->dims[1] ||
				       u->dims[1] == 1))
			return y;
	}
	return NONE;
}

static void add_weight(model *m)
{
	static const char *const names[] = { "w0", "w1", "w2", "frozen" };
	int64_t dims[2];
	for (int d = 0; d < 2; d++)
		dims[d] = below(6) ? below(2) ? m->m : m->k : 1;
	tensor_type t = matrix(dims[0], dims[1]);
	const constant c = { .data = numbers(tensor_nelem(&t)) };
	keep(m, graph_add_weight(b, names[m->nweights++], &t, &c));
}

static void add_input(model *m)
{
	tensor_type t = matrix(m->m, m->k);
	keep(m, graph_add_input(b, m->ninputs++ ? "y" : "x", &t));
}

static void add_call(model *m)
{
	static const char *const unary[] = { "tanh_of", "relu", "same",
					     "softmax", "centred", "flip",
					     "shifted", "steps" };
	tensor_id args[2] = { any_of(m), NONE }, results[3];
	int what = below(10);
	if (what < 4) {
		bool product = what < 2;
		args[1] = partner(m, args[0], product);
		if (args[1] == NONE)
			return;
		call(product ? "matmul" : what == 2 ? "add" : "mul", args,
		     results);
	} else if (what == 4) {
		call("pair", args, results);
		keep(m, results[1]);
		if (below(2)) {
			args[1] = results[2];
			call("rows", args, results);
		}
	} else {
		call(unary[below(8)], args, results);
	}
	keep(m, results[0]);
}

static graph *random_model(const train_options *o)
{
	model m = { .m = 1 + below(4), .k = below(5) };
	b = graph_begin(a, modules, sink, "random");
	graph_record(b, o);
	add_input(&m);
	add_input(&m);
	for (int i = 0; i < 4; i++)
		add_weight(&m);
	int ncalls = 2 + below(12);
	for (int i = 0; i < ncalls; i++)
		add_call(&m);
	tensor_id args[2], loss = NONE;
	for (int i = 0; i < 3; i++) {
		args[0] = m.tensors[m.n - 1 - below((m.n + 1) / 2)];
		call("total", args, &args[1]);
		args[0] = loss;
		loss = args[1];
		if (args[0] != NONE)
			call("add", args, &loss);
	}
	graph_set_output(b, loss, "loss");
	if (!graph_train(b)) {
		graph_finish(b);
		return NULL;
	}
	return graph_finish(b);
}

/* ---- evaluation -------------------------------------------------------- */

typedef struct values {
	const graph *g;
	view *of; /* by tensor */
} values;

static view new_view(const tensor_type *t)
{
	box whole = box_whole(t->dims, t->ndim);
	size_t n = (size_t)tensor_nbytes(t) + 8;
	return view_dense(arena_alloc(a, n), t->type, &whole);
}

static values begin(const graph *g)
{
	values v = { g, ARENA_ARRAY(a, view, g->ntensors + 1) };
	for (int i = 0; i < g->ntensors; i++) {
		const tensor *t = &g->tensors[i];
		size_t size = dtype_size(t->type.type);
		int64_t n = tensor_nelem(&t->type);
		v.of[i] = new_view(&t->type);
		if (t->kind == TENSOR_INPUT)
			memcpy(v.of[i].data, numbers(n), (size_t)n * size);
		if (t->kind != TENSOR_CONSTANT && t->kind != TENSOR_STATE)
			continue;
		size_t stride = t->constant.fill ? 0 : size;
		const char *data = t->constant.data;
		for (size_t j = 0; j < (size_t)n; j++)
			memcpy((char *)v.of[i].data + j * size,
			       data + j * stride, size);
	}
	return v;
}

static double run(values *v)
{
	for (int i = 0; i < v->g->nnodes; i++) {
		const node *n = &v->g->nodes[i];
		view inputs[MAX_NINPUTS];
		box space = kernel_space(n->kernel);
		for (int j = 0; j < n->kernel->ninputs; j++)
			inputs[j] = v->of[n->inputs[j]];
		ck_assert_int_eq(kernel_eval(n->kernel, &space, inputs,
					     &v->of[n->output], NULL, NULL),
				 EVAL_OK);
	}
	return *(double *)v->of[v->g->loss].data;
}

/* Compares each element of a weight; returns how many could be. */
static int compare(values *v, const tensor *w, view weight)
{
	const double h = ldexp(1, -17);
	int compared = 0;
	double here = run(v);
	for (int64_t i = 0; i < tensor_nelem(&w->type); i++) {
		double *at = (double *)weight.data + i, was = *at;
		run(v);
		double got = w->next == NONE
				     ? 0
				     : was - ((double *)
						      v->of[w->next].data)[i];
		*at = was + h;
		double up = (run(v) - here) / h;
		*at = was - h;
		double down = (here - run(v)) / h, want = (up + down) / 2;
		*at = was;
		double slack = 1e-6 * (1 + fabs(want) + fabs(here));
		/* At a corner, or a step, there is no slope. */
		if (fabs(up - down) > 1e3 * slack)
			continue;
		compared++;
		ck_assert_msg(fabs(got - want) <= 100 * slack,
			      "%s[%d]: %.12g, differences give %.12g", w->name,
			      (int)i, got, want);
	}
	return compared;
}

START_TEST(slopes)
{
	const char *const freeze[] = { "fro*" };
	const char *const again[] = { NULL, "sqrt", "*", "100K", "[a-p]*" };
	int compared = 0, trained = 0;
	for (int i = 0; i < TRIALS; i++) {
		bool used[1] = { false };
		const train_options o = { .optimizer = "descend",
					  .recompute = again[i % 5],
					  .freeze = { freeze, 1, used } };
		graph *g = random_model(&o);
		ck_assert(used[0]);
		if (!g)
			continue;
		values v = begin(g);
		for (int t = 0; t < g->ntensors; t++) {
			const tensor *x = &g->tensors[t];
			if (x->kind != TENSOR_STATE)
				continue;
			ck_assert(x->parameter);
			ck_assert_str_ne(x->name, "frozen");
			trained++;
			compared += compare(&v, x, v.of[t]);
		}
	}
	ck_assert_int_gt(trained, TRIALS);
	ck_assert_int_gt(compared, 2 * trained);
}
END_TEST

/* A recurrence with a weight used in each step, one used in every other, and
 * one in the first steps. */
static graph *recurrence(const train_options *o, int steps, int64_t batch)
{
	enum { WIDTH = 12, WEIGHTS = 3 };
	const tensor_type t = matrix(WIDTH, WIDTH), row = matrix(batch, WIDTH);
	tensor_id w[WEIGHTS], h, args[2], sum;
	b = graph_begin(a, modules, sink, "recurrence");
	graph_record(b, o);
	h = graph_add_input(b, "x", &row);
	for (int i = 0; i < WEIGHTS; i++) {
		const constant c = { .data = numbers(tensor_nelem(&t)) };
		w[i] = graph_add_weight(b, (const char *[]){ "u", "v", "w" }[i],
					&t, &c);
	}
	for (int i = 0; i < steps; i++) {
		for (int j = 0; j < WEIGHTS; j++) {
			if ((j == 1 && i % 2) || (j == 2 && i >= 4))
				continue;
			args[0] = h;
			args[1] = w[j];
			call("matmul", args, &h);
			call("tanh_of", &h, &h);
		}
	}
	call("total", &h, &sum);
	graph_set_output(b, sum, "loss");
	return graph_train(b) ? graph_finish(b) : NULL;
}

static int count_nodes(const graph *g, const char *op)
{
	int n = 0;
	for (int i = 0; i < g->nnodes; i++)
		n += !strcmp(g->nodes[i].op, op);
	return n;
}

/* Terms of a weight's gradient that many steps add are computed together, if
 * the result is larger than what they are computed from. */
START_TEST(joined_terms)
{
	static const struct {
		int steps, batch, products, stacks;
	} cases[] = {
		{ 2, 1, 2 + 1 + 2, 0 },
		/* 144 elements for 2*12 of a step: six steps at a time */
		{ 5, 1, 1 + 3 + 1, 2 * 2 },
		/* one is left, as groups of three and four are too small */
		{ 7, 1, 2 + 1 + 1, 2 * 3 },
		{ 9, 1, 2 + 1 + 1, 2 * 4 },
		/* for 2*24 of a step three, which are too few */
		{ 5, 2, 5 + 3 + 4, 0 },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const train_options o = { .optimizer = "descend",
					  .recompute = i % 2 ? "*" : NULL };
		graph *g = recurrence(&o, cases[i].steps, cases[i].batch);
		ck_assert(g);
		ck_assert_int_eq(count_nodes(g, "matmul_grad_b"),
				 cases[i].products);
		ck_assert_int_eq(count_nodes(g, "stack"), cases[i].stacks);
		values v = begin(g);
		for (int t = 0; t < g->ntensors; t++)
			if (g->tensors[t].kind == TENSOR_STATE)
				ck_assert_int_gt(compare(&v, &g->tensors[t],
							 v.of[t]), 100);
	}
}
END_TEST

/* A node of the backward pass says whose gradient it computes, a tensor what it
 * is the derivative by. */
static void check_origins(const graph *g)
{
	for (int i = 0; i < g->nnodes; i++) {
		int f = g->nodes[i].forward;
		if (f == NONE)
			continue;
		ck_assert(f >= 0 && f < i);
		ck_assert_int_eq(g->nodes[f].forward, NONE);
		ck_assert_int_ne(g->nodes[f].call, g->nodes[i].call);
	}
	for (int i = 0; i < g->ntensors; i++) {
		int x = g->tensors[i].gradient_of;
		if (x == NONE)
			continue;
		ck_assert(g->tensors[i].kind == TENSOR_RESULT);
		ck_assert(g->tensors[x].gradient_of == NONE);
		ck_assert_int_eq(g->tensors[i].type.ndim,
				 g->tensors[x].type.ndim);
	}
	ck_assert(g->training && g->tensors[g->loss].output);
}

START_TEST(origins)
{
	const char *const freeze[] = { "fro*" };
	int made = 0;
	for (int i = 0; i < TRIALS; i++) {
		bool used[1] = { false };
		const train_options o = { .optimizer = "descend",
					  .freeze = { freeze, 1, used } };
		graph *g = random_model(&o);
		if (g)
			check_origins(g);
		made += g != NULL;
	}
	ck_assert_int_gt(made, TRIALS / 2);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("training");
	TCase *t = tcase_create("training");
	tcase_add_checked_fixture(t, setup, tear_down_modules);
	tcase_add_test(t, slopes);
	tcase_add_test(t, joined_terms);
	tcase_add_test(t, origins);
	suite_add_tcase(s, t);
	return s;
}

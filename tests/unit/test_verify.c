/* Tests: compiler/verify */
/* compiler/verify finds faults that are planted in correct kernels and
 * descriptors. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "compiler/verify/trial.h"
#include "tests/unit/suite.h"

/* An operator under test, and the trial that is repeated on it. */
typedef struct bench {
	trial t;
	verifier v;
	verify_result result;
	draw drawn;
} bench;

#define DIMS(...) ((const int64_t[]){ __VA_ARGS__ })

static void set_up(bench *b, const char *text, const dtype *types,
		   const int *ndims, const int64_t *dims)
{
	arena *a = arena_new();
	diag_sink *sink = diag_sink_new(a);
	tdl_modules *m = dsl_new(a, sink, NULL, 0);
	bool loaded = dsl_load_text(m, "test.tdl", text, strlen(text));
	if (!loaded)
		diag_print(sink, stderr, false);
	ck_assert(loaded);
	*b = (bench){ 0 };
	b->v = (verifier){ .arena = a, .modules = m, .random = { 5 },
			   .op = strmap_value(m->ops, 0) };
	int64_t effort = 100000;
	b->v.described = descriptor_of(a, m, b->v.op);
	b->v.symbolic = symbolic_op(a, m, b->v.op, &effort);
	b->drawn.attrs = ARENA_ARRAY(a, const attr_value *, 1);
	b->drawn.types = ARENA_ARRAY(a, tensor_type, b->v.op->nparams);
	for (int i = 0; i < b->v.op->nparams; i++) {
		tensor_type *t = &b->drawn.types[i];
		t->type = types[i];
		t->ndim = ndims[i];
		for (int d = 0; d < t->ndim; d++)
			t->dims[d] = *dims++;
	}
	b->t = (trial){ .arena = a, .drawn = &b->drawn };
	b->t.x = expand_op(a, m, sink, b->v.op, b->drawn.types,
			   b->drawn.attrs, (call_site){ .place = "a test" });
	ck_assert_ptr_nonnull(b->t.x);
	b->t.v = &b->v;
	b->v.result = &b->result;
}

/* The kernel of the last stage. */
static kernel *last(bench *b)
{
	return b->t.x->stages[b->t.x->nstages - 1].kernel;
}

/* The number of findings of a kind that the checks of the last stage make. */
static int found_in(bench *b, verify_kind kind, int trials)
{
	int n = 0, at = b->t.x->nstages - 1;
	for (int i = 0; i < trials; i++) {
		ck_assert(begin_trial(&b->t));
		check_cuts(&b->t, at);
		check_regions(&b->t, at);
		check_attempts(&b->t, at);
		check_partials(&b->t, at);
		check_symbolic(&b->t);
	}
	report_attempts(&b->v);
	for (int i = 0; i < b->v.findings.n; i++)
		n += b->v.findings.at[i].kind == kind;
	return n;
}

static int found(bench *b, verify_kind kind)
{
	return found_in(b, kind, 5);
}

static void tear_down(bench *b)
{
	arena_free(b->t.arena);
}

/* Gives the kernel the regions of another body. */
static void plant_accesses(bench *b, kexpr *body)
{
	kernel other = *last(b);
	other.body = body;
	kernel_finish(b->t.arena, &other);
	last(b)->accesses = other.accesses;
	last(b)->naccesses = other.naccesses;
}

static kexpr *read1(arena *a, int input, kexpr *i)
{
	return kx_read(a, input, DT_F32, 1, &i, NULL);
}

static void set_up_halo(bench *b)
{
	set_up(b, "op f(x[N]) -> y[N - 1] = lambda i: x[i] - x[i + 1]",
	       (dtype[]){ DT_F32 }, (int[]){ 1 }, DIMS(9));
}

START_TEST(nothing_is_wrong)
{
	bench b;
	set_up_halo(&b);
	for (int k = 0; k < VERIFY_KINDS; k++)
		ck_assert_int_eq(found(&b, (verify_kind)k), 0);
	ck_assert_int_gt(b.result.parts, 0);
	ck_assert_int_gt(b.result.symbolic, 0);
	tear_down(&b);
}
END_TEST

START_TEST(halo_too_small)
{
	bench b;
	set_up_halo(&b);
	plant_accesses(&b, read1(b.t.arena, 0, kx_var(b.t.arena, 0)));
	/* A read outside its region, wrong results of the parts, and the
	 * descriptor's correct regions, larger than the planted ones. */
	ck_assert_int_ge(found(&b, VERIFY_WRONG), 3);
	tear_down(&b);
}
END_TEST

START_TEST(halo_too_large)
{
	bench b;
	set_up_halo(&b);
	arena *a = b.t.arena;
	kexpr *back = kx_fn2(a, FN_SUB, kx_var(a, 0), kx_int(a, 2, DT_I64));
	kexpr *body = kx_fn2(a, FN_ADD, read1(a, 0, back), last(&b)->body);
	plant_accesses(&b, body);
	ck_assert_int_eq(found(&b, VERIFY_WIDE), 1);
	tear_down(&b);
}
END_TEST

static void set_up_concat(bench *b)
{
	set_up(b, "op f(a[A], b[B]) -> y[A + B] = lambda i: "
	       "if i < A then a[i] else b[i - A]",
	       (dtype[]){ DT_F32, DT_F32 }, (int[]){ 1, 1 }, DIMS(5, 4));
}

/* The planted condition is i < 4, the operator's i < 5. */
START_TEST(condition_too_narrow)
{
	bench b;
	set_up_concat(&b);
	arena *a = b.t.arena;
	kexpr *body = ARENA_COPY(a, last(&b)->body, 1);
	kexpr *before = kx_fn2(a, FN_LT, kx_var(a, 0), kx_int(a, 4, DT_I64));
	ck_assert_int_eq(body->kind, KX_SELECT);
	body->args = ARENA_COPY(a, body->args, 3);
	body->args[0] = before;
	plant_accesses(&b, body);
	ck_assert_int_ge(found(&b, VERIFY_WRONG), 1);
	tear_down(&b);
}
END_TEST

/* The planted accesses ignore the condition. */
START_TEST(condition_dropped)
{
	bench b;
	set_up(&b, "op f(x[N, M]) -> y[N, M] = lambda i, j: "
	       "if j <= i then x[i, j] else 0",
	       (dtype[]){ DT_F32 }, (int[]){ 2 }, DIMS(5, 5));
	plant_accesses(&b, last(&b)->body->args[1]);
	ck_assert_int_eq(found(&b, VERIFY_WIDE), 2);
	tear_down(&b);
}
END_TEST

static void set_up_lookup(bench *b)
{
	set_up(b, "op f(ids[N]: i64, t[V, D]) -> y[N, D] = "
	       "lambda n, d: t[ids[n], d]",
	       (dtype[]){ DT_I64, DT_F32 }, (int[]){ 1, 2 }, DIMS(6, 5, 3));
}

/* Removes from the last stage the variable that is derived from a look-up. */
static void forget_lookup(bench *b)
{
	ck_assert_int_eq(last(b)->nderived, 1);
	last(b)->nderived--;
	last(b)->nvars--;
}

START_TEST(strategy_missing)
{
	bench b;
	set_up_lookup(&b);
	forget_lookup(&b);
	ck_assert_int_eq(found(&b, VERIFY_MISSED), 1);
	tear_down(&b);
}
END_TEST

START_TEST(guarded_missing)
{
	bench b;
	set_up(&b, "op f(ids[N]: i64, t[V, D]) -> y[N, D] = "
	       "lambda n, d: (t[ids[n] + 1, d] else 0)",
	       (dtype[]){ DT_I64, DT_F32 }, (int[]){ 1, 2 }, DIMS(6, 5, 3));
	forget_lookup(&b);
	ck_assert_int_eq(found_in(&b, VERIFY_MISSED, 20), 1);
	tear_down(&b);
}
END_TEST

/* A guard that gives 1 in place of 0: every part adds it for the rows that the
 * part does not hold. */
START_TEST(guard_wrong)
{
	bench b;
	set_up(&b, "op f(ids[N]: i64, t[V, D]) -> y[N, D] = "
	       "lambda n, d: (t[ids[n] + 1, d] else 0)",
	       (dtype[]){ DT_I64, DT_F32 }, (int[]){ 1, 2 }, DIMS(6, 5, 3));
	const kexpr *read = last(&b)->body;
	last(&b)->body = kx_read(b.t.arena, read->input, read->type, 2,
				 read->args,
				 kx_float(b.t.arena, 1, read->type));
	ck_assert_int_ge(found(&b, VERIFY_WRONG), 1);
	tear_down(&b);
}
END_TEST

/* exp(0) is not 0: the parts' results do not add up. */
START_TEST(reducer_wrong)
{
	bench b;
	set_up_lookup(&b);
	last(&b)->body = kx_fn1(b.t.arena, FN_EXP, last(&b)->body);
	ck_assert_int_ge(found(&b, VERIFY_WRONG), 1);
	tear_down(&b);
}
END_TEST

START_TEST(reason_wrong)
{
	bench b;
	set_up(&b, "op f(x[N, M]) -> y[N] = lambda i: Max(lambda j: x[i, j])",
	       (dtype[]){ DT_F32 }, (int[]){ 2 }, DIMS(4, 6));
	last(&b)->vars[1].indivisible_reason = "nobody tried";
	ck_assert_int_eq(found_in(&b, VERIFY_MISSED, 20), 1);
	ck_assert_int_eq(b.v.whole.n, 1);
	tear_down(&b);
}
END_TEST

/* ---- descriptors -------------------------------------------------------- */

START_TEST(descriptor_wrong)
{
	bench b;
	set_up_halo(&b);
	desc_region *r =
		&b.v.described->stages[0].strategies[0].needs[0].regions[0];
	const poly *hi = r->hi;
	r->hi = poly_shift(b.t.arena, hi, -1);
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 1);
	r->hi = poly_shift(b.t.arena, hi, 1);
	b.v.findings.n = 0;
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 1);
	r->hi = hi;
	b.v.findings.n = 0;
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 0);
	b.v.described->stages[0].nstrategies = 0;
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 1);
	tear_down(&b);
}
END_TEST

START_TEST(passing_wrong)
{
	bench b;
	set_up_concat(&b);
	desc_stage *s = &b.v.described->stages[0];
	ck_assert_int_gt(s->npassing, 0);
	s->passing[0].to = RED_PROD;
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 1);
	tear_down(&b);
}
END_TEST

/* ---- partial values ------------------------------------------------------ */

static void set_up_sum(bench *b, const char *body)
{
	char text[128];
	snprintf(text, sizeof(text),
		 "op f(a[N], b[N]) -> y[N] = lambda i: %s", body);
	set_up(b, text, (dtype[]){ DT_F32, DT_F32 }, (int[]){ 1, 1 },
	       DIMS(6, 6));
}

/* Wrong findings by the reference alone. */
static int found_by_definition(bench *b)
{
	b->v.findings.n = 0;
	for (int i = 0; i < 20; i++) {
		ck_assert(begin_trial(&b->t));
		check_passing(&b->t);
	}
	return b->v.findings.n;
}

/* A product is linear in each factor, and not in both. */
START_TEST(joint_passing_wrong)
{
	static const kpassing both = { 3, RED_SUM, RED_SUM };
	bench b;
	set_up_sum(&b, "a[i] * b[i]");
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 0);
	ck_assert_int_eq(found_by_definition(&b), 0);
	ck_assert_int_gt(b.result.passed, 0);
	last(&b)->passings = &both;
	last(&b)->npassings = 1;
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 1);
	ck_assert_int_eq(found_by_definition(&b), 1);
	tear_down(&b);
}
END_TEST

/* Each alone passes by Max, both do not; nor does one by Sum. */
START_TEST(single_passing_wrong)
{
	static const kpassing wrong[] = { { 3, RED_MAX, RED_MAX },
					  { 1, RED_SUM, RED_SUM } };
	bench b;
	set_up_sum(&b, "a[i] + b[i]");
	for (int i = 0; i < 2; i++) {
		last(&b)->passings = &wrong[i];
		last(&b)->npassings = 1;
		b.v.findings.n = 0;
		ck_assert_int_eq(found(&b, VERIFY_WRONG), 1);
		ck_assert_int_eq(found_by_definition(&b), 1);
	}
	tear_down(&b);
}
END_TEST

START_TEST(joint_passing_missing)
{
	bench b;
	set_up_sum(&b, "a[i] + b[i]");
	ck_assert_int_eq(found_in(&b, VERIFY_MISSED, 40), 0);
	last(&b)->npassings = 0;
	ck_assert_int_eq(found_in(&b, VERIFY_MISSED, 40), 1);
	const verify_finding *f = &b.v.findings.at[b.v.findings.n - 1];
	ck_assert_str_eq(f->about, "{a, b}");
	tear_down(&b);
}
END_TEST

START_TEST(joint_descriptor_wrong)
{
	bench b;
	set_up_sum(&b, "a[i] + b[i]");
	desc_stage *s = &b.v.described->stages[0];
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 0);
	ck_assert_int_eq(s->passing[s->npassing - 1].inputs, 3);
	s->passing[s->npassing - 1].inputs = 2;
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 1);
	tear_down(&b);
}
END_TEST

/* ---- definitions --------------------------------------------------------- */

/* Whether the reference finds a difference between the kernels and the
 * operator's definition. */
static bool differs(bench *b)
{
	b->v.findings.n = 0;
	ck_assert(begin_trial(&b->t));
	ck_assert(check_reference(&b->t));
	return b->v.findings.n > 0;
}

START_TEST(definition_changed)
{
	bench b;
	set_up(&b, "op f(x[M, N], k[M]: i32) -> (y[M], z[M]: i32) =\n"
	       "lambda i: Mean(lambda j: Sum(lambda r < 2: x[i, j] - 1))\n"
	       "lambda i: k[i] / 3",
	       (dtype[]){ DT_F32, DT_I32 }, (int[]){ 2, 1 }, DIMS(5, 4, 5));
	arena *a = b.t.arena;
	ck_assert_int_eq(b.t.x->nstages, 3);
	ck_assert(!differs(&b));
	ck_assert_int_gt(b.result.elements, 0);
	/* The divisor 4 * 2, as if the mean ran over both j and r. */
	kernel *mean = b.t.x->stages[1].kernel;
	kexpr *body = ARENA_COPY(a, mean->body, 1);
	mean->body = body;
	body->args = ARENA_COPY(a, body->args, 2);
	body->args[1] = kx_float(a, 8, DT_F32);
	ck_assert(differs(&b));
	body->args[1] = kx_float(a, 4, DT_F32);
	ck_assert(!differs(&b));
	/* A division that rounds towards zero, not down. */
	kexpr *third = last(&b)->body;
	last(&b)->body = kx_cast(a, kx_fn2(a, FN_DIV,
					   kx_cast(a, third->args[0], DT_F32),
					   kx_float(a, 3, DT_F32)), DT_I32);
	ck_assert(differs(&b));
	tear_down(&b);
}
END_TEST

/* ---- opaque functions --------------------------------------------------- */

START_TEST(opaque_functions)
{
	bench b;
	set_up(&b, "opaque inverse(m[N, N]) -> l[N, N] = \"inverse\"\n"
	       "op f(a[B, N, N]) -> y[B, N, N] = "
	       "lambda b, i, j: inverse(a[b, :, :])[i, j]",
	       (dtype[]){ DT_F32 }, (int[]){ 3 }, DIMS(4, 3, 3));
	ck_assert_int_eq(found(&b, VERIFY_WRONG), 0);
	ck_assert_int_eq(b.v.proved.n, 1);
	ck_assert_int_eq(b.v.whole.n, 2);
	/* The accesses of a kernel that reads only the first matrix. */
	last(&b)->slices[0].at[0] = kx_int(b.t.arena, 0, DT_I64);
	kernel_finish(b.t.arena, last(&b));
	kexpr *own = kx_var(b.t.arena, 0);
	last(&b)->slices[0].at[0] = own;
	ck_assert_int_ge(found(&b, VERIFY_WRONG), 1);
	tear_down(&b);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("verify");
	TCase *t = tcase_create("verify");
	tcase_add_test(t, nothing_is_wrong);
	tcase_add_test(t, halo_too_small);
	tcase_add_test(t, halo_too_large);
	tcase_add_test(t, condition_too_narrow);
	tcase_add_test(t, condition_dropped);
	tcase_add_test(t, strategy_missing);
	tcase_add_test(t, guarded_missing);
	tcase_add_test(t, guard_wrong);
	tcase_add_test(t, reducer_wrong);
	tcase_add_test(t, reason_wrong);
	tcase_add_test(t, descriptor_wrong);
	tcase_add_test(t, passing_wrong);
	tcase_add_test(t, joint_passing_wrong);
	tcase_add_test(t, single_passing_wrong);
	tcase_add_test(t, joint_passing_missing);
	tcase_add_test(t, joint_descriptor_wrong);
	tcase_add_test(t, definition_changed);
	tcase_add_test(t, opaque_functions);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: plan */
/* The parts of running on GPUs that need none: kernels are bound to the runs of
 * a plan, their parameters packed. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/cuda_binding.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

static arena *mem;

enum { BASE = 1 << 20, FAULT = 4321 };

/* A random plan all of whose kernels have CUDA; what that says is not looked
 * at. */
static plan *some_plan(uint64_t seed)
{
	plan *p = random_plan(mem, seed, 1 + (int)(seed % 10), false);
	for (int i = 0; i < p->nkernels; i++)
		p->kernels[i].cuda = "";
	return p;
}

/* ---- what the text says ------------------------------------------------ */

/* The value that a definition gives a name: a number, or one of the words. */
static int64_t defined(const binding *b, const char *name, const int64_t *w)
{
	const char *line = arena_printf(mem, "#define %s ((", name);
	const char *at = strstr(b->define, line);
	int n;
	ck_assert_msg(at != NULL, "%s is not defined:\n%s", name, b->define);
	ck_assert_msg(!strstr(at + 1, line), "%s is defined twice", name);
	ck_assert_msg(strstr(b->undefine,
			     arena_printf(mem, "#undef %s\n", name)) != NULL,
		      "%s stays defined", name);
	at = strchr(at + strlen(line), ')') + 1;
	if (sscanf(at, "p.w[%d]", &n) == 1) {
		ck_assert_int_ge(n, 0);
		ck_assert_int_lt(n, b->nwords);
		return w[n];
	}
	return strtoll(at, NULL, 10);
}

static int64_t defined_of(const binding *b, const char *name, int i,
			  const int64_t *w)
{
	return defined(b, arena_printf(mem, name, i), w);
}

/* The element at an index lies where the region says. */
static void check_operand(const plan *p, const binding *b, const int64_t *w,
			  int worker, int buffer, const char *name)
{
	const plan_buffer *x = &p->buffers[buffer];
	size_t size = dtype_size(p->tensors[x->tensor].type);
	region r = plan_region(p, buffer, worker);
	int64_t at = defined(b, name, w), dense = 0;
	if (r.count == 0)
		return;
	for (int d = 0; d < r.at.n; d++) {
		/* The middle, which is no corner. */
		int64_t i = (r.at.lo[d] + r.at.hi[d]) / 2;
		const char *of = arena_printf(mem, "%s_STRIDE_%d", name, d);
		int64_t stride = defined(b, of, w);
		at += i * stride * (int64_t)size;
		dense = dense * (r.at.hi[d] - r.at.lo[d]) + i - r.at.lo[d];
	}
	ck_assert_int_eq(at, BASE + worker + x->offset +
				     dense * (int64_t)size);
}

static void check_run(const plan *p, const binding *b, int instr, int worker)
{
	const plan_instr *in = &p->program[instr];
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	box space = plan_space(p, in, worker);
	bind_run r = bind_run_of(p, instr, worker, BASE + (uint64_t)worker);
	int64_t *w = ARENA_ARRAY(mem, int64_t, b->nwords);
	r.fault = FAULT;
	bind_words(b, &r, w);
	for (int v = 0; v < k->nvars; v++) {
		int64_t lo = defined_of(b, "TDL_LO_%d", v, w);
		int64_t count = defined_of(b, "TDL_COUNT_%d", v, w);
		ck_assert_int_eq(lo, space.lo[v]);
		ck_assert_int_eq(lo + count, space.hi[v]);
	}
	for (int i = 0; i < k->ninputs; i++)
		check_operand(p, b, w, worker, in->inputs[i],
			      arena_printf(mem, "TDL_IN_%d", i));
	check_operand(p, b, w, worker, in->to, "TDL_OUT");
	ck_assert_int_eq(defined(b, "TDL_FAULT", w), FAULT);
}

/* ---- tests ------------------------------------------------------------- */

static const binding *binding_of(const plan *p, const binding *all, int instr)
{
	return &all[p->nodes[p->program[instr].node].kernel];
}

START_TEST(test_runs)
{
	plan *p = some_plan((uint64_t)_i);
	int nworkers = mesh_workers(&p->mesh);
	const binding *b = bind_kernels(mem, p, 0, nworkers);
	for (int i = 0; i < p->ninstrs; i++)
		for (int w = 0; p->program[i].op == PLAN_RUN && w < nworkers;
		     w++)
			check_run(p, binding_of(p, b, i), i, w);
}
END_TEST

/* A process that has one worker of many. */
START_TEST(test_alone)
{
	plan *p = some_plan((uint64_t)_i);
	int last = mesh_workers(&p->mesh) - 1;
	const binding *b = bind_kernels(mem, p, last, 1);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_RUN)
			check_run(p, binding_of(p, b, i), i, last);
}
END_TEST

/* On one worker all but the addresses is known when a kernel runs once. */
START_TEST(test_numbers)
{
	plan *p = plan_one_device(mem, some_plan((uint64_t)_i));
	const binding *b = bind_kernels(mem, p, 0, 1);
	for (int i = 0; i < p->nkernels; i++) {
		int n = p->kernels[i].kernel->ninputs + 2;
		if (b[i].used)
			ck_assert_int_eq(b[i].nwords, n);
	}
}
END_TEST

/* All processes of a run compile the same. */
START_TEST(test_same_text)
{
	plan *p = some_plan((uint64_t)_i);
	int nworkers = mesh_workers(&p->mesh);
	const binding *all = bind_kernels(mem, p, 0, nworkers);
	for (int w = 0; w < nworkers; w++) {
		const binding *b = bind_kernels(mem, p, w, 1);
		for (int i = 0; i < p->nkernels; i++)
			if (b[i].used)
				ck_assert_str_eq(b[i].define, all[i].define);
	}
}
END_TEST

/* ---- widths ------------------------------------------------------------ */

/* out[i] = a[i] over n elements, or of i * factor. */
static plan *copy_plan(int64_t n, int64_t factor)
{
	static plan_node node;
	static int input;
	plan *p = ARENA_NEW(mem, plan);
	kernel *k = ARENA_NEW(mem, kernel);
	kexpr *i = kx_var(mem, 0);
	*k = (kernel){ .name = "copy", .nvars = 1, .nout = 1, .type = DT_F32,
		       .ninputs = 1 };
	k->vars = ARENA_NEW(mem, kvar);
	k->vars[0] = (kvar){ "i", KVAR_OUTPUT, n, NULL };
	k->inputs = ARENA_NEW(mem, kinput);
	k->inputs[0] = (kinput){ .name = "a", .type = DT_F32, .ndim = 1,
				 .dims = { n } };
	if (factor != 1)
		i = kx_fn2(mem, FN_MUL, i, kx_int(mem, factor, DT_I64));
	k->body = kx_read(mem, 0, DT_F32, 1, &i,
			  factor != 1 ? kx_float(mem, 0, DT_F32) : NULL);
	kernel_finish(mem, k);
	*p = (plan){ .nkernels = 1, .ntensors = 2, .nnodes = 1, .nbuffers = 2,
		     .ninstrs = 1 };
	p->kernels = ARENA_NEW(mem, plan_kernel);
	p->kernels[0] = (plan_kernel){ .kernel = k, .cuda = "" };
	p->tensors = ARENA_ARRAY(mem, plan_tensor, 2);
	p->buffers = ARENA_ARRAY(mem, plan_buffer, 2);
	for (int t = 0; t < 2; t++) {
		p->tensors[t] = (plan_tensor){ .name = "t", .type = DT_F32,
					       .ndim = 1, .dims = { n },
					       .cuts = cuts_none(),
					       .buffer = t };
		p->buffers[t] = (plan_buffer){ .tensor = t, .node = -1 };
	}
	node = (plan_node){ .name = "copy", .op = "copy", .cuts = cuts_none(),
			    .inputs = &input, .output = 1 };
	p->nodes = &node;
	p->program = ARENA_NEW(mem, plan_instr);
	p->program[0] = (plan_instr){ .op = PLAN_RUN, .inputs = &input,
				      .to = 1 };
	return p;
}

static bool is_wide(int64_t n, int64_t factor)
{
	const binding *b = bind_kernels(mem, copy_plan(n, factor), 0, 1);
	const char *wide = strstr(b->define, "#define TDL_INT int64_t\n");
	const char *narrow = strstr(b->define, "#define TDL_INT int32_t\n");
	ck_assert(!wide != !narrow);
	return wide != NULL;
}

START_TEST(test_widths)
{
	const int64_t limit = (INT64_C(1) << 31) - (1 << 20);
	ck_assert(!is_wide(0, 1));
	ck_assert(!is_wide(1000, 1));
	ck_assert(!is_wide(limit, 1));
	ck_assert(is_wide(limit + 1, 1));
	ck_assert(is_wide(INT64_C(1) << 40, 1));
	/* An index that leaves 32 bits, though the tensor does not. */
	ck_assert(!is_wide(1000, 1000));
	ck_assert(is_wide(1000, 10000000));
}
END_TEST

static void setup(void)
{
	mem = arena_new();
}

static void teardown(void)
{
	arena_free(mem);
}

Suite *suite(void)
{
	Suite *s = suite_create("cuda");
	TCase *t = tcase_create("binding");
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_runs, 1, 200);
	tcase_add_loop_test(t, test_alone, 1, 60);
	tcase_add_loop_test(t, test_numbers, 1, 60);
	tcase_add_loop_test(t, test_same_text, 1, 60);
	tcase_add_test(t, test_widths);
	suite_add_tcase(s, t);
	return s;
}

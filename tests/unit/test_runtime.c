/* Tests: runtime/exec runtime/cpu runtime/run */
/* The runtime: programs run by workers, what they do when one fails, files of
 * arrays, the cache of compiled kernels. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/memory.h"
#include "compiler/codegen/codegen.h"
#include "kernel/eval.h"
#include "layout/mesh.h"
#include "runtime/comm/barrier.h"
#include "runtime/cpu/build.h"
#include "runtime/exec/builtin.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/invent.h"
#include "runtime/exec/thread_pool.h"
#include "runtime/exec/verify.h"
#include "runtime/run/inputs.h"
#include "tests/unit/affinity.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

/* ---- programs ---------------------------------------------------------- */

typedef struct outcome {
	array *outputs;
	int64_t received, used;
} outcome;

static outcome run_plan(const plan *p, const array *inputs, int steps,
			kernels_from kernels)
{
	backend_options o = { .kernels = kernels };
	failure f = { 0 };
	outcome out = { 0 };
	executor *m = executor_open(pipeline_of_plan(mem, p), "plan",
				    &backend_cpu, &comm_threads, NULL, &o, &f);
	ck_assert_msg(m != NULL, "%s", f.text);
	out.outputs = arrays_of(mem, p, p->outputs, p->noutputs, &f);
	for (int i = 0; i < steps; i++)
		ck_assert_msg(executor_step(m, inputs, out.outputs, &f), "%s",
			      f.text);
	out.received = executor_received(m) / steps;
	out.used = executor_arena_used(m, 0);
	executor_close(m);
	return out;
}

/* Random programs give what one worker gives, bit for bit: all their values
 * are small whole numbers. */
static void check_plan(uint64_t seed, kernels_from kernels)
{
	plan *p = random_plan(mem, seed, 1 + (int)(seed % 10),
			      kernels == KERNELS_GENERATED);
	plan *one = plan_one_device(mem, p);
	failure f = { 0 };
	array *inputs = arrays_of(mem, p, p->inputs, p->ninputs, &f);
	invent_inputs(p, inputs);
	for (int i = 0; i < p->ninputs; i++)
		for (int64_t e = 0; e < array_nelem(&inputs[i]); e++)
			if (dtype_is_float(inputs[i].type))
				elem_set_f64(inputs[i].type, inputs[i].data, e,
					     (double)((e * 7 + i) % 5 - 2));
	outcome got = run_plan(p, inputs, 2, kernels);
	outcome want = run_plan(one, inputs, 1, KERNELS_INTERPRETER);
	comparison c = verify_outputs(p, got.outputs, want.outputs);
	ck_assert_msg(c.max_abs_error == 0, "seed %d: '%s' differs by %g",
		      (int)seed, c.worst, c.max_abs_error);
	ck_assert_int_eq(got.received, p->communication_bytes);
	ck_assert_int_eq(got.used, p->arena_bytes);
	ck_assert_int_eq(want.received, 0);
	arrays_free(inputs, p->ninputs);
	arrays_free(got.outputs, p->noutputs);
	arrays_free(want.outputs, p->noutputs);
}

/* With fewer processors than workers, which share them, and with enough. */
START_TEST(programs_interpreted)
{
	static const int counts[] = { 1, 2, 64 };
	for (uint64_t seed = 0; seed < 150; seed++) {
		pretend_processors(counts[seed % 3]);
		check_plan(seed, KERNELS_INTERPRETER);
	}
	pretend_processors(0);
}
END_TEST

START_TEST(programs_generated)
{
	for (uint64_t seed = 1000; seed < 1012; seed++)
		check_plan(seed, KERNELS_GENERATED);
}
END_TEST

START_TEST(rows_are_named)
{
#ifndef HAVE_ONEDNN
	plan *p = random_plan(mem, 1, 3, false);
	backend_options o = { .kernels = KERNELS_LIBRARY };
	failure f = { 0 };
	ck_assert_ptr_null(executor_open(pipeline_of_plan(mem, p), "plan",
					 &backend_cpu, &comm_threads, NULL, &o,
					 &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
#endif
	ck_assert_str_eq(backend_row(0)->name, "cpu");
	ck_assert_str_eq(backend_row(1)->name, "cuda");
	for (int moves = 0; moves < 2; moves++)
		ck_assert_str_eq(comm_row(0, moves)->name, "threads");
	ck_assert_str_eq(comm_row(1, true)->name, "mpi");
	ck_assert_ptr_null(comm_row(1, false));
	ck_assert_ptr_null(comm_row(2, true));
	ck_assert_str_eq(comm_row(2, false)->name, "nccl");
}
END_TEST

/* ---- one kernel -------------------------------------------------------- */

/* A plan that runs one kernel on one worker. */
static plan *plan_of(const kernel *k)
{
	int n = k->ninputs;
	plan *p = ARENA_NEW(mem, plan);
	int *ids = ARENA_ARRAY(mem, int, n + 1);
	p->model = p->algorithm = "one";
	p->nkernels = p->nnodes = p->ninstrs = p->noutputs = 1;
	p->ntensors = p->nbuffers = n + 1;
	p->ninputs = n;
	p->kernels = ARENA_NEW(mem, plan_kernel);
	p->kernels[0] = (plan_kernel){ k, codegen_c(mem, k) };
	p->tensors = ARENA_ARRAY(mem, plan_tensor, n + 1);
	p->buffers = ARENA_ARRAY(mem, plan_buffer, n + 1);
	for (int i = 0; i <= n; i++) {
		plan_tensor *t = &p->tensors[i];
		ids[i] = i;
		t->name = i < n ? k->inputs[i].name : "out";
		t->type = i < n ? k->inputs[i].type : k->type;
		t->ndim = i < n ? k->inputs[i].ndim : k->nout;
		for (int d = 0; d < t->ndim; d++)
			t->dims[d] = i < n ? k->inputs[i].dims[d] :
					     kernel_dim(k, d);
		t->role = i < n ? PLAN_INPUT : PLAN_RESULT;
		t->output = i == n;
		t->cuts = cuts_none();
		t->buffer = i;
		p->buffers[i] = (plan_buffer){
			.tensor = i, .region = LAYOUT_STORED, .node = -1,
			.nbytes = plan_tensor_nbytes(t),
		};
	}
	p->nodes = ARENA_NEW(mem, plan_node);
	p->nodes[0] = (plan_node){ "n0", k->name, 0, cuts_none(), ids, n };
	p->program = ARENA_NEW(mem, plan_instr);
	p->program[0] = (plan_instr){ .op = PLAN_RUN, .inputs = ids, .to = n };
	p->inputs = ids;
	p->outputs = ids + n;
	plan_place(p);
	return p;
}

/* out[b, j] = table[ids[b], j] */
static kernel *gather(void)
{
	kernel *k = ARENA_NEW(mem, kernel);
	k->name = "gather";
	k->nvars = k->nout = 2;
	k->vars = ARENA_ARRAY(mem, kvar, 2);
	k->vars[0] = (kvar){ "b", KVAR_OUTPUT, 3, NULL };
	k->vars[1] = (kvar){ "j", KVAR_OUTPUT, 4, NULL };
	k->type = DT_F32;
	k->ninputs = 2;
	k->inputs = ARENA_ARRAY(mem, kinput, 2);
	k->inputs[0] = (kinput){ "ids", DT_I64, 1, { 3 } };
	k->inputs[1] = (kinput){ "table", DT_F32, 2, { 5, 4 } };
	kexpr *b = kx_var(mem, 0), *j = kx_var(mem, 1);
	kexpr *at = kx_read(mem, 0, DT_I64, 1, &b, NULL);
	k->body = kx_read(mem, 1, DT_F32, 2, (kexpr *[]){ at, j }, NULL);
	kernel_finish(mem, k);
	return k;
}

/* l[i, j] = cholesky(m[:, :])[i, j], by a kernel of that name. */
static kernel *opaque(const char *symbol)
{
	kernel *k = ARENA_NEW(mem, kernel);
	k->name = "factor";
	k->nvars = k->nout = k->nhidden = 2;
	k->vars = ARENA_ARRAY(mem, kvar, 2);
	k->vars[0] = (kvar){ "i", KVAR_OUTPUT, 3, "hidden" };
	k->vars[1] = (kvar){ "j", KVAR_OUTPUT, 3, "hidden" };
	k->type = DT_F64;
	k->ninputs = k->nslices = 1;
	k->inputs = ARENA_NEW(mem, kinput);
	k->inputs[0] = (kinput){ "m", DT_F64, 2, { 3, 3 } };
	k->opaque = "cholesky";
	k->opaque_symbol = symbol;
	k->slices = ARENA_NEW(mem, kslice);
	k->slices[0] = (kslice){ .input = 0, .ndim = 2 };
	kernel_finish(mem, k);
	return k;
}

/* Runs a plan of one kernel whose input `set` has the elements given. */
static failure run_kernel(const plan *p, kernels_from kernels,
			  const char *library, int set, const double *elements,
			  array **outputs)
{
	backend_options o = { .kernels = kernels, .library = library };
	failure f = { 0 };
	executor *m = executor_open(pipeline_of_plan(mem, p), "plan",
				    &backend_cpu, &comm_threads, NULL, &o, &f);
	if (!m)
		return f;
	array *in = arrays_of(mem, p, p->inputs, p->ninputs, &f);
	invent_inputs(p, in);
	for (int64_t i = 0; i < array_nelem(&in[set]); i++)
		elem_set_f64(in[set].type, in[set].data, i, elements[i]);
	*outputs = ARENA_NEW(mem, array);
	**outputs = executor_array(p, p->outputs[0]);
	(*outputs)->data = arena_alloc(mem, (size_t)array_nbytes(*outputs));
	executor_step(m, in, *outputs, &f);
	executor_close(m);
	arrays_free(in, p->ninputs);
	return f;
}

START_TEST(indices_are_checked)
{
	static const double good[] = { 4, 0, 2 }, bad[] = { 4, -1, 9 };
	plan *p = plan_of(gather());
	array *out;
	for (int k = KERNELS_GENERATED; k <= KERNELS_INTERPRETER; k++) {
		failure f = run_kernel(p, (kernels_from)k, NULL, 0, good,
				       &out);
		ck_assert_msg(f.status == CLI_OK, "%s", f.text);
		ck_assert_double_eq(elem_get_f64(DT_F32, out[0].data, 8),
				    (double)(8 / 20.0f));
		f = run_kernel(p, (kernels_from)k, NULL, 0, bad, &out);
		ck_assert_int_eq(f.status, CLI_INPUT);
		ck_assert_str_eq(f.text, "worker 0: node 'n0' (gather): 'table'"
				 " is read at index -1 of dimension 0, which "
				 "has 5 elements");
	}
}
END_TEST

START_TEST(opaque_functions)
{
	static const double m[] = { 4, 2, 2, 2, 5, 3, 2, 3, 6 };
	static const double no[] = { 0, 0, 0, 0, 0, 0, 0, 0, 0 };
	array *out;
	plan *p = plan_of(opaque("tdl_cholesky"));
	failure f = run_kernel(p, KERNELS_GENERATED, NULL, 0, m, &out);
	ck_assert_msg(f.status == CLI_OK, "%s", f.text);
	ck_assert_double_eq(((double *)out[0].data)[8], 2);
	f = run_kernel(p, KERNELS_GENERATED, NULL, 0, no, &out);
	ck_assert_int_eq(f.status, CLI_INPUT);
	ck_assert_ptr_nonnull(strstr(f.text, "tdl_cholesky"));
	p = plan_of(opaque("my_factor"));
	f = run_kernel(p, KERNELS_GENERATED, NULL, 0, m, &out);
	ck_assert_int_eq(f.status, CLI_INPUT);
	ck_assert_ptr_nonnull(strstr(f.text, "my_factor"));
	f = run_kernel(p, KERNELS_GENERATED, "/nonexistent.so", 0, m, &out);
	ck_assert_int_eq(f.status, CLI_INPUT);
	/* From a library of the user's. */
	FILE *to = fopen(file("my.c"), "w");
	fputs("#include <tdl/kernel.h>\n"
	      "int my_factor(const tdl_kernel_call *c)\n"
	      "{ for (int i = 0; i < 9; i++)\n"
	      "((double *)c->outputs[0].data)[i] = i; return 0; }\n", to);
	fclose(to);
	const char *src = getenv("srcdir");
	ck_assert_int_eq(system(arena_printf(
		mem, "cc -shared -fPIC -I'%s/include' '%s' -o '%s'",
		src ? src : ".", file("my.c"), file("my.so"))), 0);
	f = run_kernel(p, KERNELS_INTERPRETER, file("my.so"), 0, m, &out);
	ck_assert_msg(f.status == CLI_OK, "%s", f.text);
	ck_assert_double_eq(((double *)out[0].data)[5], 5);
}
END_TEST

/* ---- the command ------------------------------------------------------- */

static int tdlrun(const char *args)
{
	const char *program = getenv("TDLRUN");
	int status = system(arena_printf(mem, "'%s' >'%s' 2>&1 %s",
					 program ? program : "./tdlrun",
					 file("said"), args));
	return WEXITSTATUS(status);
}

static bool said(const char *what)
{
	size_t n;
	char *s = file_read(mem, diag_sink_new(mem), file("said"), 1 << 20,
			    &n);
	return s && strstr(s, what);
}

static const struct {
	const char *args;
	int status;
	const char *says;
} commands[] = {
	{ "", 2, "a plan is missing" },
	{ "--help", 0, "--kernels-from" },
	{ "--version", 0, "tdlrun" },
	{ "x y", 2, "one plan" },
	{ "x --steps 0", 2, "steps" },
	{ "x --backend tpu", 2, "tpu" },
	{ "/nonexistent.plan", 1, "cannot read" },
#ifndef HAVE_CUDA /* else tests/cuda/threads.sh */
	{ "PLAN --backend cuda", 4, "'cuda' is not built in" },
#endif
#ifndef HAVE_MPI /* else tests/mpi.sh */
	{ "PLAN --comm mpi", 4, "'mpi' is not built in" },
#endif
	{ "PLAN --comm nccl", 2, "connects GPUs" },
#ifndef HAVE_ONEDNN
	{ "PLAN --kernels library", 4, "not built in" },
#endif
	{ "PLAN --kernels-from /nonexistent.so", 1, "nonexistent" },
	{ "PLAN", 0, "as planned" },
	{ "PLAN --verify --steps 3", 0, "verified" },
	{ "PLAN --verify --json --kernels interpreter", 0,
	  "\"verified\": true" },
	{ "PLAN --json", 0, "\"verified\": null" },
	{ "PLAN --outputs OUT --json", 0, "\"arena_bytes\"" },
	{ "PLAN --inputs OUT", 1, "input" },
	{ "PLAN --inputs /nonexistent.npz", 1, "nonexistent" },
	{ "PLAN --outputs /nonexistent/out.npz", 4, "No such file" },
	{ "PLAN --json >/dev/full", 4, "" },
	{ "PLAN --epochs 3", 2, "--epochs needs --data" },
	{ "PLAN --shuffle", 2, "--shuffle needs --data" },
	{ "PLAN --data OUT --resume", 2, "--resume needs --checkpoint" },
	{ "PLAN --data OUT --keep 2", 2, "--keep needs --checkpoint" },
	{ "PLAN --data OUT --evaluate PLAN", 2, "needs --evaluate-data" },
	{ "PLAN --data OUT --verify", 2, "a run without --data" },
	{ "PLAN --data OUT --epochs 3", 1, "this plan does not train" },
	{ "PLAN --data /nonexistent.npz", 1, "nonexistent" },
	{ "PLAN --learning-rate 1", 1, "no learning rate" },
	{ "PLAN --learning-rate -1", 2, "learning-rate" },
	{ "PLAN --schedule wild", 2, "wild" },
	{ "PLAN --parameters /nonexistent.npz", 1, "nonexistent" },
};

/* The arguments with PLAN and OUT replaced. */
static char *expand(const char *s)
{
	char *to = arena_strdup(mem, "");
	for (; *s; s++)
		if (!strncmp(s, "PLAN", 4) && (s += 3))
			to = arena_printf(mem, "%s'%s'", to, file("p.plan"));
		else if (!strncmp(s, "OUT", 3) && (s += 2))
			to = arena_printf(mem, "%s'%s'", to, file("o.npz"));
		else
			to = arena_printf(mem, "%s%c", to, *s);
	return to;
}

START_TEST(command_line)
{
	uint64_t seed = 2000;
	plan *p;
	do
		p = random_plan(mem, seed++, 6, true);
	while (mesh_workers(&p->mesh) < 3);
	ck_assert(plan_write(p, file("p.plan")));
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		int status = tdlrun(expand(commands[i].args));
		ck_assert_msg(status == commands[i].status &&
			      said(commands[i].says),
			      "'%s': status %d, not %d, or '%s' is not said",
			      commands[i].args, status, commands[i].status,
			      commands[i].says);
	}
}
END_TEST

/* ---- comparing --------------------------------------------------------- */

START_TEST(differences)
{
	plan *p = random_plan(mem, 3, 4, false);
	failure f = { 0 };
	int n = p->noutputs;
	array *x = arrays_of(mem, p, p->outputs, n, &f);
	array *y = arrays_of(mem, p, p->outputs, n, &f);
	comparison c = verify_outputs(p, x, y);
	ck_assert(c.equal && c.exact && c.max_rel_error == 0);
	elem_set_f64(x[n - 1].type, x[n - 1].data, 0, 1);
	c = verify_outputs(p, x, y);
	ck_assert(!c.equal && !c.exact && c.max_abs_error == 1);
	ck_assert_str_eq(c.worst, x[n - 1].name);
	if (dtype_is_float(x[n - 1].type)) {
		elem_set_f64(x[n - 1].type, x[n - 1].data, 0, (double)NAN);
		c = verify_outputs(p, x, y);
		ck_assert(!c.equal);
	}
	arrays_free(x, n);
	arrays_free(y, n);
}
END_TEST

/* ---- workers ----------------------------------------------------------- */

typedef struct quarrel {
	const communicator *c;
	void *link;
	int culprit, rounds;
	int round[16]; /* by worker */
} quarrel;

static bool meet(void *arg, int worker, failure *f)
{
	quarrel *q = arg;
	for (int *i = &q->round[worker]; *i < q->rounds; ++*i) {
		if (worker == q->culprit && *i == 3)
			return fail_with(f, CLI_INPUT, "worker %d gave up",
					 worker);
		if (!q->c->barrier(q->link, worker))
			return false;
	}
	return true;
}

static void *open_link(const plan *p)
{
	unsigned char **none = arena_calloc(
		mem, (size_t)mesh_workers(&p->mesh), sizeof(*none));
	failure f = { 0 };
	void *link = comm_threads.open(NULL, pipeline_of_plan(mem, p), &f);
	ck_assert_ptr_nonnull(link);
	comm_threads.attach(link, none);
	return link;
}

/* By loop count: the processors, fewer than workers and as many. */
static const int some_processors[] = { 1, 2, 64 };

START_TEST(a_failure_ends_all)
{
	plan *p = random_parallel_plan(mem);
	failure f = { 0 };
	quarrel q = { .c = &comm_threads, .culprit = 2, .rounds = 10 };
	pretend_processors(some_processors[_i]);
	q.link = open_link(p);
	ck_assert(!q.c->launch(q.link, meet, &q, &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	ck_assert_str_eq(f.text, "worker 2 gave up");
	q.c->close(q.link);
	f = (failure){ 0 };
	q.culprit = -1;
	memset(q.round, 0, sizeof(q.round));
	q.link = open_link(p);
	ck_assert(q.c->launch(q.link, meet, &q, &f));
	q.c->close(q.link);
	pretend_processors(0);
}
END_TEST

static bool stop_or_meet(void *arg, int worker, failure *f)
{
	quarrel *q = arg;
	if (worker == q->culprit)
		memory_fail(MEMORY_STOPPED);
	return meet(arg, worker, f);
}

static void launch_all(void *arg)
{
	quarrel *q = arg;
	failure f = { 0 };
	q->c->launch(q->link, stop_or_meet, q, &f);
}

/* The call of the library ends when the other workers have ended. */
START_TEST(a_call_that_ends_early_ends_all)
{
	memory m = { 0 };
	quarrel q = { .c = &comm_threads, .culprit = 2, .rounds = 10 };
	pretend_processors(some_processors[_i]);
	q.link = open_link(random_parallel_plan(mem));
	ck_assert_int_eq(memory_call(&m, launch_all, &q), MEMORY_STOPPED);
	q.c->close(q.link);
	pretend_processors(0);
}
END_TEST

static void add_number(void *arg, int i)
{
	((int *)arg)[i] += i + 1;
}

START_TEST(teams)
{
	thread_pool *t = thread_pool_open(4, _i);
	int n = thread_pool_size(t), sums[4] = { 0 };
	ck_assert(n >= 1 && n <= 4);
	for (int round = 0; round < 200; round++)
		thread_pool_run(t, 1 + round % n, add_number, sums);
	for (int i = 0; i < n; i++)
		ck_assert_int_eq(sums[i], (i + 1) * (200 / n * (n - i) +
				 (200 % n > i ? 200 % n - i : 0)));
	thread_pool_close(t);
}
END_TEST

/* A call of a pool, one part of which ends early. */
typedef struct outing {
	thread_pool *pool;
	int culprit, done[4];
} outing;

static void go(void *arg, int i)
{
	outing *o = arg;
	if (i == o->culprit)
		memory_fail(MEMORY_STOPPED);
	o->done[i]++;
}

static void go_all(void *arg)
{
	outing *o = arg;
	thread_pool_run(o->pool, 4, go, o);
}

/* The call of a memory of its own ends as the part does, when all others are
 * done, and the pool computes the next one. */
static void go_often(void *arg, int number)
{
	outing *o = (outing *)arg + number;
	for (int round = 0; round < 60; round++) {
		memory m = { 0 };
		o->culprit = round % 6;
		memory_end want = o->culprit < 4 ? MEMORY_STOPPED : MEMORY_DONE;
		ck_assert_int_eq(memory_call(&m, go_all, o), want);
	}
}

START_TEST(a_part_that_fails_ends_the_call_alone)
{
	outing all[2] = { 0 };
	for (int i = 0; i < 2; i++)
		all[i].pool = thread_pool_open(4, _i);
	thread_pool *both = thread_pool_open(2, false);
	thread_pool_run(both, 2, go_often, all);
	thread_pool_close(both);
	for (int i = 0; i < 2; i++) {
		for (int part = 0; part < 4; part++)
			ck_assert_int_eq(all[i].done[part], 50);
		thread_pool_close(all[i].pool);
	}
}
END_TEST

/* ---- the whole --------------------------------------------------------- */

Suite *suite(void)
{
	Suite *s = suite_create("runtime");
	TCase *c = tcase_create("runtime");
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, programs_interpreted);
	tcase_add_test(c, programs_generated);
	tcase_add_test(c, rows_are_named);
	tcase_add_test(c, indices_are_checked);
	tcase_add_test(c, opaque_functions);
	tcase_add_test(c, command_line);
	tcase_add_test(c, differences);
	tcase_add_loop_test(c, a_failure_ends_all, 0, 3);
	tcase_add_loop_test(c, a_call_that_ends_early_ends_all, 0, 3);
	tcase_add_loop_test(c, teams, 0, 2);
	tcase_add_loop_test(c, a_part_that_fails_ends_the_call_alone, 0, 2);
	suite_add_tcase(s, c);
	return s;
}

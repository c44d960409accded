/* Tests: plan runtime/exec runtime/comm */
/* Plans of several stages, run: they give what one worker gives. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/eval.h"
#include "runtime/exec/executor.h"
#include "runtime/exec/verify.h"
#include "runtime/run/inputs.h"
#include "tests/unit/affinity.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_pipeline.h"
#include "tests/unit/suite.h"

/* ---- running ----------------------------------------------------------- */

/* The outputs and states of the whole of a pipeline, behind some steps. */
typedef struct outcome {
	int n, *tensors;
	array *arrays;
	int64_t received;
} outcome;

static executor *open_pipeline(const plan_pipeline *p)
{
	backend_options o = { .kernels = KERNELS_INTERPRETER };
	failure f = { 0 };
	executor *m = executor_open(p, "plan", &backend_cpu, &comm_threads,
				    NULL, &o, &f);
	ck_assert_msg(m != NULL, "%s", f.text);
	return m;
}

static outcome outcome_of(const plan *whole)
{
	int nstates, *states = plan_states(mem, whole, &nstates);
	outcome x = { .n = whole->noutputs + nstates };
	failure f = { 0 };
	x.tensors = ARENA_ARRAY(mem, int, x.n);
	for (int i = 0; i < x.n; i++)
		x.tensors[i] = i < whole->noutputs
				       ? whole->outputs[i]
				       : states[i - whole->noutputs];
	x.arrays = arrays_of(mem, whole, x.tensors, x.n, &f);
	return x;
}

/* Runs a pipeline whose stages are all of `whole', and checks that each worker
 * uses its arena to the end. */
static outcome run(const plan_pipeline *p, const plan *whole,
		   const array *inputs, int steps)
{
	executor *m = open_pipeline(p);
	outcome x = outcome_of(whole);
	failure f = { 0 };
	for (int i = 0; i < steps; i++)
		ck_assert_msg(executor_step(m, inputs, x.arrays, &f), "%s",
			      f.text);
	for (int i = whole->noutputs; i < x.n; i++)
		ck_assert(executor_state_get(m, &x.arrays[i], &f));
	x.received = executor_received(m);
	for (int s = 0; s < p->nstages; s++)
		ck_assert_int_eq(executor_arena_used(m, s),
				 p->stages[s].arena_bytes);
	executor_close(m);
	return x;
}

/* Small whole numbers, of which sums and products are exact. */
static array *whole_numbers(const plan *p)
{
	failure f = { 0 };
	array *x = arrays_of(mem, p, p->inputs, p->ninputs, &f);
	for (int i = 0; i < p->ninputs; i++)
		for (int64_t e = 0; e < array_nelem(&x[i]); e++)
			elem_set_f64(x[i].type, x[i].data, e,
				     (double)((e * 7 + i) % 5 - 2));
	return x;
}

/* Numbers of which each order of addition makes another sum. */
static array *fractions(const plan *p)
{
	array *x = whole_numbers(p);
	for (int i = 0; i < p->ninputs; i++)
		for (int64_t e = 0; e < array_nelem(&x[i]); e++)
			elem_set_f64(x[i].type, x[i].data, e,
				     1 / (double)(e + 3));
	return x;
}

static plan_pipeline *made_by(uint64_t seed, pipeline_schedule kind)
{
	diag_sink *s = diag_sink_new(mem);
	plan_pipeline *p = random_pipeline(mem, seed, kind, s);
	if (!p)
		diag_print(s, stderr, false);
	ck_assert_ptr_nonnull(p);
	return p;
}

static plan_pipeline *made(uint64_t seed)
{
	static const pipeline_schedule kinds[] = {
		SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_INTERLEAVED,
		SCHEDULE_ZB
	};
	return made_by(seed, kinds[seed % 4]);
}

/* ---- one worker -------------------------------------------------------- */

static void free_outcome(outcome *x)
{
	arrays_free(x->arrays, x->n);
}

static void check_same(const outcome *x, const outcome *y, uint64_t seed)
{
	for (int i = 0; i < x->n; i++)
		ck_assert_msg(!memcmp(x->arrays[i].data, y->arrays[i].data,
				      (size_t)array_nbytes(&x->arrays[i])),
			      "seed %d: '%s' differs", (int)seed,
			      x->arrays[i].name);
}

/* Two steps with exact sums: the same bits as one worker with as many turns,
 * and with one. */
static void check_exact(const plan_pipeline *p, uint64_t seed)
{
	const plan *whole = pipeline_merge(mem, p)->plan;
	const plan *all = plan_one_device(mem, whole);
	const plan *once = plan_one_turn(mem, whole);
	array *in = whole_numbers(whole);
	outcome got = run(p, whole, in, 2);
	outcome want = run(pipeline_of_plan(mem, all), whole, in, 2);
	outcome one = run(pipeline_of_plan(mem, once), whole, in, 2);
	ck_assert_int_eq(got.received, 2 * p->communication_bytes);
	ck_assert_int_eq(want.received, 0);
	check_same(&got, &want, seed);
	check_same(&got, &one, seed);
	free_outcome(&got);
	free_outcome(&want);
	free_outcome(&one);
	arrays_free(in, whole->ninputs);
}

/* With fewer processors than workers, which share them, and with enough. */
START_TEST(whole_numbers_are_the_same)
{
	static const int counts[] = { 1, 2, 64 };
	for (int seed = 0; seed < 300; seed++) {
		if (!sampled(seed))
			continue;
		pretend_processors(counts[seed / 4 % 3]);
		check_exact(made((uint64_t)seed), (uint64_t)seed);
	}
	pretend_processors(0);
}
END_TEST

/* Returns whether all had to be equal, bit for bit. */
static bool check_rounded(const plan_pipeline *p, uint64_t seed)
{
	const pipeline_whole *w = pipeline_merge(mem, p);
	const plan *all = plan_one_device(mem, w->plan);
	bool *divided = verify_divided_in_stages(mem, p, w, false, false);
	bool any = false;
	array *in = fractions(w->plan);
	outcome got = run(p, w->plan, in, 1);
	outcome want = run(pipeline_of_plan(mem, all), w->plan, in, 1);
	comparison c = verify_tensors(w->plan, divided, got.n, got.tensors,
				      got.arrays, want.arrays, NULL);
	for (int n = 0; n < w->plan->nnodes; n++)
		any |= divided[n];
	ck_assert_msg(any || c.exact, "seed %d: '%s' differs", (int)seed,
		      c.worst);
	free_outcome(&got);
	free_outcome(&want);
	arrays_free(in, w->plan->ninputs);
	return !any;
}

START_TEST(uncut_sums_are_the_same)
{
	int exact = 0;
	for (int seed = 1000; seed < 1200; seed++)
		if (sampled(seed))
			exact += check_rounded(made((uint64_t)seed),
					       (uint64_t)seed);
	ck_assert_int_gt(exact, at_least(20));
}
END_TEST

/* Whatever the order of passes, the same stages give the same bits, also where
 * sums are divided: parts are added up in the order of the micro-batches. */
START_TEST(schedules_are_the_same)
{
	for (uint64_t seed = 2000; seed < 2100; seed++) {
		if (!sampled((int)seed))
			continue;
		const plan_pipeline *p = made_by(seed, SCHEDULE_GPIPE);
		const plan *whole = pipeline_merge(mem, p)->plan;
		array *in = fractions(whole);
		outcome want = run(p, whole, in, 2);
		for (int kind = SCHEDULE_1F1B; kind <= SCHEDULE_ZB; kind++) {
			if (kind == SCHEDULE_INTERLEAVED)
				continue;
			outcome got = run(made_by(seed, kind), whole, in, 2);
			check_same(&got, &want, seed);
			free_outcome(&got);
		}
		free_outcome(&want);
		arrays_free(in, whole->ninputs);
	}
}
END_TEST

/* Stages that compute their forward passes again give the same; it is more
 * that they compute. */
START_TEST(recomputed_is_the_same)
{
	int more = 0;
	for (uint64_t seed = 3000; seed < 3100; seed++) {
		if (!sampled((int)seed))
			continue;
		const pipeline_schedule kind = SCHEDULE_GPIPE + (int)seed % 4;
		diag_sink *s = diag_sink_new(mem);
		const plan_pipeline *p = made_by(seed, kind);
		const plan_pipeline *q =
			random_pipeline_again(mem, seed, kind, s);
		ck_assert_ptr_nonnull(q);
		const plan *whole = pipeline_merge(mem, p)->plan;
		const plan *again = pipeline_merge(mem, q)->plan;
		array *in = whole_numbers(whole);
		outcome want = run(p, whole, in, 2);
		outcome got = run(q, again, in, 2);
		check_same(&got, &want, seed);
		more += again->nnodes > whole->nnodes;
		free_outcome(&got);
		free_outcome(&want);
		arrays_free(in, whole->ninputs);
	}
	ck_assert_int_gt(more, at_least(30));
}
END_TEST

/* The whole of a plan without stages is that plan. */
START_TEST(one_stage)
{
	for (int seed = 0; seed < 40; seed++) {
		const plan *whole =
			pipeline_merge(mem, made((uint64_t)seed))->plan;
		const plan *one = plan_one_device(mem, whole);
		plan_pipeline *p = pipeline_of_plan(mem, one);
		const plan *again = pipeline_merge(mem, p)->plan;
		ck_assert(pipeline_is_plan(p));
		ck_assert_int_eq(again->ntensors, one->ntensors);
		ck_assert_int_eq(again->nnodes, one->nnodes);
		for (int t = 0; t < one->ntensors; t++)
			ck_assert_str_eq(again->tensors[t].name,
					 one->tensors[t].name);
		ck_assert_int_eq(plan_one_device(mem, again)->arena_bytes,
				 one->arena_bytes);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("stages");
	TCase *t = tcase_create("stages");
	tcase_set_timeout(t, 240);
	tcase_add_checked_fixture(t, begin_test, end_test);
	tcase_add_test(t, whole_numbers_are_the_same);
	tcase_add_test(t, uncut_sums_are_the_same);
	tcase_add_test(t, schedules_are_the_same);
	tcase_add_test(t, recomputed_is_the_same);
	tcase_add_test(t, one_stage);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: runtime/exec runtime/cpu runtime/run */
/* The states of a training, and its checkpoints: written, kept, restored;
 * foreign and damaged ones. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "runtime/exec/invent.h"
#include "runtime/run/checkpoint.h"
#include "runtime/run/log.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

/* ---- states ------------------------------------------------------------ */

static executor *open_plan(const plan *p)
{
	backend_options o = { .kernels = KERNELS_INTERPRETER };
	failure f = { 0 };
	executor *m = executor_open(pipeline_of_plan(mem, p), "plan",
				    &backend_cpu, &comm_threads, NULL, &o, &f);
	ck_assert_msg(m != NULL, "%s", f.text);
	return m;
}

static array *small_inputs(const plan *p)
{
	failure f = { 0 };
	array *x = arrays_of(mem, p, p->inputs, p->ninputs, &f);
	invent_inputs(p, x);
	for (int i = 0; i < p->ninputs; i++)
		for (int64_t e = 0; e < array_nelem(&x[i]); e++)
			if (dtype_is_float(x[i].type))
				elem_set_f64(x[i].type, x[i].data, e,
					     (double)((e * 7 + i) % 5 - 2));
	return x;
}

/* The states, in the test's own memory. */
static array *states_after(executor *m, const plan *p, int steps)
{
	failure f = { 0 };
	int n, *states = plan_states(mem, p, &n);
	array *in = small_inputs(p);
	array *out = arrays_of(mem, p, p->outputs, p->noutputs, &f);
	array *x = arrays_of(mem, p, states, n, &f);
	for (int i = 0; i < steps; i++)
		ck_assert_msg(executor_step(m, in, out, &f), "%s", f.text);
	for (int i = 0; i < n; i++)
		ck_assert(executor_state_get(m, &x[i], &f));
	array *kept = ARENA_COPY(mem, x, n);
	for (int i = 0; i < n; i++)
		kept[i].data = arena_memdup(mem, x[i].data,
					    (size_t)array_nbytes(&x[i]));
	arrays_free(in, p->ninputs);
	arrays_free(out, p->noutputs);
	arrays_free(x, n);
	return kept;
}

static void expect_same(const plan *p, const array *got, const array *want)
{
	int n;
	plan_states(mem, p, &n);
	for (int i = 0; i < n; i++)
		ck_assert_msg(!memcmp(got[i].data, want[i].data,
				      (size_t)array_nbytes(&got[i])),
			      "'%s' differs", got[i].name);
}

/* Three steps on many workers leave the states that they leave on one, and move
 * what was planned. */
START_TEST(states_are_kept)
{
	for (uint64_t seed = 0; seed < 100; seed++) {
		plan *p = random_training_plan(mem, seed, 6, NULL);
		plan *one = plan_one_device(mem, p);
		executor *m = open_plan(p), *single = open_plan(one);
		array *got = states_after(m, p, 3);
		expect_same(p, got, states_after(single, one, 3));
		ck_assert_int_eq(executor_received(m),
				 3 * p->communication_bytes);
		ck_assert_int_eq(executor_arena_used(m, 0), p->arena_bytes);
		executor_close(m);
		executor_close(single);
	}
}
END_TEST

/* ---- checkpoints ------------------------------------------------------- */

static checkpoints *open_folder(const char *name, int64_t keep)
{
	failure f = { 0 };
	checkpoints *c = checkpoints_open(mem, file(name), true, keep, &f);
	ck_assert_msg(c != NULL, "%s", f.text);
	return c;
}

static void write_one(checkpoints *c, executor *m, const plan *p, int64_t step)
{
	failure f = { 0 };
	position at = { .step = step, .epoch = step / 5, .in_epoch = step % 5,
			.samples = 12, .batch = 2, .shuffle = true,
			.seed = 9 };
	ck_assert_msg(checkpoints_write(c, m, p, &at, &f), "%s", f.text);
}

/* A plan whose states a run changes. */
static plan *some_training(const mesh *m)
{
	for (uint64_t seed = 0;; seed++) {
		plan *p = random_training_plan(mem, seed, 5, m);
		for (int t = 0; t < p->ntensors; t++)
			if (p->tensors[t].role == PLAN_STATE &&
			    p->tensors[t].next >= 0)
				return p;
	}
}

/* A checkpoint of some workers goes on, on others, as if nothing had
 * happened. */
START_TEST(checkpoints_restore_on_any_workers)
{
	const mesh four = { 2, { 2, 2 } }, two = { 1, { 2 } };
	for (uint64_t seed = 0; seed < 20; seed++) {
		plan *p = random_training_plan(mem, seed, 6, &four);
		plan *q = random_training_plan(mem, seed, 6, &two);
		executor *m = open_plan(p), *n = open_plan(q);
		checkpoints *c =
			open_folder(arena_printf(mem, "%d", (int)seed), 0);
		failure f = { 0 };
		position at;
		states_after(m, p, 2);
		write_one(c, m, p, 13);
		ck_assert_msg(checkpoints_restore(c, n, q, &at, &f), "%s",
			      f.text);
		ck_assert(at.step == 13 && at.epoch == 2 && at.in_epoch == 3);
		ck_assert(at.samples == 12 && at.batch == 2 && at.shuffle &&
			  at.seed == 9);
		array *want = states_after(m, p, 2);
		expect_same(p, states_after(n, q, 2), want);
		checkpoints_close(c);
		executor_close(m);
		executor_close(n);
	}
}
END_TEST

START_TEST(checkpoints_are_kept)
{
	plan *p = some_training(NULL);
	executor *m = open_plan(p);
	failure f = { 0 };
	checkpoints *c = open_folder("kept", 2);
	ck_assert_ptr_null(checkpoints_newest(c));
	for (int64_t step = 8; step < 12; step++)
		write_one(c, m, p, step);
	write_one(c, m, p, 11);
	ck_assert_str_eq(checkpoints_newest(c), file("kept/step-11.npz"));
	ck_assert(!file_exists(file("kept/step-9.npz")));
	ck_assert(file_exists(file("kept/step-10.npz")));
	/* Nobody else writes there at the same time. */
	ck_assert_ptr_null(checkpoints_open(mem, file("kept"), true, 2, &f));
	ck_assert_ptr_nonnull(strstr(f.text, "another run"));
	checkpoints_close(c);
	/* Files that a killed run left go, and those that are not ours stay;
	 * numbers count, not letters. */
	static const char *const left[] = { "step-12.npz.tmp",
					    "step-12.npz.tmp.a1B2c3",
					    "step-99.npy", "step-099.npz",
					    "step--3.npz" };
	for (int i = 0; i < 5; i++)
		ck_assert(file_write(file(arena_printf(mem, "kept/%s",
						       left[i])), "x", 1));
	c = open_folder("kept", 2);
	ck_assert_str_eq(checkpoints_newest(c), file("kept/step-11.npz"));
	for (int i = 0; i < 5; i++)
		ck_assert(file_exists(file(arena_printf(mem, "kept/%s",
							left[i]))) == (i > 1));
	checkpoints_close(c);
	executor_close(m);
}
END_TEST

static bool restores(executor *m, const plan *p, const char *name, failure *f)
{
	checkpoints *c = open_folder(name, 0);
	position at;
	*f = (failure){ 0 };
	bool good = checkpoints_restore(c, m, p, &at, f);
	checkpoints_close(c);
	return good;
}

/* Whatever happens to a byte of a checkpoint: it is refused, or nothing of what
 * counts has changed. */
START_TEST(damaged_checkpoints)
{
	plan *p = some_training(NULL);
	executor *m = open_plan(p);
	failure f;
	size_t len;
	checkpoints *c = open_folder("whole", 0);
	array *want = states_after(m, p, 1);
	write_one(c, m, p, 3);
	write_one(c, m, p, 4);
	char *path = file("whole/step-4.npz");
	char *text = file_read(mem, diag_sink_new(mem), path, 1 << 20, &len);
	checkpoints_close(c);
	int refused = 0;
	for (size_t i = 0; i < len; i++) {
		text[i] ^= 0x40;
		ck_assert(file_write(path, text, len));
		text[i] ^= 0x40;
		if (restores(m, p, "whole", &f)) {
			expect_same(p, states_after(m, p, 0), want);
			continue;
		}
		refused++;
		ck_assert_msg(f.status == CLI_INPUT &&
			      strstr(f.text, "step-3.npz is whole"), "%s",
			      f.text);
	}
	ck_assert_int_gt(refused, (int)len / 2);
	for (size_t i = 0; i < len; i += 7) {
		ck_assert(file_write(path, text, i));
		ck_assert(!restores(m, p, "whole", &f));
		ck_assert_ptr_nonnull(strstr(f.text, "step-4.npz"));
	}
	executor_close(m);
}
END_TEST

/* Another plan's checkpoint. */
START_TEST(foreign_checkpoints)
{
	plan *p = some_training(NULL), *q = arena_memdup(mem, p, sizeof(*p));
	executor *m = open_plan(p);
	checkpoints *c = open_folder("foreign", 0);
	failure f = { 0 };
	write_one(c, m, p, 3);
	checkpoints_close(c);
	int n, *states = plan_states(mem, p, &n);
	q->tensors = ARENA_COPY(mem, p->tensors, p->ntensors);
	q->tensors[states[0]].name = "other";
	ck_assert(!restores(m, q, "foreign", &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	ck_assert_ptr_nonnull(strstr(f.text, "no state"));
	/* As parameters it does if all states are there that stay as they
	 * are. */
	q->tensors[states[0]].next = -1;
	f = (failure){ 0 };
	ck_assert(!checkpoint_load(m, q, file("foreign"), &f));
	ck_assert_ptr_nonnull(strstr(f.text, "no array 'other'"));
	q->tensors[states[0]].next = p->noutputs;
	f = (failure){ 0 };
	ck_assert(checkpoint_load(m, q, file("foreign"), &f) == (n > 1));
	ck_assert(n > 1 || strstr(f.text, "none of the plan's states"));
	q->tensors[states[0]].role = PLAN_CONSTANT;
	f = (failure){ 0 };
	ck_assert_msg(n == 1 || checkpoint_load(m, q, file("foreign"), &f),
		      "%s", f.text);
	f = (failure){ 0 };
	ck_assert_msg(checkpoint_load(m, p, file("foreign/step-3.npz"), &f),
		      "%s", f.text);
	ck_assert(!checkpoint_load(m, p, folder, &f));
	ck_assert_ptr_nonnull(strstr(f.text, "no checkpoint"));
	/* A folder that cannot be. */
	f = (failure){ 0 };
	ck_assert(file_write(file("plain"), "x", 1));
	ck_assert_ptr_null(checkpoints_open(mem, file("plain"), true, 0, &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
	executor_close(m);
}
END_TEST

/* ---- the whole --------------------------------------------------------- */

Suite *suite(void)
{
	Suite *s = suite_create("checkpoint");
	TCase *c = tcase_create("checkpoint");
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, states_are_kept);
	tcase_add_test(c, checkpoints_restore_on_any_workers);
	tcase_add_test(c, checkpoints_are_kept);
	tcase_add_test(c, damaged_checkpoints);
	tcase_add_test(c, foreign_checkpoints);
	suite_add_tcase(s, c);
	return s;
}

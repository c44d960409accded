/* Tests: runtime/run */
/* Training: schedules of the learning rate, data sets, logs, signals that end
 * a run, and the comparison of a run with one device. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "runtime/exec/verify.h"
#include "runtime/run/learning_rate.h"
#include "runtime/run/log.h"
#include "runtime/run/stop.h"
#include "tests/unit/folder.h"
#include "tests/unit/random_plan.h"
#include "tests/unit/suite.h"

/* ---- rates ------------------------------------------------------------- */

START_TEST(schedules)
{
	lr_schedule s = { SCHEDULE_CONSTANT, 0.5, 0, 10 };
	ck_assert_double_eq(schedule_rate(&s, 0), 0.5);
	ck_assert_double_eq(schedule_rate(&s, 9), 0.5);
	s.warmup = 4;
	ck_assert_double_eq(schedule_rate(&s, 0), 0.125);
	ck_assert_double_eq(schedule_rate(&s, 3), 0.5);
	s = (lr_schedule){ SCHEDULE_LINEAR, 1, 2, 12 };
	ck_assert_double_eq(schedule_rate(&s, 1), 1);
	ck_assert_double_eq(schedule_rate(&s, 2), 1);
	ck_assert_double_eq(schedule_rate(&s, 7), 0.5);
	s = (lr_schedule){ SCHEDULE_COSINE, 2, 0, 8 };
	ck_assert_double_eq(schedule_rate(&s, 0), 2);
	ck_assert_double_eq_tol(schedule_rate(&s, 4), 1, 1e-12);
	for (int64_t i = 1; i < 8; i++)
		ck_assert(schedule_rate(&s, i) < schedule_rate(&s, i - 1));
	/* A run that ends within its warmup. */
	s = (lr_schedule){ SCHEDULE_COSINE, 1, 10, 5 };
	ck_assert_double_eq(schedule_rate(&s, 4), 0.5);
}
END_TEST

/* ---- data -------------------------------------------------------------- */

/* A plan with inputs and nothing else. */
static plan *plan_of(int n, const plan_tensor *inputs)
{
	plan *p = ARENA_NEW(mem, plan);
	p->ntensors = p->ninputs = n;
	p->tensors = ARENA_COPY(mem, inputs, n);
	p->inputs = ARENA_ARRAY(mem, int, n);
	for (int i = 0; i < n; i++)
		p->inputs[i] = i;
	p->learning_rate = p->loss = p->loss_scale = -1;
	return p;
}

static array numbers(const char *name, int ndim, int64_t n, int64_t width)
{
	array x = { .name = name, .type = DT_I32, .ndim = ndim,
		    .dims = { n, width } };
	int64_t nelem = array_nelem(&x);
	x.data = arena_alloc(mem, (size_t)array_nbytes(&x) + 1);
	for (int64_t i = 0; i < nelem; i++)
		((int32_t *)x.data)[i] = (int32_t)i;
	return x;
}

static dataset *read_data(const plan *p, int n, const array *arrays,
			  failure *f)
{
	*f = (failure){ 0 };
	ck_assert(npz_write(file("data.npz"), n, arrays, f));
	return dataset_read(mem, p, file("data.npz"), f);
}

static const plan_tensor some_inputs[] = {
	{ .name = "x", .type = DT_I32, .ndim = 2, .dims = { 3, 2 } },
	{ .name = "y", .type = DT_I32, .ndim = 1, .dims = { 3 } },
	{ .name = "whole", .type = DT_I32, .ndim = 1, .dims = { 5 } },
	{ .name = "rate", .type = DT_I32 },
};

START_TEST(batches)
{
	plan *p = plan_of(4, some_inputs);
	failure f;
	array in[4], set[] = { numbers("x", 2, 8, 2), numbers("y", 1, 8, 0),
			       numbers("whole", 1, 5, 0) };
	for (int i = 0; i < 4; i++) {
		in[i] = executor_array(p, i);
		in[i].data = arena_alloc(mem, (size_t)array_nbytes(&in[i]));
	}
	dataset *d = read_data(p, 3, set, &f);
	ck_assert_msg(d != NULL, "%s", f.text);
	ck_assert_int_eq(d->samples, 8);
	ck_assert_int_eq(d->batch, 3);
	ck_assert_int_eq(dataset_steps(d, false), 2);
	ck_assert_int_eq(dataset_steps(d, true), 3);
	const int32_t *x = in[0].data, *y = in[1].data, *w = in[2].data;
	const int64_t order[] = { 7, 6, 5, 4, 3, 2, 1, 0 };
	ck_assert_int_eq(dataset_fill(d, NULL, 1, in), 3);
	ck_assert(x[0] == 6 && x[5] == 11 && y[0] == 3 && y[2] == 5);
	ck_assert(w[4] == 4);
	ck_assert_int_eq(dataset_fill(d, order, 0, in), 3);
	ck_assert(x[0] == 14 && x[1] == 15 && y[0] == 7 && y[2] == 5);
	/* The last sample is repeated. */
	ck_assert_int_eq(dataset_fill(d, NULL, 2, in), 2);
	ck_assert(y[0] == 6 && y[1] == 7 && y[2] == 7 && x[5] == 15);
	dataset_free(d);
}
END_TEST

/* Arrays with one dimension more than the input: each of their samples is the
 * whole input of a step. */
START_TEST(whole_samples)
{
	plan *p = plan_of(4, some_inputs);
	failure f;
	int32_t at, *rates;
	array in[4], set[] = { numbers("rate", 1, 8, 0),
			       numbers("whole", 2, 8, 5) };
	for (int i = 0; i < 4; i++) {
		in[i] = executor_array(p, i);
		in[i].data = arena_alloc(mem, (size_t)array_nbytes(&in[i]));
	}
	rates = in[3].data;
	dataset *d = read_data(p, 2, set, &f);
	ck_assert_msg(d != NULL, "%s", f.text);
	ck_assert_int_eq(d->batch, 1);
	ck_assert_int_eq(dataset_steps(d, false), 8);
	for (at = 0; at < 8; at++) {
		ck_assert_int_eq(dataset_fill(d, NULL, at, in), 1);
		ck_assert_int_eq(*rates, at);
		ck_assert_int_eq(((int32_t *)in[2].data)[4], 5 * at + 4);
	}
	ck_assert_ptr_null(d->unused);
	dataset_free(d);
	/* Arrays for which the plan has no input are listed as unused. */
	array more[] = { numbers("x", 2, 8, 2), numbers("z", 1, 7, 0),
			 numbers("u", 3, 2, 2) };
	d = read_data(p, 3, more, &f);
	ck_assert_msg(d != NULL, "%s", f.text);
	ck_assert(d->samples == 8);
	ck_assert_str_eq(d->unused, "'z', 'u'");
	dataset_free(d);
	/* A data set of exactly one step. */
	array one[] = { numbers("x", 2, 3, 2), numbers("y", 1, 3, 0) };
	d = read_data(p, 2, one, &f);
	ck_assert_msg(d != NULL, "%s", f.text);
	ck_assert(d->samples == 3 && d->batch == 3 && !d->divided[2]);
	dataset_free(d);
}
END_TEST

START_TEST(data_that_do_not_fit)
{
	plan *p = plan_of(4, some_inputs);
	failure f;
	const struct {
		array arrays[2];
		const char *says;
	} sets[] = {
		{ { numbers("x", 2, 8, 2), numbers("y", 1, 7, 0) },
		  "'y' has 7 samples" },
		{ { numbers("x", 2, 8, 2), numbers("whole", 2, 8, 5) },
		  "a step takes 1 samples of 'whole', 3 of" },
		{ { numbers("x", 2, 8, 3), numbers("y", 1, 8, 0) },
		  "'x' has neither" },
		{ { numbers("x", 2, 0, 2), numbers("y", 1, 0, 0) },
		  "0 samples" },
		{ { numbers("x", 2, 3, 2), numbers("whole", 1, 5, 0) },
		  "no samples" },
	};
	for (size_t i = 0; i < sizeof(sets) / sizeof(*sets); i++) {
		ck_assert_ptr_null(read_data(p, 2, sets[i].arrays, &f));
		ck_assert_int_eq(f.status, CLI_INPUT);
		ck_assert_msg(strstr(f.text, sets[i].says) != NULL, "%s",
			      f.text);
	}
	array x = numbers("x", 2, 8, 2);
	x.type = DT_F32;
	ck_assert_ptr_null(read_data(p, 1, &x, &f));
	ck_assert_ptr_nonnull(strstr(f.text, "elements of type"));
}
END_TEST

static bool is_permutation(const int64_t *x, int64_t n)
{
	bool *seen = ARENA_ARRAY(mem, bool, n);
	for (int64_t i = 0; i < n; i++) {
		if (x[i] < 0 || x[i] >= n || seen[x[i]])
			return false;
		seen[x[i]] = true;
	}
	return true;
}

/* Orders are permutations, depend on seed and epoch alone, and put each sample
 * everywhere about as often. */
START_TEST(orders)
{
	enum { N = 10, EPOCHS = 5000 };
	int64_t x[N], y[N];
	int at[N][N] = { 0 };
	for (int64_t epoch = 0; epoch < EPOCHS; epoch++) {
		dataset_shuffle(7, epoch, N, x);
		ck_assert(is_permutation(x, N));
		for (int i = 0; i < N; i++)
			at[i][x[i]]++;
	}
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			ck_assert(at[i][j] > 400 && at[i][j] < 600);
	dataset_shuffle(7, 3, N, x);
	dataset_shuffle(7, 3, N, y);
	ck_assert_mem_eq(x, y, sizeof(x));
	dataset_shuffle(8, 3, N, y);
	ck_assert_mem_ne(x, y, sizeof(x));
	dataset_shuffle(7, 4, N, y);
	ck_assert_mem_ne(x, y, sizeof(x));
	dataset_shuffle(7, 4, 1, y);
	ck_assert_int_eq(y[0], 0);
}
END_TEST

/* ---- logs -------------------------------------------------------------- */

static char *text_of(const char *path)
{
	size_t len;
	return file_read(mem, diag_sink_new(mem), path, 1 << 20, &len);
}

START_TEST(logs)
{
	const metric metrics[] = { { "hits", 0.5 }, { "a,b", NAN } };
	failure f = { 0 };
	char *path = file("log.csv");
	train_log *l = log_open(mem, path, 0, 2, metrics, &f);
	ck_assert_msg(l != NULL, "%s", f.text);
	for (int64_t step = 1; step < 4; step++) {
		log_line line = { .step = step, .epoch = 1, .loss = 0.25,
				  .learning_rate = NAN,
				  .samples_per_second = 8,
				  .nmetrics = step == 2 ? 2 : 0,
				  .metrics = metrics };
		ck_assert(log_write(l, &line, &f));
	}
	log_close(l);
	static const char whole[] =
		"step,epoch,loss,learning_rate,samples_per_second,"
		"evaluate_hits,\"evaluate_a,b\"\n"
		"1,1,0.25,,8,,\n2,1,0.25,,8,0.5,\n3,1,0.25,,8,,\n";
	ck_assert_str_eq(text_of(path), whole);
	/* A run that is resumed after step 2 replaces the line of step 3. */
	l = log_open(mem, path, 2, 2, metrics, &f);
	ck_assert_msg(l != NULL, "%s", f.text);
	log_line line = { .step = 3, .epoch = 1, .loss = 1,
			  .learning_rate = 2, .samples_per_second = 3 };
	ck_assert(log_write(l, &line, &f));
	log_close(l);
	char *text = text_of(path);
	ck_assert_str_eq(text + strlen(text) - 13, "\n3,1,1,2,3,,\n");
	/* A log with other columns is not touched. */
	ck_assert_ptr_null(log_open(mem, path, 2, 1, metrics, &f));
	ck_assert_int_eq(f.status, CLI_INPUT);
	ck_assert_str_eq(text_of(path), text);
	f = (failure){ 0 };
	ck_assert_ptr_null(log_open(mem, file("no/log.csv"), 0, 0, NULL, &f));
	ck_assert_int_eq(f.status, CLI_MACHINE);
}
END_TEST

/* ---- ending ------------------------------------------------------------ */

START_TEST(asked_to_end)
{
	sigset_t before;
	stop_hold(&before);
	ck_assert_int_eq(stop_asked(), 0);
	kill(getpid(), SIGTERM);
	ck_assert_int_eq(stop_asked(), SIGTERM);
	ck_assert_int_eq(stop_asked(), 0);
	stop_release(&before);
}
END_TEST

START_TEST(ended)
{
	stop_now(SIGTERM);
}
END_TEST

/* ---- comparing --------------------------------------------------------- */

/* verify_move() changes the last bits of numbers, or by as much as is asked
 * for; 0 and infinity stay. */
START_TEST(numbers_are_moved)
{
	float x[] = { 1, -1, 0, INFINITY };
	array a = { .name = "x", .type = DT_F32, .ndim = 1, .dims = { 4 },
		    .data = x };
	verify_move(&a, 0, 0);
	ck_assert(fabsf(x[0]) == nextafterf(1, 2) || fabsf(x[0]) < 1);
	ck_assert(x[0] > 0.99999f && x[1] < -0.99999f && x[1] != -1);
	ck_assert(x[2] == 0 && isinf(x[3]));
	verify_move(&a, 0.125, 1);
	ck_assert(fabsf(fabsf(x[0]) - 1) > 0.12f);
	ck_assert(fabsf(fabsf(x[0]) - 1) < 0.13f && x[2] == 0);
}
END_TEST

static bool *divided(const plan *p)
{
	return verify_divided(mem, p, false, true);
}

static comparison verify_one(const plan *p, const int *t, const array *got,
			     const array *want, const sway *noise)
{
	return verify_tensors(p, divided(p), 1, t, got, want, noise);
}

/* Whether tensor t of p passes when one of its elements is 0.01 too large and
 * rounding alone may move each element by `moves'. */
static bool is_right(const plan *p, int t, double moves)
{
	double least[] = { 1 - moves, -2 - moves, 3 - moves };
	double most[] = { 1 + moves, -2 + moves, 3 + moves };
	const sway noise = { least, most };
	float x[] = { 1, -2, 3 }, y[] = { 1.01f, -2, 3 };
	array want = { .name = "x", .type = DT_F32, .ndim = 1, .dims = { 3 },
		       .data = x }, got = want;
	got.data = y;
	comparison c = verify_one(p, &t, &got, &want, &noise);
	ck_assert(!c.exact && c.equal == (c.part <= 1));
	ck_assert_str_eq(c.worst, "x");
	ck_assert_int_eq(c.nelem, 3);
	ck_assert(c.doubtful || (c.error.norm > 0.002 && c.error.norm < 0.003));
	ck_assert(!c.equal || c.doubtful == 3);
	return c.equal;
}

/* A tensor of that type that the plan may compute with other rounding than one
 * device, so that it is compared by the tolerance of the type; -1 for none. */
static int rounded_tensor(const plan *p, dtype type)
{
	float x[] = { 1, 2 }, y[] = { 1, 2.00001f };
	array want = { .name = "x", .type = DT_F32, .ndim = 1, .dims = { 2 },
		       .data = x }, got = want;
	got.data = y;
	for (int t = 0; t < p->ntensors; t++) {
		comparison c = verify_one(p, &t, &got, &want, NULL);
		if (p->tensors[t].type == type && c.rule == VERIFY_BY_TYPE)
			return t;
	}
	return -1;
}

/* Faults in a few elements of many are seen, in every type. */
START_TEST(small_faults_are_seen)
{
	enum { N = 1 << 16 };
	const mesh four = { 2, { 2, 2 } };
	const dtype type = DT_F32;
	float *x = ARENA_ARRAY(mem, float, N), *y = ARENA_ARRAY(mem, float, N);
	array want = { .name = "x", .type = type, .ndim = 1, .dims = { N },
		       .data = x }, got = want;
	double *least = ARENA_ARRAY(mem, double, N);
	double *most = ARENA_ARRAY(mem, double, N);
	const sway noise = { least, most };
	int t = -1;
	plan *p = NULL;
	for (uint64_t seed = 0; t < 0; seed++) {
		p = random_training_plan(mem, seed, 6, &four);
		t = rounded_tensor(p, type);
	}
	for (int i = 0; i < N; i++)
		x[i] = y[i] = (float)sin(i);
	for (int i = 0; i < N; i++) {
		least[i] = x[i] - 1;
		most[i] = x[i] + 1;
	}
	got.data = y;
	for (int i = 0; i < N; i++)
		y[i] *= i % 2 ? 1 + 1e-5f : 1 - 1e-5f;
	ck_assert(verify_one(p, &t, &got, &want, NULL).equal);
	/* One wrong element, whose error is small beside the norm. */
	for (int i = 0; i < N; i += 997) {
		float was = y[i];
		y[i] = x[i] + 0.001f;
		comparison c = verify_one(p, &t, &got, &want, NULL);
		ck_assert(!c.equal && c.error.norm < 5e-5);
		ck_assert(c.error.element > 5e-4);
		/* Noise of other elements does not explain it, .. */
		least[i] = most[i] = x[i];
		c = verify_one(p, &t, &got, &want, &noise);
		ck_assert(!c.equal && c.doubtful == N - 1);
		/* .. nor does noise that reaches a third of the error. */
		least[i] = x[i] - 0.0001f;
		most[i] = x[i] + 0.0001f;
		ck_assert(!verify_one(p, &t, &got, &want, &noise).equal);
		least[i] = x[i] - 1;
		ck_assert(verify_one(p, &t, &got, &want, &noise).equal);
		y[i] = was;
	}
	/* Noise beyond an element's own range: where most elements have some,
	 * not where it alone has. */
	y[0] = x[0] + 0.001f;
	least[0] = x[0] - 0.0002f;
	most[0] = x[0] + 0.0002f;
	ck_assert(verify_one(p, &t, &got, &want, &noise).equal);
	for (int i = 1; i < N; i++)
		least[i] = most[i] = x[i];
	ck_assert(!verify_one(p, &t, &got, &want, &noise).equal);
	/* All elements, by a little more than is allowed. */
	for (int i = 0; i < N; i++)
		y[i] = x[i] * (1 + 6e-5f);
	ck_assert(!verify_one(p, &t, &got, &want, NULL).equal);
}
END_TEST

/* Weights of a step of about eight times what f32 tells apart, scaled by
 * `scale' and by random errors of `noise'. */
static void draw_step(float *to, const float *start, int n, double scale,
		      double noise)
{
	for (int i = 0; i < n; i++) {
		double step = 1e-6 * cos(1.7 * i) * scale;
		step *= 1 + noise * sin(12345.6 * i);
		to[i] = (float)((double)start[i] - step);
	}
}

/* A step that changes weights by 1e-6 of their size is held against that. */
START_TEST(faults_of_small_steps_are_seen)
{
	const mesh four = { 2, { 2, 2 } };
	int t = -1;
	plan *p = NULL;
	for (uint64_t seed = 0; t < 0; seed++) {
		p = random_training_plan(mem, seed, 6, &four);
		t = rounded_tensor(p, DT_F32);
	}
	for (int n = 256; n <= 1 << 16; n *= 16) {
		float *x = ARENA_ARRAY(mem, float, n);
		float *y = ARENA_ARRAY(mem, float, n);
		float *z = ARENA_ARRAY(mem, float, n);
		array start = { .name = "x", .type = DT_F32, .ndim = 1,
				.dims = { n }, .data = x };
		array want = start, got = start;
		want.data = y;
		got.data = z;
		sway s = { .start = &start, .steps = 1 };
		for (int i = 0; i < n; i++)
			x[i] = (float)sin(i);
		draw_step(y, x, n, 1, 0);
		const double right[] = { 1e-7, 1e-6, 1e-5 };
		for (int i = 0; i < 3; i++) {
			draw_step(z, x, n, 1, right[i]);
			ck_assert(verify_one(p, &t, &got, &want, &s).equal);
		}
		const double wrong[] = { 1.01, 0.99, 7 / 8.0, 2, 0, -1 };
		for (int i = 0; i < 6; i++) {
			draw_step(z, x, n, wrong[i], 1e-6);
			comparison c = verify_one(p, &t, &got, &want, &s);
			ck_assert_msg(!c.equal, "%d times %g", n, wrong[i]);
			ck_assert_int_eq(c.rule, VERIFY_BY_CHANGE);
			/* .. which the weights do not show. */
			ck_assert(verify_one(p, &t, &got, &want, NULL).equal);
		}
	}
}
END_TEST

START_TEST(nans_are_counted)
{
	float x[] = { 1, NAN, NAN };
	array a = { .name = "x", .type = DT_F32, .ndim = 1, .dims = { 3 },
		    .data = x };
	ck_assert_int_eq(verify_nans(&a), 2);
	a.type = DT_I32;
	ck_assert_int_eq(verify_nans(&a), 0);
}
END_TEST

START_TEST(rounding_explains_so_much)
{
	const mesh four = { 2, { 2, 2 } };
	int nright = 0;
	for (uint64_t seed = 0; seed < 40; seed++) {
		plan *p = random_training_plan(mem, seed, 6, &four);
		double noise = verify_noise(p, divided(p));
		for (int t = 0; t < p->ntensors; t++) {
			ck_assert(!is_right(p, t, 0));
			ck_assert(!is_right(p, t, 1e-5));
			nright += is_right(p, t, 1e-2);
			ck_assert(noise > 0 || !is_right(p, t, 1e-2));
		}
	}
	ck_assert_int_gt(nright, 0);
}
END_TEST

/* ---- the whole --------------------------------------------------------- */

Suite *suite(void)
{
	Suite *s = suite_create("train");
	TCase *c = tcase_create("train");
	tcase_add_checked_fixture(c, begin_test, end_test);
	tcase_add_test(c, schedules);
	tcase_add_test(c, batches);
	tcase_add_test(c, whole_samples);
	tcase_add_test(c, data_that_do_not_fit);
	tcase_add_test(c, orders);
	tcase_add_test(c, logs);
	tcase_add_test(c, asked_to_end);
	tcase_add_test(c, numbers_are_moved);
	tcase_add_test(c, rounding_explains_so_much);
	tcase_add_test(c, small_faults_are_seen);
	tcase_add_test(c, faults_of_small_steps_are_seen);
	tcase_add_test(c, nans_are_counted);
	suite_add_tcase(s, c);
	TCase *signals = tcase_create("signals");
	tcase_add_test_raise_signal(signals, ended, SIGTERM);
	suite_add_tcase(s, signals);
	return s;
}

/* Tests: compiler/simulate */
/* Simulated pipelines that do nothing but their schedules: against closed
 * forms, and against the simulation of schedules without programs. */
#include "config.h"

#include <check.h>

#include "compiler/cost/schedule.h"
#include "compiler/simulate/simulate.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

typedef struct chain {
	arena *a;
	rng r;
	pipeline of;
	const pipeline_run *run;
	plan_pipeline p;
	simulated_seconds seconds;
	bool splits; /* backward passes */
	bool links;  /* messages are on those of both stages */
} chain;

enum { A_IN, A_OUT, G_IN, G_OUT, W_OUT, PER_CHUNK };

static void draw_times(chain *x, int most)
{
	pipeline *p = &x->of;
	int n = p->ndevices * p->chunks;
	int64_t *all = ARENA_ARRAY(x->a, int64_t, 4 * n);
	for (int i = 0; i < 4 * n; i++)
		all[i] = i < 3 * n || most > 0
				 ? 1 + rng_below(&x->r, i < 3 * n ? 20 : most)
				 : 0;
	p->forward = all;
	p->backward = all + n;
	p->weight = all + 2 * n;
	p->link = all + 3 * n;
}

static void put(chain *x, int s, plan_instr in, double seconds)
{
	plan *q = &x->p.stages[s];
	for (int l = 0; l < TURN_LENGTHS; l++)
		x->seconds.instrs[l][s][q->ninstrs] = seconds;
	q->program[q->ninstrs++] = in;
}

static int channel_new(chain *x, int from, int to, int source, int target,
		       double seconds)
{
	int c = x->p.nchannels++;
	for (int l = 0; l < TURN_LENGTHS; l++)
		x->seconds.messages[l][c] = seconds;
	x->p.channels[c] = (plan_channel){ from, to, source, target };
	if (x->links && seconds > 0) {
		simulated_load *at = ARENA_ARRAY(x->a, simulated_load, 2);
		at[0] = (simulated_load){ 2 * from, seconds };
		at[1] = (simulated_load){ 2 * to + 1, seconds };
		for (int l = 0; l < TURN_LENGTHS; l++)
			x->seconds.message_links[l][c] =
				(simulated_links){ 2, at, 1 };
	}
	return c;
}

/* The channels of virtual stage q, 2 q of its activations to the next, 2 q + 1
 * of gradients back from it. */
static void put_channels(chain *x)
{
	int n = x->of.ndevices, all = n * x->of.chunks;
	for (int q = 0; q + 1 < all; q++) {
		int s = q % n, t = (q + 1) % n;
		int b = q / n * PER_CHUNK, d = (q + 1) / n * PER_CHUNK;
		double seconds = (double)x->of.link[q];
		channel_new(x, s, t, b + A_OUT, d + A_IN, seconds);
		channel_new(x, t, s, d + G_OUT, b + G_IN, seconds);
	}
}

static void put_pass(chain *x, int s, step_kind kind, int chunk)
{
	int n = x->of.ndevices, v = chunk * n + s, b = chunk * PER_CHUNK;
	bool first = v == 0, last = v == n * x->of.chunks - 1;
	int in = kind == STEP_F ? A_IN : G_IN;
	int to = kind == STEP_F ? A_OUT : kind == STEP_W ? W_OUT : G_OUT;
	int64_t ns = kind == STEP_F ? x->of.forward[v] :
		     kind == STEP_W ? x->of.weight[v] :
		     x->splits ? x->of.backward[v] :
				 x->of.backward[v] + x->of.weight[v];
	bool receives = kind == STEP_F ? !first : kind != STEP_W && !last;
	bool sends = kind == STEP_F ? !last : kind != STEP_W && !first;
	int *inputs = ARENA_ARRAY(x->a, int, 1);
	inputs[0] = b + in;
	if (receives)
		put(x, s, (plan_instr){
			    .op = PLAN_RECEIVE, .to = b + in,
			    .channel = kind == STEP_F ? 2 * (v - 1)
						      : 2 * v + 1 }, 0);
	put(x, s, (plan_instr){ .op = PLAN_RUN, .inputs = inputs,
				.to = b + to }, (double)ns);
	if (sends)
		put(x, s, (plan_instr){
			    .op = PLAN_SEND, .from = b + to, .to = b + to,
			    .channel = kind == STEP_F ? 2 * v
						      : 2 * (v - 1) + 1 }, 0);
}

static void put_segments(chain *x, int s, plan_stage *to)
{
	plan *q = &x->p.stages[s];
	int v = x->of.chunks, n = (2 + x->splits) * v;
	plan_segment *all = ARENA_ARRAY(x->a, plan_segment, n);
	for (int i = 0; i < n; i++) {
		all[i].begin = q->ninstrs;
		put_pass(x, s, i / v == 0   ? STEP_F
			       : i / v == 2 ? STEP_W
			       : x->splits  ? STEP_B
					    : STEP_BW, i % v);
		all[i].end = q->ninstrs;
	}
	q->loop.end = q->ninstrs;
	to->segments = all;
	to->nsegments = n;
}

static void put_order(chain *x, int s, plan_stage *to)
{
	int n = x->run->nsteps[s];
	plan_tasks *run = ARENA_NEW(x->a, plan_tasks);
	int *tasks = ARENA_ARRAY(x->a, int, n);
	for (int i = 0; i < n; i++) {
		const pipeline_step *t = &x->run->steps[s][i];
		int which = t->kind == STEP_F ? 0 : t->kind == STEP_W ? 2 : 1;
		tasks[i] = which * x->of.chunks + t->chunk;
	}
	*run = (plan_tasks){ 1, n, tasks };
	to->runs = run;
	to->nruns = 1;
}

/* Each value has a place per micro-batch. */
static void put_stage(chain *x, int s, plan_kernel *kernels)
{
	plan *q = &x->p.stages[s];
	plan_stage *order = ARENA_NEW(x->a, plan_stage);
	int m = x->of.micro_batches;
	q->ntensors = q->nbuffers = PER_CHUNK * x->of.chunks;
	q->kernels = kernels;
	q->nkernels = 1;
	q->loop = (plan_loop){ .turns = m, .batch = m };
	q->stage = order;
	q->tensors = ARENA_ARRAY(x->a, plan_tensor, q->ntensors);
	q->buffers = ARENA_ARRAY(x->a, plan_buffer, q->nbuffers);
	q->nodes = ARENA_ARRAY(x->a, plan_node, 1);
	q->program = ARENA_ARRAY(x->a, plan_instr, 9 * x->of.chunks);
	for (int i = 0; i < q->ntensors; i++) {
		q->tensors[i] = (plan_tensor){ .role = PLAN_RESULT,
					       .next = -1, .buffer = i,
					       .then = -1 };
		q->buffers[i] = (plan_buffer){ .tensor = i, .node = -1,
					       .offset = 64 * m * i,
					       .nbytes = 64, .slots = m };
	}
	q->arena_bytes = 64 * m * q->nbuffers;
	for (int l = 0; l < TURN_LENGTHS; l++)
		x->seconds.instrs[l][s] =
			ARENA_ARRAY(x->a, double, 9 * x->of.chunks);
	put_segments(x, s, order);
	put_order(x, s, order);
}

/* The schedule as a pipeline of programs that do nothing else. */
static void make_chain(chain *x)
{
	int n = x->of.ndevices, all = n * x->of.chunks;
	plan_kernel *kernels = ARENA_NEW(x->a, plan_kernel);
	kernel *k = ARENA_NEW(x->a, kernel);
	k->ninputs = 1;
	kernels->kernel = k;
	x->splits = x->of.kind == SCHEDULE_ZB;
	x->run = pipeline_simulate(x->a, &x->of);
	x->p = (plan_pipeline){ .nstages = n };
	x->seconds.nlinks = 2 * n;
	x->p.stages = ARENA_ARRAY(x->a, plan, n);
	x->p.channels = ARENA_ARRAY(x->a, plan_channel, 2 * all);
	for (int l = 0; l < TURN_LENGTHS; l++) {
		x->seconds.instrs[l] = ARENA_ARRAY(x->a, double *, n);
		x->seconds.messages[l] = ARENA_ARRAY(x->a, double, 2 * all);
		x->seconds.message_links[l] =
			ARENA_ARRAY(x->a, simulated_links, 2 * all);
	}
	put_channels(x);
	for (int s = 0; s < n; s++)
		put_stage(x, s, kernels);
}

static chain chain_new(arena *a, int seed, int longest_message)
{
	chain x = { .a = a, .r = rng_new((uint64_t)seed), .links = true };
	x.of.kind = (pipeline_schedule)(seed % 4);
	x.of.ndevices = 2 + rng_below(&x.r, 5);
	x.of.chunks = 1;
	x.of.micro_batches = 1 + rng_below(&x.r, 12);
	if (x.of.kind == SCHEDULE_INTERLEAVED) {
		x.of.chunks = 1 + rng_below(&x.r, 3);
		x.of.micro_batches = x.of.ndevices *
				     (1 + rng_below(&x.r, 3));
	}
	draw_times(&x, longest_message);
	make_chain(&x);
	return x;
}

static void check_chain(const chain *x)
{
	const simulation *s = simulate_with(x->a, &x->p, &x->seconds, true);
	ck_assert_double_eq(s->seconds, (double)x->run->ns);
	ck_assert_double_eq_tol(s->bubble, x->run->bubble, 1e-12);
	for (int d = 0; d < x->of.ndevices; d++) {
		const simulated_stage *of = &s->stages[d];
		ck_assert_int_eq(of->ntasks, x->run->nsteps[d]);
		for (int i = 0; i < of->ntasks; i++) {
			const pipeline_step *t = &x->run->steps[d][i];
			ck_assert_int_eq(of->tasks[i].turn, t->micro_batch);
			ck_assert_double_eq(of->tasks[i].begin_seconds,
					    (double)t->begin);
			ck_assert_double_eq(of->tasks[i].end_seconds,
					    (double)t->end);
		}
	}
}

START_TEST(schedules)
{
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		chain x = chain_new(a, seed, 0);
		check_chain(&x);
		arena_free(a);
	}
}
END_TEST

/* ---- messages that do not meet ----------------------------------------- */

typedef struct interval {
	int port; /* a device's, twice: sends, receives */
	int64_t begin, end;
} interval;

static int intervals_of(const chain *x, interval *to)
{
	int n = x->of.ndevices, all = n * x->of.chunks, k = 0;
	for (int s = 0; s < n; s++)
		for (int i = 0; i < x->run->nsteps[s]; i++) {
			const pipeline_step *t = &x->run->steps[s][i];
			int q = t->chunk * n + s;
			int other = t->kind == STEP_F ? q + 1 : q - 1;
			if (t->kind == STEP_W || other < 0 || other == all)
				continue;
			int64_t end = t->end +
				      x->of.link[q < other ? q : other];
			to[k++] = (interval){ 2 * s, t->end, end };
			to[k++] = (interval){ 2 * (other % n) + 1, t->end,
					      end };
		}
	return k;
}

static bool messages_meet(const chain *x)
{
	int most = 0;
	for (int s = 0; s < x->of.ndevices; s++)
		most += 2 * x->run->nsteps[s];
	interval *all = ARENA_ARRAY(x->a, interval, most);
	int n = intervals_of(x, all);
	for (int i = 0; i < n; i++)
		for (int j = 0; j < i; j++)
			if (all[i].port == all[j].port &&
			    all[i].begin < all[j].end &&
			    all[j].begin < all[i].end)
				return true;
	return false;
}

START_TEST(messages)
{
	int met = 0, apart = 0;
	for (int seed = 0; seed < 2000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		chain x = chain_new(a, seed, 1 + seed % 3);
		if (messages_meet(&x)) {
			const simulation *s = simulate_with(
				a, &x.p, &x.seconds, true);
			ck_assert_double_gt(s->seconds, 0);
			met++;
		} else {
			check_chain(&x);
			apart++;
		}
		arena_free(a);
	}
	ck_assert_int_gt(met, at_least(100));
	ck_assert_int_gt(apart, at_least(100));
}
END_TEST

/* ---- closed forms ------------------------------------------------------ */

static int64_t sum_of(const int64_t *x, int n)
{
	int64_t sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[i];
	return sum;
}

static int64_t most_of(const int64_t *x, int n)
{
	int64_t most = 0;
	for (int i = 0; i < n; i++)
		most = x[i] > most ? x[i] : most;
	return most;
}

/* GPipe: all forward passes, then all backward passes. */
START_TEST(gpipe)
{
	for (int seed = 0; seed < 200; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		chain x = { .a = a, .r = rng_new((uint64_t)seed) };
		int n = x.of.ndevices = 1 + rng_below(&x.r, 8);
		int m = x.of.micro_batches = 1 + rng_below(&x.r, 16);
		x.of.chunks = 1;
		draw_times(&x, 0);
		make_chain(&x);
		int64_t *back = ARENA_ARRAY(a, int64_t, n);
		for (int i = 0; i < n; i++)
			back[i] = x.of.backward[i] + x.of.weight[i];
		int64_t want = sum_of(x.of.forward, n) + sum_of(back, n) +
			       (m - 1) * (most_of(x.of.forward, n) +
					  most_of(back, n));
		const simulation *s = simulate_with(a, &x.p, &x.seconds,
						    true);
		ck_assert_double_eq(s->seconds, (double)want);
		arena_free(a);
	}
}
END_TEST

/* Equal stages: (M + S - 1) (f + b); with V chunks a V-th of the bubble. */
START_TEST(equal_stages)
{
	for (int seed = 0; seed < 200; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		chain x = { .a = a, .r = rng_new((uint64_t)seed) };
		int n = x.of.ndevices = 2 + rng_below(&x.r, 6);
		int v = x.of.chunks = 1 + rng_below(&x.r, 3);
		int m = x.of.micro_batches = n * (1 + rng_below(&x.r, 4));
		x.of.kind = v == 1 ? SCHEDULE_1F1B : SCHEDULE_INTERLEAVED;
		draw_times(&x, 0);
		int64_t *f = ARENA_ARRAY(a, int64_t, 2 * n * v);
		int64_t of = 1 + rng_below(&x.r, 9), b = 1 + rng_below(&x.r, 9);
		for (int i = 0; i < n * v; i++) {
			f[i] = of;
			f[n * v + i] = b;
		}
		x.of.forward = f;
		x.of.backward = f + n * v;
		x.of.weight = ARENA_ARRAY(a, int64_t, n * v);
		make_chain(&x);
		const simulation *s = simulate_with(a, &x.p, &x.seconds,
						    true);
		ck_assert_double_eq(s->seconds,
				    (double)((m * v + n - 1) * (of + b)));
		ck_assert_double_eq_tol(s->bubble,
					(n - 1.0) / (m * v + n - 1), 1e-12);
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("simulate_schedules");
	TCase *t = tcase_create("simulate_schedules");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, schedules);
	tcase_add_test(t, messages);
	tcase_add_test(t, gpipe);
	tcase_add_test(t, equal_stages);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: compiler/lower */
/* The timeline of a program: two streams, held against a plain reading of its
 * rules, byte by byte of the arena. */
#include "config.h"

#include <check.h>

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/timeline.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

static lower_options how(int seed)
{
	return (lower_options){
		.algorithm = "random",
		.schedule = { seed / 2 % LOWER_NORDERS, seed % 2 },
	};
}

static bool overlap(const plan_buffer *x, const plan_buffer *y)
{
	return x->nbytes > 0 && y->nbytes > 0 &&
	       x->offset < y->offset + y->nbytes &&
	       y->offset < x->offset + x->nbytes;
}

static bool moves(const plan_instr *in)
{
	return in->op != PLAN_RUN && in->collective != COLL_LOCAL;
}

static bool reads_place(const plan *p, const plan_instr *in, int buffer)
{
	const plan_buffer *b = &p->buffers[buffer];
	if (in->op != PLAN_RUN)
		return overlap(&p->buffers[in->from], b);
	int k = p->nodes[in->node].kernel;
	for (int i = 0; i < p->kernels[k].kernel->ninputs; i++)
		if (overlap(&p->buffers[in->inputs[i]], b))
			return true;
	return false;
}

/* Whether y, which comes later in the program, has to wait for x. */
static bool waits(const plan *p, const plan_instr *x, const plan_instr *y)
{
	return moves(x) == moves(y) || reads_place(p, y, x->to) ||
	       reads_place(p, x, y->to) ||
	       overlap(&p->buffers[x->to], &p->buffers[y->to]);
}

static double slow_end(arena *a, const plan *p, const double *seconds)
{
	double *end = ARENA_ARRAY(a, double, p->ninstrs), last = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		for (int j = 0; j < i; j++)
			if (waits(p, &p->program[j], &p->program[i]) &&
			    end[j] > end[i])
				end[i] = end[j];
		end[i] += seconds[i];
		last = end[i] > last ? end[i] : last;
	}
	return last;
}

START_TEST(as_by_hand)
{
	int hidden = 0;
	for (int seed = 0; seed < 300; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		graph *g = seed % 3 ? random_graph(a, &r, 1 + seed % 20)
				    : random_training(a, &r, 1 + seed % 8);
		assignment as = random_assignment(a, &r, g);
		const lower_options o = how(seed);
		plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
		ck_assert(p);
		double *seconds = ARENA_ARRAY(a, double, p->ninstrs);
		double sum = 0;
		for (int i = 0; i < p->ninstrs; i++)
			sum += seconds[i] = rng_below(&r, 100);
		double end = timeline_end(p, seconds);
		ck_assert_double_eq(end, slow_end(a, p, seconds));
		hidden += end < sum;
		arena_free(a);
	}
	ck_assert_int_gt(hidden, at_least(30));
}
END_TEST

typedef struct figures {
	double run[2], least[2], kept[2]; /* one thing at a time, two */
	int64_t moved, least_moved;
} figures;

static figures figures_of(const graph *g, const assignment *as,
			  const lower_options *o)
{
	arena *a = arena_new();
	const plan *p = lower_plan(a, g, as, o, diag_sink_new(a));
	figures f = { .moved = p->communication_bytes };
	for (int i = 0; i < 2; i++) {
		topology t = *topology_preset(0);
		t.overlap = i;
		lower_times x = lower_time(p, &t);
		f.run[i] = x.run;
		f.least[i] = x.least;
		f.kept[i] = x.least_kept;
		f.least_moved = x.least_moved;
	}
	arena_free(a);
	return f;
}

/* Any program's bounds hold for all programs of the same assignment, and are
 * something. */
START_TEST(bounds_of_all_programs)
{
	static const int64_t rooms[] = { 0, 1, PLAN_MAX_BYTES };
	enum { N = LOWER_NORDERS * 2 * 3 };
	int near = 0;
	for (int seed = 0; seed < 100; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		graph *g = random_training(a, &r, 1 + seed % 10);
		assignment as = random_assignment(a, &r, g);
		figures all[N];
		for (int i = 0; i < N; i++) {
			lower_options o = how(i / 3);
			o.memory = rooms[i % 3];
			all[i] = figures_of(g, &as, &o);
		}
		for (int i = 0; i < N; i++)
			for (int j = 0; j < 2; j++)
				ck_assert_double_ge(all[i].run[j] *
							    (1 + 1e-12),
						    all[i / 3 * 3 + 2].kept[j]);
		for (int i = 0; i < N * N; i++) {
			const figures *x = &all[i / N], *y = &all[i % N];
			ck_assert_int_ge(x->moved, y->least_moved);
			for (int j = 0; j < 2; j++)
				ck_assert_double_ge(x->run[j] * (1 + 1e-12),
						    y->least[j]);
			near += x->run[0] < y->least[0] * 1.1;
		}
		arena_free(a);
	}
	ck_assert_int_gt(near, at_least(100 * N * N / 10));
}
END_TEST

/* A machine that does one thing at a time takes the sum, one that does two at
 * least as long as either takes. */
START_TEST(what_overlaps)
{
	for (int seed = 0; seed < 100; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		graph *g = random_training(a, &r, 1 + seed % 10);
		assignment as = random_assignment(a, &r, g);
		const lower_options o = how(seed);
		plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
		ck_assert(p);
		topology one = *topology_preset(0), two = one;
		one.overlap = false;
		two.overlap = true;
		lower_times x = lower_time(p, &one), y = lower_time(p, &two);
		double sum = x.communication + x.computation;
		ck_assert_double_eq(x.communication, y.communication);
		ck_assert_double_eq(x.computation, y.computation);
		ck_assert_double_eq_tol(x.run, sum, sum * 1e-12);
		ck_assert_double_le(y.run, sum * (1 + 1e-12));
		ck_assert_double_ge(y.run, y.communication * (1 - 1e-12));
		ck_assert_double_ge(y.run, y.computation * (1 - 1e-12));
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("timeline");
	TCase *t = tcase_create("timeline");
	tcase_add_test(t, as_by_hand);
	tcase_add_test(t, bounds_of_all_programs);
	tcase_add_test(t, what_overlaps);
	suite_add_tcase(s, t);
	return s;
}

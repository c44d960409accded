/* Tests: compiler/lower */
/* The timeline of a program: two streams, held against a plain reading of its
 * rules, byte by byte of the arena. */
#include "config.h"

#include <check.h>

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "compiler/lower/timeline.h"
#include "tests/unit/model_pipeline.h"
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
		double end = timeline_end(p, seconds, 0);
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

/* ---- turns ------------------------------------------------------------- */

/* A network of which one device may lie within the samples of a turn or in
 * several, in so many turns. */
static const plan *turns_plan(arena *a, rng *r, int turns)
{
	static const model_case cases[] = {
		{ "mlp", "batch=24 inputs=8 width=10 depth=2 classes=6", "adam",
		  NULL, 0 },
		{ "gpt2", "batch=24 tokens=4 vocabulary=10 layers=1 width=8 "
		  "heads=2", "sgd", NULL, 1 },
	};
	const graph *g = model_in_turns(a, &cases[rng_below(r, 2)], turns);
	assignment as = random_assignment(a, r, g);
	lower_options o = how(rng_below(r, 2 * LOWER_NORDERS));
	o.memory = rng_below(r, 2) ? PLAN_MAX_BYTES : 0;
	return lower_plan(a, g, &as, &o, diag_sink_new(a));
}

/* Seconds by row, the same in each turn; some transfers take far longer. */
static double *row_seconds(arena *a, rng *r, const plan *p)
{
	double *s = ARENA_ARRAY(a, double, p->ninstrs);
	int more = rng_below(r, 3) ? 1 : 40;
	for (int i = 0; i < p->ninstrs; i++)
		s[i] = rng_below(r, 100) *
		       (plan_moves(&p->program[i]) ? more : 1);
	return s;
}

static double *seconds_of(arena *a, const plan *p, const plan *u,
			  const double *by_row)
{
	double *s = ARENA_ARRAY(a, double, u->ninstrs);
	for (int i = 0; i < u->ninstrs; i++)
		s[i] = by_row[plan_unrolled_row(p, u, i)];
	return s;
}

/* Whether nothing is said of turns that do not take the same. */
static bool is_unknown(arena *a, rng *r, const plan *p)
{
	const plan *u = plan_unroll(a, p, 4);
	double *s = ARENA_ARRAY(a, double, u->ninstrs);
	for (int i = 0; i < u->ninstrs; i++)
		s[i] = rng_below(r, 100);
	return timeline_end(u, s, p->loop.turns - 4) < 0 &&
	       timeline_least(u, s, p->loop.turns - 4) < 0;
}

/* Figures of all turns from the first ones are those of all of them. */
START_TEST(turns_that_are_left_out)
{
	int known = 0, unknown = 0;
	for (int seed = 0; seed < 40; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		const plan *p = turns_plan(a, &r, seed % 2 ? 24 : 12);
		const double *by_row = row_seconds(a, &r, p);
		const plan *all = plan_unroll(a, p, PLAN_MAX_TURNS);
		const double *s = seconds_of(a, p, all, by_row);
		double end = timeline_end(all, s, 0);
		double least = timeline_least(all, s, 0);
		for (int n = 3; n < p->loop.turns; n++) {
			const plan *u = plan_unroll(a, p, n);
			int more = p->loop.turns - n;
			const double *t = seconds_of(a, p, u, by_row);
			double e = timeline_end(u, t, more);
			double l = timeline_least(u, t, more);
			ck_assert(e == end || e == -1);
			ck_assert(l == least || l == -1);
			known += (e >= 0) + (l >= 0);
		}
		unknown += is_unknown(a, &r, p);
		arena_free(a);
	}
	ck_assert_int_gt(known, at_least(300));
	ck_assert_int_gt(unknown, at_least(20));
}
END_TEST

/* The figures of a program in turns are those of its instructions one after
 * the other, all turns of them. */
START_TEST(figures_of_turns)
{
	topology t = *topology_preset(0);
	for (int seed = 0; seed < 24; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		const plan *p = turns_plan(a, &r, seed % 3 ? 24 : 12);
		t.overlap = seed % 2;
		lower_times x = lower_time(p, &t);
		const plan *all = plan_unroll(a, p, PLAN_MAX_TURNS);
		double *s = ARENA_ARRAY(a, double, all->ninstrs);
		double sum = 0, moving = 0;
		instr_times_each(
			instr_times_new(a, layout_classes_new(a, &p->mesh),
					&t), all, s);
		for (int i = 0; i < all->ninstrs; i++) {
			sum += s[i];
			moving += moves(&all->program[i]) &&
						  plan_moves(&all->program[i])
					  ? s[i] : 0;
		}
		double run = t.overlap ? timeline_end(all, s, 0) : sum;
		double kept = t.overlap ? timeline_least(all, s, 0) : sum;
		ck_assert_double_eq_tol(x.run, run, run * 1e-10);
		ck_assert_double_eq_tol(x.least_kept, kept, kept * 1e-10);
		ck_assert_double_eq_tol(x.communication, moving, sum * 1e-10);
		ck_assert_double_eq_tol(x.computation, sum - moving,
					sum * 1e-10);
		ck_assert_int_eq(p->communication_bytes,
				 plan_communication(p));
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
	tcase_add_test(t, turns_that_are_left_out);
	tcase_add_test(t, figures_of_turns);
	suite_add_tcase(s, t);
	return s;
}

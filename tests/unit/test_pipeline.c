/* Tests: plan compiler/lower */
/* Plans of several stages: written and read again they are the same, their
 * stages agree, and no file does more than give one clear message. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "plan/pipeline.h"
#include "tests/unit/broken_text.h"
#include "tests/unit/pipeline_judge.h"
#include "tests/unit/random_pipeline.h"
#include "tests/unit/suite.h"

static plan_pipeline *made(arena *a, int seed, pipeline_schedule kind)
{
	diag_sink *s = diag_sink_new(a);
	plan_pipeline *p = random_pipeline(a, (uint64_t)seed, kind, s);
	if (!p) {
		fprintf(stderr, "seed %d\n", seed);
		diag_print(s, stderr, false);
	}
	ck_assert_ptr_nonnull(p);
	return p;
}

static const pipeline_schedule kinds[] = { SCHEDULE_GPIPE, SCHEDULE_1F1B,
					   SCHEDULE_INTERLEAVED, SCHEDULE_ZB };

START_TEST(round_trip)
{
	int staged = 0, trained = 0;
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		plan_pipeline *p = made(a, seed, kinds[seed % 4]);
		size_t n, m;
		diag_sink *s = diag_sink_new(a);
		char *text = pipeline_text(a, p, "x.plan", &n);
		plan_pipeline *q = pipeline_parse(a, s, "x.plan", text, n);
		if (!q)
			diag_print(s, stderr, false);
		ck_assert_ptr_nonnull(q);
		char *again = pipeline_text(a, q, "x.plan", &m);
		ck_assert_int_eq(n, m);
		ck_assert_mem_eq(text, again, n);
		ck_assert_int_eq(pipeline_communication(q),
				 p->communication_bytes);
		for (int i = 0; i < q->nstages; i++) {
			const plan *x = &q->stages[i];
			for (int w = mesh_workers(&x->mesh); w-- > 0;)
				ck_assert(plan_check_worker(x, w, s, "x"));
		}
		staged += p->nstages > 1;
		trained += p->stages[0].stage->nsegments > 1;
		arena_free(a);
	}
	ck_assert_int_gt(staged, at_least(200));
	ck_assert_int_gt(trained, at_least(150));
}
END_TEST

/* ---- divisions --------------------------------------------------------- */

/* From the parts of its layers alone a step is divided as its maker did it. */
START_TEST(divisions)
{
	int weights = 0;
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		staged_graph x = random_staged_graph(a, &r, 1 + seed % 3);
		const stage_division *d = &x.division;
		int *parts = ARENA_ARRAY(a, int, x.g->nnodes);
		for (node_id n = 0; n < x.g->nnodes; n++)
			parts[n] = stage_part_of(d, n);
		stage_division e = stage_division_new(a, x.g, d->nstages,
						      d->nchunks, parts);
		for (node_id n = 0; n < x.g->nnodes; n++) {
			bool body = x.g->turns->sections[n] == SECTION_BODY;
			ck_assert_int_eq(d->stage[n], e.stage[n]);
			if (!body)
				continue;
			ck_assert_int_eq(d->chunk[n], e.chunk[n]);
			ck_assert_int_eq(d->pass[n] == PASS_FORWARD,
					 e.pass[n] == PASS_FORWARD);
			ck_assert(d->pass[n] != PASS_WEIGHT ||
				  e.pass[n] == PASS_WEIGHT);
			weights += e.pass[n] == PASS_WEIGHT;
		}
		ck_assert_ptr_null(stage_division_refused(a, x.g, &e));
		arena_free(a);
	}
	ck_assert_int_gt(weights, at_least(200));
}
END_TEST

/* ---- channels ---------------------------------------------------------- */

/* Each element of a worker's block once, from a worker that has it; returns
 * their number. */
static int64_t check_pieces(arena *a, const plan_pipeline *p, int channel,
			    int turn, int worker)
{
	const plan_channel *c = &p->channels[channel];
	const plan *from = &p->stages[c->from], *to = &p->stages[c->to];
	plan_buffer b = from->buffers[from->tensors[c->source].buffer];
	plan_buffer d = to->buffers[to->tensors[c->target].buffer];
	int coords[MAX_AXES];
	piece *pieces;
	int n = pipeline_pieces(a, p, channel, turn, worker, &pieces);
	int64_t found = 0;
	b.turn = d.turn = turn;
	mesh_coords(&to->mesh, worker, coords);
	region want = plan_region_at(to, &d, coords);
	for (int i = 0; i < n; i++) {
		const box *at = &pieces[i].at;
		ck_assert_int_lt(pieces[i].peer, mesh_workers(&from->mesh));
		mesh_coords(&from->mesh, pieces[i].peer, coords);
		region held = plan_region_at(from, &b, coords);
		ck_assert(box_contains(&held.at, at));
		ck_assert(box_contains(&want.at, at));
		for (int j = 0; j < i; j++) {
			box both = box_intersect(at, &pieces[j].at);
			ck_assert_int_eq(box_volume(&both), 0);
		}
		found += box_volume(at);
	}
	ck_assert_int_eq(found, want.count);
	return found;
}

START_TEST(pieces)
{
	int64_t all = 0;
	for (int seed = 0; seed < 200; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		plan_pipeline *p = made(a, seed, SCHEDULE_1F1B);
		for (int c = 0; c < p->nchannels; c++) {
			const plan *to = &p->stages[p->channels[c].to];
			int turns = pipeline_in_turns(p, c) ? to->loop.turns
							    : 1;
			int64_t bytes = 0;
			for (int t = to->loop.turns - turns;
			     t < to->loop.turns; t++)
				for (int w = mesh_workers(&to->mesh); w-- > 0;)
					bytes += 4 * check_pieces(a, p, c, t,
								  w);
			ck_assert_int_eq(bytes, pipeline_channel_bytes(p, c));
			all += bytes;
		}
		arena_free(a);
	}
	ck_assert_int_gt(all, 1000);
}
END_TEST

/* ---- what the checks find ---------------------------------------------- */

/* Whether a pipeline is accepted; if so, the judge agrees. */
static bool accepted(arena *a, const plan_pipeline *p, int seed)
{
	rng r = rng_new((uint64_t)seed);
	diag_sink *s = diag_sink_new(a);
	bool ok = pipeline_check(p, s, "x.plan");
	ck_assert_int_eq(diag_errors(s), ok ? 0 : 1);
	const char *why = ok ? pipeline_judge(a, p, &r) : NULL;
	ck_assert_msg(!why, "seed %d: %s", seed, why);
	return ok;
}

START_TEST(judged)
{
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		plan_pipeline *p = made(a, seed, kinds[seed / 2 % 4]);
		ck_assert(accepted(a, p, seed));
		arena_free(a);
	}
}
END_TEST

/* Each pass of each turn once, in any order. */
static void shuffle_order(arena *a, rng *r, plan *p)
{
	plan_stage *s = ARENA_COPY(a, p->stage, 1);
	int turns = p->loop.turns, left[2] = { turns, turns };
	plan_tasks *runs = ARENA_ARRAY(a, plan_tasks, 2 * turns);
	int *tasks = ARENA_ARRAY(a, int, 2 * turns);
	for (int i = 0; i < 2 * turns; i++) {
		int g = rng_below(r, left[0] + left[1]) >= left[0];
		if (left[1] == left[0] && rng_below(r, 20))
			g = 0;
		tasks[i] = left[g] > 0 ? g : !g;
		left[tasks[i]]--;
		runs[i] = (plan_tasks){ 1, 1, &tasks[i] };
	}
	s->runs = runs;
	s->nruns = 2 * turns;
	p->stage = s;
}

/* With any slots and any orders of its stages a plan that is accepted runs. */
START_TEST(any_orders)
{
	int good = 0, bad = 0;
	for (int seed = 0; seed < 2000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed + 5);
		plan_pipeline *p = made(a, seed % 300, SCHEDULE_GPIPE);
		if (p->stages[0].stage->nsegments == 1) {
			arena_free(a);
			continue;
		}
		bool all = rng_below(&r, 2);
		for (int s = 0; s < p->nstages; s++) {
			if (all || rng_below(&r, 2))
				shuffle_order(a, &r, &p->stages[s]);
			for (int b = 0; b < p->stages[s].nbuffers; b++) {
				int *n = &p->stages[s].buffers[b].slots;
				if (*n > 1 && rng_below(&r, 30) == 0)
					--*n;
			}
			plan_place(&p->stages[s]);
		}
		if (accepted(a, p, seed))
			good++;
		else
			bad++;
		arena_free(a);
	}
	ck_assert_int_gt(good, at_least(100));
	ck_assert_int_gt(bad, at_least(300));
}
END_TEST

/* The first stage does one turn after the other, all others all forward passes
 * first. */
START_TEST(circle)
{
	int circles = 0;
	for (int seed = 0; seed < 100; seed++) {
		arena *a = arena_new();
		plan_pipeline *p = made(a, seed, SCHEDULE_GPIPE);
		static const int both[] = { 0, 1 };
		plan *first = &p->stages[0];
		diag_sink *s = diag_sink_new(a);
		int at, instr;
		if (p->nstages > 1 && first->stage->nsegments == 2 &&
		    first->loop.turns > 1) {
			plan_stage *o = ARENA_COPY(a, first->stage, 1);
			plan_tasks run = { first->loop.turns, 2, both };
			o->runs = &run;
			o->nruns = 1;
			first->stage = o;
			ck_assert(plan_check_worker(first, 0, s, "x"));
			ck_assert(!pipeline_ends(p, &at, &instr));
			ck_assert(!accepted(a, p, seed));
			circles++;
		}
		arena_free(a);
	}
	ck_assert_int_gt(circles, 20);
}
END_TEST

/* Slots are as few as may be. */
START_TEST(few_slots)
{
	int tried = 0;
	for (int seed = 0; seed < 100; seed++) {
		arena *a = arena_new();
		plan_pipeline *p = made(a, seed, kinds[seed % 4]);
		for (int s = 0; s < p->nstages; s++)
			for (int b = 0; b < p->stages[s].nbuffers; b++) {
				int *n = &p->stages[s].buffers[b].slots;
				if (*n == 0)
					continue;
				--*n;
				ck_assert(!accepted(a, p, seed));
				++*n;
				tried++;
			}
		ck_assert(accepted(a, p, seed));
		arena_free(a);
	}
	ck_assert_int_gt(tried, 500);
}
END_TEST

/* ---- damaged files ----------------------------------------------------- */

static bool load(arena *a, const char *text, size_t n, int seed)
{
	diag_sink *s = diag_sink_new(a);
	plan_pipeline *p = pipeline_parse(a, s, "x.plan", text, n);
	rng r = rng_new((uint64_t)seed);
	bool ok = p != NULL;
	ck_assert_int_eq(diag_errors(s), ok ? 0 : 1);
	for (int i = 0; ok && i < p->nstages; i++)
		for (int w = mesh_workers(&p->stages[i].mesh); ok && w-- > 0;)
			ok = plan_check_worker(&p->stages[i], w, s, "x.plan");
	ck_assert_int_eq(diag_errors(s), ok ? 0 : 1);
	const char *why = ok ? pipeline_judge(a, p, &r) : NULL;
	ck_assert_msg(!why, "seed %d: %s", seed, why);
	return ok;
}

START_TEST(mutations)
{
	int loaded = 0, broken = 0;
	for (int seed = 0; seed < 4000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed + 77777);
		size_t n;
		plan_pipeline *p = made(a, seed % 60, kinds[seed % 4]);
		char *text = pipeline_text(a, p, "x", &n);
		char *changed = arena_alloc(a, n + 4096);
		memcpy(changed, text, n);
		for (int i = rng_below(&r, 3); i >= 0 && n > 1; i--)
			n = break_text(&r, changed, n);
		if (load(a, changed, n, seed))
			loaded++;
		else
			broken++;
		arena_free(a);
	}
	ck_assert_int_gt(broken, at_least(1000));
	ck_assert_int_gt(loaded, at_least(100));
}
END_TEST

/* A reader of plans without stages says what is the matter. */
START_TEST(not_one_plan)
{
	arena *a = arena_new();
	size_t n;
	char *text = pipeline_text(a, made(a, 3, SCHEDULE_1F1B), "x", &n);
	diag_sink *s = diag_sink_new(a);
	ck_assert_ptr_null(plan_parse(a, s, "x.plan", text, n));
	ck_assert_int_eq(diag_errors(s), 1);
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("pipeline");
	TCase *t = tcase_create("pipeline");
	tcase_set_timeout(t, 240);
	tcase_add_test(t, round_trip);
	tcase_add_test(t, divisions);
	tcase_add_test(t, pieces);
	tcase_add_test(t, judged);
	tcase_add_test(t, any_orders);
	tcase_add_test(t, circle);
	tcase_add_test(t, few_slots);
	tcase_add_test(t, mutations);
	tcase_add_test(t, not_one_plan);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: compiler/lower compiler/placement */
/* Real networks in stages, by every schedule: they are accepted, and run
 * without data. */
#include "config.h"

#include <check.h>

#include "compiler/lower/stage_recompute.h"
#include "compiler/lower/stage_ties.h"
#include "compiler/placement/device_stages.h"
#include "compiler/placement/model_costs.h"
#include "compiler/placement/placed.h"
#include "tests/unit/model_pipeline.h"
#include "tests/unit/pipeline_judge.h"
#include "tests/unit/suite.h"

static const pipeline_schedule kinds[] = { SCHEDULE_GPIPE, SCHEDULE_1F1B,
					   SCHEDULE_INTERLEAVED, SCHEDULE_ZB };

/* Of the buffers that have slots one at random with one less is one too few. */
static void check_slots(arena *a, const plan_pipeline *p, rng *r)
{
	plan *of = &p->stages[rng_below(r, p->nstages)];
	int b = rng_below(r, of->nbuffers), n = of->nbuffers;
	diag_sink *s = diag_sink_new(a);
	while (n-- > 0 && of->buffers[b].slots == 0)
		b = (b + 1) % of->nbuffers;
	ck_assert_int_gt(of->buffers[b].slots, 0);
	of->buffers[b].slots--;
	ck_assert(!pipeline_check(p, s, "x.plan"));
	of->buffers[b].slots++;
	ck_assert(pipeline_check(p, diag_sink_new(a), "x.plan"));
}

static void check(const model_case *c, pipeline_schedule kind, int nstages,
		  rng *r)
{
	arena *a = arena_new();
	graph *g = model_in_turns(a, c, 1 << rng_below(r, 4));
	int chunks = kind == SCHEDULE_INTERLEAVED ? 2 : 1;
	stage_division d = model_division(a, g, nstages, chunks);
	plan_pipeline *p = model_pipeline(a, g, &d, kind,
					  rng_below(r, 2) ? r : NULL);
	const char *why = pipeline_judge(a, p, r);
	ck_assert_msg(!why, "%s: %s", c->file, why);
	for (int i = 0; i < 3; i++)
		check_slots(a, p, r);
	arena_free(a);
}

/* Bytes that a turn keeps from its forward to its backward pass, of all
 * stages. */
static int64_t kept_bytes(const plan_pipeline *p)
{
	int64_t n = 0;
	for (int s = 0; s < p->nstages; s++)
		for (int b = 0; b < p->stages[s].nbuffers; b++)
			if (p->stages[s].buffers[b].slots > 1)
				n += p->stages[s].buffers[b].nbytes;
	return n;
}

/* Stages that compute their forward passes again keep what comes from other
 * stages, and outputs. */
/* Nodes that are computed once per run, casts of weights, lie in a stage that
 * reads them. */
static void check_homes(const graph *g, const stage_division *d)
{
	for (node_id n = 0; n < g->nnodes; n++) {
		bool read = false, near = false;
		for (node_id m = 0; m < g->nnodes; m++)
			for (int i = 0; i < g->nodes[m].kernel->ninputs; i++)
				if (g->nodes[m].inputs[i] ==
				    g->nodes[n].output) {
					read = true;
					near |= d->stage[m] == d->stage[n];
				}
		ck_assert_msg(g->turns->sections[n] != SECTION_BEFORE ||
			      !read || near, "'%s' lies in stage %d",
			      g->nodes[n].name, d->stage[n]);
	}
}

START_TEST(near_their_readers)
{
	for (int i = 0; model_cases[i].file; i++) {
		arena *a = arena_new();
		const graph *g = model_in_turns(a, &model_cases[i], 2);
		const stage_division d = model_division(a, g, 4, 1);
		check_homes(g, &d);
		arena_free(a);
	}
}
END_TEST

START_TEST(recomputed)
{
	for (int i = 0; model_cases[i].file; i++) {
		if (!sampled(i))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)i);
		graph *g = model_in_turns(a, &model_cases[i], 4);
		stage_division d = model_division(a, g, 2, 1), e;
		const graph *h = stage_recompute(a, g, &d, &e);
		plan_pipeline *p = model_pipeline(a, g, &d, SCHEDULE_GPIPE,
						  NULL);
		plan_pipeline *q = model_pipeline(a, h, &e, SCHEDULE_GPIPE,
						  NULL);
		const char *why = pipeline_judge(a, q, &r);
		ck_assert_msg(!why, "%s: %s", model_cases[i].file, why);
		ck_assert_int_lt(2 * kept_bytes(q), kept_bytes(p));
		arena_free(a);
	}
}
END_TEST

START_TEST(models)
{
	for (int i = 0; model_cases[i].file; i++)
		for (int k = 0; k < 4; k++) {
			rng r = rng_new((uint64_t)(4 * i + k));
			if (sampled(4 * i + k))
				check(&model_cases[i], kinds[k], 2 + i % 4, &r);
		}
}
END_TEST

/* The gradient of an embedding at both ends goes once per step. */
START_TEST(tied)
{
	arena *a = arena_new();
	rng r = rng_new(1);
	graph *g = model_in_turns(a, &model_cases[0], 8);
	stage_division d = model_division(a, g, 3, 1), e;
	const graph *h = stage_ties(a, g, &d, &e);
	plan_pipeline *p = model_pipeline(a, g, &d, SCHEDULE_1F1B, NULL);
	plan_pipeline *q = model_pipeline(a, h, &e, SCHEDULE_1F1B, NULL);
	const char *why = pipeline_judge(a, q, &r);
	ck_assert_msg(!why, "%s", why);
	int64_t once = tensor_nbytes(&(tensor_type){ DT_F32, 2, { 50, 24 } });
	ck_assert_int_eq(p->communication_bytes - q->communication_bytes,
			 7 * once);
	ck_assert_int_eq(p->nchannels, q->nchannels);
	arena_free(a);
}
END_TEST

/* Operators whole on devices: each runs once, and nobody waits for ever. */
static void check_placed(const model_case *c, const char *algorithm, int k)
{
	arena *a = arena_new();
	rng r = rng_new((uint64_t)k);
	diag_sink *s = diag_sink_new(a);
	const graph *g = model_step(a, c);
	const topology *t = topology_preset(0);
	const machine_request q = { .ndevices = k, .topology = t, .factor = 1 };
	const cost_graph *costs = cost_graph_of_model(a, s, g, t, c->file);
	place_input in;
	ck_assert(costs && placed_input(a, s, costs, &q, &in));
	const int *place = placed_by(a, &in, placed_algorithm(algorithm), true,
				     0).place;
	const verdict v = judge_run(judge_new(a, in.m), place, INT64_MAX);
	const device_stages d = device_stages_of(a, g, costs, place, &v);
	ck_assert_int_eq(d.g->nnodes, g->nnodes);
	plan_pipeline *p = model_pipeline(a, d.g, &d.division, SCHEDULE_GPIPE,
					  NULL);
	const char *why = pipeline_judge(a, p, &r);
	ck_assert_msg(!why, "%s: %s", c->file, why);
	ck_assert_int_le(p->nstages, k);
	ck_assert_int_gt(p->nstages, 1);
	arena_free(a);
}

START_TEST(placed)
{
	static const char *const algorithms[] = { "balanced", "heft", "pardnn",
						  "metf" };
	for (int i = 0; model_cases[i].file; i++)
		for (int k = 0; k < 4; k++)
			if (sampled(4 * i + k))
				check_placed(&model_cases[i], algorithms[k],
					     2 + (i + k) % 4);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("model_pipeline");
	TCase *t = tcase_create("model_pipeline");
	tcase_set_timeout(t, 240);
	tcase_add_test(t, models);
	tcase_add_test(t, near_their_readers);
	tcase_add_test(t, recomputed);
	tcase_add_test(t, tied);
	tcase_add_test(t, placed);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: libtdl */
/* Published planners divide a micro-batch of a model as compiler/placement
 * does. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "compiler/placement/machine.h"
#include "compiler/placement/mcap.h"
#include "compiler/placement/model_costs.h"
#include "compiler/placement/pipedream.h"
#include "libtdl/plan_published.h"
#include "tests/unit/model_pipeline.h"
#include "tests/unit/suite.h"

enum { TURNS = 4 };

/* A micro-batch as a model of its own. */
static const cost_graph *costs_of(arena *a, const graph *g, const topology *t)
{
	graph *one = ARENA_COPY(a, g, 1);
	one->turns = NULL;
	one->whole = NULL;
	const cost_graph *costs =
		cost_graph_of_model(a, diag_sink_new(a), one, t, g->name);
	ck_assert_ptr_nonnull(costs);
	return costs;
}

static plan_request request_of(arena *a, const graph *g, const char *algorithm,
			       int k)
{
	return (plan_request){ .arena = a, .sink = diag_sink_new(a),
			       .graph = g, .algorithm = algorithm, .k = k,
			       .topology = topology_preset(0) };
}

/* Whether nodes have the parts of the layers of their names. */
static void check_parts(arena *a, const graph *g, const published_cut *c,
			const cost_graph *costs, const layer_chain *l,
			const int *part)
{
	const bool *is_layer = stage_layers(a, g);
	strmap *names = strmap_new(a);
	int *parts = ARENA_COPY(a, part, l->n), found = 0;
	for (int v = 0; v < l->n; v++)
		if (costs->ops[l->op[v]].step > 0)
			strmap_put(names, costs->ops[l->op[v]].name,
				   &parts[v]);
	for (node_id n = 0; n < g->nnodes; n++) {
		const int *want = strmap_get(names, g->nodes[n].name);
		if (!is_layer[n] || !want)
			continue;
		ck_assert_msg(c->part[n] == *want, "'%s' is in %d, not %d",
			      g->nodes[n].name, c->part[n], *want);
		found++;
	}
	ck_assert_int_gt(found, 20);
}

static void check_mcap(const model_case *c, int k, pipeline_schedule kind,
		       bool recompute)
{
	arena *a = arena_new();
	const graph *g = model_in_turns(a, c, TURNS);
	const plan_request how = request_of(a, g, "mcap", k);
	const pipeline_aims aims = { .kind = kind, .chunks = 1,
				     .recompute = recompute };
	const cost_graph *costs = costs_of(a, g, how.topology);
	const machine_request m = { .ndevices = k, .topology = how.topology,
				    .factor = 1 };
	const mcap_request q = {
		.g = costs, .l = layer_chain_new(a, costs),
		.model = { kind, TURNS, recompute, 1,
			   machine_link_bandwidth(&m), 1 },
		.ndevices = k, .cap = INFINITY, .objective = MCAP_PEAK,
	};
	mcap_stages want;
	published_cut cut;
	ck_assert(mcap_search(a, &q, &want));
	ck_assert(plan_published_cut(&how, &aims, &cut) && !cut.refused);
	int *part = ARENA_ARRAY(a, int, q.l->n);
	for (int s = 0; s < k; s++)
		for (int v = want.best.first[s]; v < want.best.first[s + 1];
		     v++)
			part[v] = s;
	check_parts(a, g, &cut, costs, q.l, part);
	arena_free(a);
}

START_TEST(mcap)
{
	static const pipeline_schedule kinds[] = { SCHEDULE_1F1B,
						   SCHEDULE_GPIPE };
	for (int i = 0; model_cases[i].file; i++)
		for (int j = 0; j < 4; j++)
			if (sampled(4 * i + j))
				check_mcap(&model_cases[i], 2 + (i + j) % 3,
					   kinds[j % 2], j / 2);
}
END_TEST

static void check_pipedream(const model_case *c, int k)
{
	arena *a = arena_new();
	const graph *g = model_in_turns(a, c, TURNS);
	const plan_request how = request_of(a, g, "pipedream", k);
	const pipeline_aims aims = { .kind = SCHEDULE_1F1B, .chunks = 1 };
	const cost_graph *costs = costs_of(a, g, how.topology);
	const machine_request m = { .ndevices = k, .topology = how.topology,
				    .factor = 1 };
	layer_chain *l = layer_chain_new(a, costs);
	const stage_model model = { SCHEDULE_1F1B, TURNS, false, 1,
				    machine_link_bandwidth(&m), 1 };
	bool *seen = ARENA_ARRAY(a, bool, costs->ncolours);
	for (int v = 0; v < l->n; v++) {
		int colour = costs->ops[l->op[v]].colour;
		l->parameters[v] = 0;
		for (int u = 0; u < costs->nops && !seen[colour]; u++)
			if (costs->ops[u].colour == colour)
				l->parameters[v] += (double)
					costs->ops[u].gradient_nbytes;
		seen[colour] = true;
	}
	pipedream_plan want;
	published_cut cut;
	pipedream_best(a, l, &model, k, &want);
	ck_assert(plan_published_cut(&how, &aims, &cut) && !cut.refused);
	ck_assert_int_eq(cut.nstages, want.nstages);
	int *part = ARENA_ARRAY(a, int, l->n);
	for (int s = 0; s < want.nstages; s++) {
		ck_assert_int_eq(cut.replicas[s], want.stages[s].replicas);
		for (int i = 0; i < want.stages[s].n; i++)
			part[want.stages[s].layers[i]] = s;
	}
	check_parts(a, g, &cut, costs, l, part);
	arena_free(a);
}

START_TEST(pipedream)
{
	for (int i = 0; model_cases[i].file; i++)
		if (sampled(i))
			check_pipedream(&model_cases[i], 2 + i % 3);
}
END_TEST

/* All devices are used, and the parts are in order. */
START_TEST(capture)
{
	for (int i = 0; model_cases[i].file; i++) {
		if (!sampled(i))
			continue;
		arena *a = arena_new();
		int k = 2 << i % 2, devices = 0, last = 0;
		const graph *g = model_in_turns(a, &model_cases[i], 2);
		const plan_request how = request_of(a, g, "capture", k);
		const pipeline_aims aims = { .kind = SCHEDULE_1F1B,
					     .chunks = 1, .recompute = i % 2 };
		const bool *is_layer = stage_layers(a, g);
		published_cut cut;
		ck_assert(plan_published_cut(&how, &aims, &cut));
		ck_assert_msg(!cut.refused, "%s", cut.refused);
		ck_assert(cut.recompute || !aims.recompute);
		for (int s = 0; s < cut.nstages; s++)
			devices += cut.replicas[s] * cut.tensors[s];
		ck_assert_int_eq(devices, k);
		for (node_id n = 0; n < g->nnodes; n++) {
			if (!is_layer[n])
				continue;
			ck_assert_int_ge(cut.part[n], last);
			last = cut.part[n];
		}
		ck_assert_int_eq(last, cut.nstages - 1);
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("published");
	TCase *t = tcase_create("published");
	tcase_set_timeout(t, 240);
	tcase_add_test(t, mcap);
	tcase_add_test(t, pipedream);
	tcase_add_test(t, capture);
	suite_add_tcase(s, t);
	return s;
}

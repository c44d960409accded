/* Tests: compiler/portfolio */
/* compiler/portfolio/plan_origin: nodes that were not fused still read and make
 * the tensors that they have in the graph, whatever the numbers and names. */
#include "config.h"

#include <check.h>

#include "compiler/graph/turns.h"
#include "compiler/lower/lower.h"
#include "compiler/planners/search.h"
#include "compiler/portfolio/plan_origin.h"
#include "tests/unit/model_pipeline.h"
#include "tests/unit/suite.h"

static const plan *lowered(arena *a, const graph *g, const char *algorithm)
{
	const lower_options o = { .algorithm = algorithm };
	const search_result *s = search_plan(a, g, 2, algorithm);
	const plan *p = lower_plan(a, g, &s->assignment, &o, diag_sink_new(a));
	ck_assert_ptr_nonnull(p);
	return p;
}

/* Of a node with the kernel that it has in the graph; parts are added up to
 * what the node makes there. */
static void check_node(const plan *p, const graph *g, const plan_origin *x,
		       int i)
{
	const plan_node *n = &p->nodes[i];
	const node *from = &g->nodes[x->nodes[i]];
	const kernel *k = p->kernels[n->kernel].kernel;
	ck_assert_ptr_eq(k, from->kernel);
	tensor_id out = x->tensors[n->output];
	ck_assert(out == from->output ||
		  (g->turns && out == g->turns->total[from->output]));
	for (int j = 0; j < k->ninputs; j++)
		ck_assert_int_eq(x->tensors[n->inputs[j]], from->inputs[j]);
}

/* Returns how many nodes are those of the graph. */
static int check_origin(const plan *p, const graph *g)
{
	arena *a = arena_new();
	plan_origin x = plan_origin_of(a, p, g);
	int nequal = 0;
	for (int t = 0; t < p->ntensors; t++) {
		ck_assert_int_ne(x.tensors[t], NONE);
		const tensor_type *type = &g->tensors[x.tensors[t]].type;
		ck_assert_int_eq(p->tensors[t].ndim, type->ndim);
		ck_assert_int_eq(plan_tensor_nbytes(&p->tensors[t]),
				 tensor_nbytes(type));
	}
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		if (x.nodes[i] == NONE || p->kernels[n->kernel].kernel !=
						  g->nodes[x.nodes[i]].kernel)
			continue;
		check_node(p, g, &x, i);
		nequal++;
	}
	arena_free(a);
	return nequal;
}

START_TEST(test_models)
{
	static const char *const by[] = { "data-parallel", "tofu" };
	for (int i = 0; model_cases[i].file; i++) {
		arena *a = arena_new();
		const graph *g = i % 2 ? model_in_turns(a, &model_cases[i], 2)
				       : model_step(a, &model_cases[i]);
		const plan *p = lowered(a, g, by[i / 2 % 2]);
		int nequal = check_origin(p, g->whole ? g->whole : g);
		ck_assert_int_gt(nequal, g->nnodes / 4);
		ck_assert_int_ne(p->nnodes, g->nnodes);
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("plan_origin");
	TCase *t = tcase_create("plan_origin");
	tcase_set_timeout(t, 60);
	tcase_add_test(t, test_models);
	suite_add_tcase(s, t);
	return s;
}

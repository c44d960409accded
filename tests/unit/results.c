#include "config.h"

#include "tests/unit/results.h"

#include <check.h>

#include "compiler/cost/byte_model.h"

static void check_ties(const graph *g, const assignment *as)
{
	for (tensor_id t = 0; t < g->ntensors; t++)
		if (g->tensors[t].kind == TENSOR_STATE &&
		    g->tensors[t].next != NONE)
			ck_assert_mem_eq(&as->tensor_cuts[t],
					 &as->tensor_cuts[g->tensors[t].next],
					 sizeof(cuts));
}

void check_result(const graph *g, const search_result *r, int k)
{
	const assignment *as = &r->assignment;
	int64_t sum = 0;
	ck_assert(!r->error);
	ck_assert_int_eq(mesh_workers(&as->mesh), k);
	check_ties(g, as);
	for (int i = 0; i < as->mesh.naxes; i++) {
		int64_t before = sum, nodes = 0;
		sum = byte_model_total(g, as, i + 1);
		ck_assert_int_eq(r->by_step[i], sum - before);
		for (node_id n = 0; n < g->nnodes; n++)
			nodes += r->node_bytes[n][i];
		ck_assert_int_eq(nodes, r->by_step[i]);
	}
	ck_assert_int_eq(r->total, sum);
	ck_assert(r->lower_bound <= r->total && r->lower_bound >= -1);
	ck_assert(r->total > 0 || r->lower_bound == 0);
}

void check_result_by_step(const graph *g, const search_result *r, int k)
{
	const assignment *as = &r->assignment;
	check_result(g, r, k);
	for (int i = 0; i < as->mesh.naxes; i++) {
		ck_assert(r->optimal_by_step[i] ==
			  (r->proves != SEARCH_PROVES_NOTHING));
		for (node_id n = 0; n < g->nnodes; n++)
			ck_assert_int_eq(r->node_bytes[n][i],
					 byte_model_node(g, as, n, i + 1) -
						 byte_model_node(g, as, n, i));
	}
}

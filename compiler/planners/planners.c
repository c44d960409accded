#include "config.h"

#include "compiler/planners/planner.h"

#include <inttypes.h>
#include <string.h>

static const planner *const planners[] = {
	&planner_tofu,
	&planner_joint,
	&planner_extended,
	&planner_levels,
	&planner_optcnn,
	&planner_equalchop,
	&planner_spartan,
	&planner_allrow,
	&planner_data_parallel,
	&planner_megatron,
	&planner_pase,
	&planner_ilp,
};

enum { NPLANNERS = sizeof(planners) / sizeof(planners[0]) };

const planner *planner_at(int i)
{
	return i >= 0 && i < NPLANNERS ? planners[i] : NULL;
}

const planner *planner_find(const char *name)
{
	for (int i = 0; i < NPLANNERS; i++)
		if (!strcmp(planners[i]->name, name))
			return planners[i];
	return NULL;
}

bool search_on_request(int i)
{
	return planner_at(i)->on_request;
}

bool search_is_priced(int i)
{
	return planner_at(i)->priced;
}

bool search_variant_of(int i, int j, search_variant *v)
{
	const planner *p = planner_at(i);
	*v = j > 0 && j <= p->nvariants ? p->variants[j - 1]
					: (search_variant){ 0 };
	return j <= p->nvariants;
}

bool search_cuts_all(const graph *g, const assignment *as)
{
	assignment first = *as;
	const step s = { g, &first };
	for (int a = 0; a < as->mesh.naxes; a++) {
		first.mesh.naxes = a + 1;
		for (tensor_id t = 0; t < g->ntensors; t++) {
			choices c = step_dims(&s, t);
			if (!choices_have(&c, as->tensor_cuts[t].dim[a]))
				return false;
		}
	}
	return true;
}

static int64_t points(const node *n)
{
	int64_t p = kernel_points(n->kernel);
	return p < 0 ? COST_MAX : cost_clamp(p);
}

/* The number of undivided tensors or nodes, and their size compared with the
 * total. */
typedef struct whole_part {
	int n;
	/* size of these and of all, in bytes or iteration points */
	int64_t of, all;
} whole_part;

static void count(whole_part *p, bool whole, int64_t size)
{
	p->all = cost_add(p->all, size);
	p->of = cost_add(p->of, whole ? size : 0);
	p->n += whole;
}

static bool is_worth_a_note(const whole_part *p, int percent)
{
	return p->n > 0 &&
	       (double)p->of * 100 >= (double)p->all * (double)percent;
}

const char *planner_note_whole(arena *a, const graph *g,
			       const search_result *r, int percent)
{
	const assignment *as = &r->assignment;
	whole_part tensors = { 0 }, nodes = { 0 };
	for (tensor_id t = 0; t < g->ntensors; t++)
		count(&tensors,
		      assignment_skips_axis(&as->tensor_cuts[t], &as->mesh),
		      assignment_tensor_bytes(&g->tensors[t].type));
	for (node_id n = 0; n < g->nnodes; n++)
		count(&nodes,
		      assignment_skips_axis(&as->node_cuts[n], &as->mesh),
		      points(&g->nodes[n]));
	if (!is_worth_a_note(&tensors, percent) &&
	    !is_worth_a_note(&nodes, percent))
		return NULL;
	return arena_printf(a, "%d of %d tensors (%" PRId64 " bytes in all) "
			    "and %d of %d operators are not cut over all %d "
			    "devices", tensors.n, g->ntensors, tensors.of,
			    nodes.n, g->nnodes, mesh_workers(&as->mesh));
}

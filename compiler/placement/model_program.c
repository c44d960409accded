/* The program of a model on one device, for its cost graph. */
#include "config.h"

#include "compiler/placement/model_program.h"

#include "compiler/lower/lower.h"
#include "plan/lifetimes.h"

/* Whether a place belongs to a state: everything in it is in use until the next
 * value is. */
static bool *places_of_states(arena *a, const plan *p, const plan_places *x)
{
	bool *is = ARENA_ARRAY(a, bool, p->nbuffers);
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_STATE)
			is[x->group[p->tensors[t].buffer]] = true;
	return is;
}

static tensor_id overwritten(const plan *p, const plan_places *x,
			     const lifetime *lives, int at)
{
	const plan_instr *in = &p->program[at];
	const plan_node *n = &p->nodes[in->node];
	for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++) {
		int from = in->inputs[i];
		if (from != in->to && lives[from].last == at &&
		    x->group[from] == x->group[in->to])
			return p->buffers[from].tensor;
	}
	return NODE_OVER_NOTHING;
}

static void read_program(arena *work, const plan *p, layout_classes *f,
			 node_run *runs)
{
	plan_places x = plan_find_places(work, p, f);
	const lifetime *lives = plan_lifetimes(work, p);
	const bool *of_state = places_of_states(work, p, &x);
	for (int i = 0, step = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_RUN)
			continue;
		runs[in->node] = (node_run){
			step++, of_state[x.group[in->to]] ?
					NODE_OVER_STATE :
					overwritten(p, &x, lives, i) };
	}
}

node_run *model_program(arena *a, diag_sink *s, const graph *g)
{
	arena *work = arena_new();
	const mesh one = mesh_of_equals(1);
	const assignment as = assignment_undivided(work, g, &one);
	const lower_options o = { .algorithm = "place", .separate = true };
	lowering *l = lowering_new(work, g, &as, &o, s);
	node_run *runs = NULL;
	if (l) {
		lower_rooms rooms;
		const plan *p = lowering_draft(work, l, (lower_choice){ 0 },
					       &rooms);
		runs = ARENA_ARRAY(a, node_run, g->nnodes);
		read_program(work, p, lowering_classes(l), runs);
	}
	arena_free(work);
	return runs;
}

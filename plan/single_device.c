#include "config.h"

#include "plan/lifetimes.h"

static void set_tensors(arena *a, plan *one)
{
	one->tensors = ARENA_COPY(a, one->tensors, one->ntensors);
	one->buffers = ARENA_ARRAY(a, plan_buffer, one->ntensors);
	one->nbuffers = 0;
	for (int i = 0; i < one->ntensors; i++) {
		plan_tensor *t = &one->tensors[i];
		t->cuts = cuts_none();
		if (t->buffer < 0)
			continue;
		t->buffer = one->nbuffers++;
		one->buffers[t->buffer] = (plan_buffer){
			.tensor = i,
			.region = LAYOUT_STORED,
			.node = -1,
			.nbytes = plan_tensor_nbytes(t),
			.turn = one->loop.turns - 1,
		};
		const layout l = plan_layout(one, &one->buffers[t->buffer]);
		one->buffers[t->buffer].nbytes =
			layout_most_bytes(&l, &one->mesh);
	}
}

static void put_feed(plan *one, int to, const plan *p)
{
	int input = p->buffers[to].tensor;
	one->program[one->ninstrs++] = (plan_instr){
		.op = PLAN_FEED,
		.node = -1,
		.from = -1,
		.to = one->tensors[input].buffer,
		.turn = one->loop.turns - 1,
	};
}

/* Sets the program: the runs on whole tensors, and the updates of states that
 * this requires. */
static void set_program(arena *a, plan *one, const plan *p)
{
	one->program = ARENA_ARRAY(a, plan_instr, p->ninstrs);
	one->ninstrs = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *from = &p->program[i];
		if (i == p->loop.begin)
			one->loop.begin = one->ninstrs;
		if (i == p->loop.end)
			one->loop.end = one->ninstrs;
		if (from->op == PLAN_FEED)
			put_feed(one, from->to, p);
		if (from->op != PLAN_RUN)
			continue;
		const plan_node *n = &one->nodes[from->node];
		int ninputs = one->kernels[n->kernel].kernel->ninputs;
		int *inputs = ARENA_ARRAY(a, int, ninputs);
		for (int j = 0; j < ninputs; j++)
			inputs[j] = one->tensors[n->inputs[j]].buffer;
		one->program[one->ninstrs++] = (plan_instr){
			.op = PLAN_RUN,
			.node = from->node,
			.inputs = inputs,
			.from = -1,
			.to = one->tensors[n->output].buffer,
			.turn = one->loop.turns - 1,
		};
	}
	if (p->loop.end == p->ninstrs)
		one->loop.end = one->ninstrs;
	plan_update_states(a, one);
}

plan *plan_one_device(arena *a, const plan *p)
{
	plan *one = ARENA_COPY(a, p, 1);
	one->mesh.naxes = 0;
	one->communication_bytes = one->kept_bytes = 0;
	set_tensors(a, one);
	one->nodes = ARENA_COPY(a, p->nodes, p->nnodes);
	for (int n = 0; n < one->nnodes; n++)
		one->nodes[n].cuts = cuts_none();
	set_program(a, one, p);
	plan_place(one);
	return one;
}

plan *plan_one_turn(arena *a, const plan *p)
{
	plan all = *p;
	if (all.loop.turns > 0 && !all.loop.statistics)
		all.loop.turns = 1;
	return plan_one_device(a, &all);
}

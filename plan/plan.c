#include "config.h"

#include "plan/plan.h"

#include <string.h>

#include "base/checked.h"

int64_t plan_tensor_nelem(const plan_tensor *t)
{
	int64_t n = 0;
	bool ok = ck_product(t->dims, t->ndim, &n);
	return ok ? n : 0;
}

int64_t plan_tensor_nbytes(const plan_tensor *t)
{
	return plan_tensor_nelem(t) * (int64_t)dtype_size(t->type);
}

int64_t plan_buffer_stride(const plan_buffer *b)
{
	return round_up(b->nbytes, PLAN_ALIGN);
}

int64_t plan_buffer_span(const plan_buffer *b)
{
	int more = b->slots > 1 ? b->slots - 1 : 0;
	return more * plan_buffer_stride(b) + b->nbytes;
}

/* ---- launches ---------------------------------------------------------- */

int64_t plan_launch_items(const plan_kernel *k, const box *space)
{
	const plan_launch *l = &k->launch;
	box part = kernel_produces(k->kernel, space);
	int64_t items = 1;
	if (box_volume(&part) == 0)
		return 0;
	for (int i = 0; i < l->ntiles; i++) {
		int v = l->tiles[i].var;
		int64_t n = v < 0 ? box_volume(&part) : part.hi[v] - part.lo[v];
		if (!ck_mul(items, (n - 1) / l->tiles[i].of + 1, &items))
			return INT64_MAX;
	}
	return items;
}

/* ---- layouts ----------------------------------------------------------- */

static layout_turn turn_of(const plan *p, int i)
{
	if (p->loop.turns == 0)
		return (layout_turn){ 0 };
	return layout_turn_of(p->loop.batch, p->loop.turns, i);
}

bool plan_is_kept(const plan *p, int buffer)
{
	int t = p->buffers[buffer].tensor;
	if (p->buffers[buffer].region != LAYOUT_STORED)
		return false;
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i].role == PLAN_STATE && p->tensors[i].next == t)
			return true;
	return p->tensors[t].role != PLAN_RESULT || p->tensors[t].output;
}

bool plan_in_turns(const plan *p, int tensor)
{
	return p->loop.turns > 0 && p->tensors[tensor].time != CUT_NONE;
}

bool plan_hands_out(const plan *p, int i)
{
	const plan_buffer *b = &p->buffers[p->program[i].to];
	return p->program[i].op != PLAN_SEND && b->region == LAYOUT_STORED &&
	       p->tensors[b->tensor].output &&
	       plan_in_turns(p, b->tensor);
}

box plan_space(const plan *p, const plan_instr *run, int worker)
{
	const plan_node *n = &p->nodes[run->node];
	const layout l = { .kernel = p->kernels[n->kernel].kernel,
			   .turn = turn_of(p, run->turn),
			   .space_time = n->time };
	box whole = layout_space(&l);
	int coords[MAX_AXES];
	mesh_coords(&p->mesh, worker, coords);
	return cuts_block(&whole, &p->mesh, &n->cuts, p->mesh.naxes, coords);
}

reducer plan_partial(const plan *p, int node)
{
	const plan_node *n = &p->nodes[node];
	return layout_reducer(&p->mesh, p->kernels[n->kernel].kernel, &n->cuts);
}

bool plan_combines(const plan *p, int node)
{
	const plan_node *n = &p->nodes[node];
	return layout_combined_axes(&p->mesh, p->kernels[n->kernel].kernel,
				    &n->cuts, &p->tensors[n->output].cuts);
}

layout plan_layout(const plan *p, const plan_buffer *b)
{
	const plan_tensor *t = &p->tensors[b->tensor];
	layout l = { .kind = b->region,
		     .type = t->type,
		     .ndim = t->ndim,
		     .dims = t->dims,
		     .cuts = &t->cuts,
		     .turn = turn_of(p, b->turn),
		     .tensor_time = t->time };
	if (b->region == LAYOUT_STORED)
		return l;
	const plan_node *n = &p->nodes[b->node];
	l.kernel = p->kernels[n->kernel].kernel;
	l.space = &n->cuts;
	l.space_time = n->time;
	for (int i = 0; b->region == LAYOUT_NEEDS && i < l.kernel->ninputs; i++)
		if (n->inputs[i] == b->tensor)
			l.inputs |= UINT32_C(1) << i;
	if (b->region == LAYOUT_NEEDS)
		l.zeros = layout_zero_axes(&p->mesh, l.kernel, l.space,
					   l.inputs, l.cuts);
	return l;
}

region plan_region_at(const plan *p, const plan_buffer *b, const int *coords)
{
	layout l = plan_layout(p, b);
	return layout_region(&l, &p->mesh, coords);
}

region plan_region(const plan *p, int buffer, int worker)
{
	int coords[MAX_AXES];
	mesh_coords(&p->mesh, worker, coords);
	return plan_region_at(p, &p->buffers[buffer], coords);
}

layout_transfer plan_transfer(const plan *p, const plan_instr *in)
{
	return (layout_transfer){ .mesh = &p->mesh,
			   .from = plan_layout(p, &p->buffers[in->from]),
			   .to = plan_layout(p, &p->buffers[in->to]),
			   .combine = in->op == PLAN_COMBINE };
}

int plan_pieces(arena *a, const plan *p, const plan_instr *in, int worker,
		piece **pieces)
{
	layout_transfer t = plan_transfer(p, in);
	return transfer_pieces(a, &t, worker, pieces);
}

int64_t plan_communication(const plan *p)
{
	arena *tmp = arena_new();
	const plan *all = plan_unroll(tmp, p, PLAN_MAX_TURNS);
	int64_t total = 0;
	for (int i = 0; i < all->ninstrs; i++) {
		if (!plan_moves(&all->program[i]))
			continue;
		layout_transfer t = plan_transfer(all, &all->program[i]);
		total += transfer_total(&t);
	}
	arena_free(tmp);
	return total;
}

/* ---- in place ---------------------------------------------------------- */

bool plan_is_idle(const plan *p, const plan_instr *run)
{
	const kernel *k = p->kernels[p->nodes[run->node].kernel].kernel;
	return kernel_is_copy(k) && p->buffers[run->inputs[0]].offset ==
					    p->buffers[run->to].offset;
}

const char *plan_instr_name(const plan *p, const plan_instr *in)
{
	int buffer = plan_moves(in) ? in->from : in->to;
	return in->op == PLAN_RUN
		       ? p->nodes[in->node].name
		       : p->tensors[p->buffers[buffer].tensor].name;
}

const char *plan_instr_kind(const plan_instr *in)
{
	static const char *const kinds[] = {
		[PLAN_RUN] = "run", [PLAN_FEED] = "feed",
		[PLAN_SEND] = "send", [PLAN_RECEIVE] = "receive",
	};
	return plan_moves(in) ? collective_name(in->collective)
			      : kinds[in->op];
}

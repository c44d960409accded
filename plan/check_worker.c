/* Checks the regions and transfers of one worker of a plan that plan_check()
 * has accepted. */
#include "config.h"

#include "base/checked.h"
#include "plan/chain.h"
#include "plan/check.h"

static bool check_size(plan_checker *c, const plan_buffer *b, const region *r)
{
	int64_t nbytes;
	dtype type = c->p->tensors[b->tensor].type;
	return (ck_mul(r->count, (int64_t)dtype_size(type), &nbytes) &&
		nbytes <= b->nbytes) ||
	       flaw(c, "it has %lld bytes, too few for a worker's part",
		    (long long)b->nbytes);
}

/* Whether two regions on a worker hold the same elements. */
static bool agree(const region *x, const region *y)
{
	return (x->count == 0 && y->count == 0) ||
	       (box_equal(&x->at, &y->at) && x->first == y->first &&
		x->count == y->count);
}

static bool check_run_at(plan_checker *c, const plan_instr *in,
			 const region *regions, int worker)
{
	const plan *p = c->p;
	const plan_node *n = &p->nodes[in->node];
	const kernel *k = p->kernels[n->kernel].kernel;
	const plan_buffer *out = &p->buffers[in->to];
	box space = plan_space(p, in, worker);
	box made = kernel_produces(k, &space);
	region whole = { made, 0, box_volume(&made) };
	if (!agree(&regions[in->to], &whole))
		return flaw(c, "its result is not what buffer %d holds",
			    in->to);
	for (int i = 0; i < k->ninputs; i++) {
		const plan_buffer *b = &p->buffers[in->inputs[i]];
		const region *r = &regions[in->inputs[i]];
		box need = kernel_need(k, &space, i);
		if (!box_is_empty(&need) && !box_contains(&r->at, &need))
			return flaw(c, "input %d is not in buffer %d", i,
				    in->inputs[i]);
		if (b->offset == out->offset && b->nbytes > 0 &&
		    out->nbytes > 0 && !agree(r, &whole))
			return flaw(c, "its result overwrites input %d", i);
	}
	return true;
}

/* Checks a COMBINE directly into the stored block, which must be the worker's
 * share. */
static bool check_share_at(plan_checker *c, const plan_instr *in,
			   const region *regions, int worker)
{
	const plan_buffer share = {.tensor = c->p->buffers[in->to].tensor,
				   .region = LAYOUT_REDUCED_SHARD,
				   .node = in->node,
				   .turn = in->turn};
	int coords[MAX_AXES];
	mesh_coords(&c->p->mesh, worker, coords);
	region r = plan_region_at(c->p, &share, coords);
	return agree(&regions[in->to], &r) ||
	       flaw(c, "its share is not what buffer %d holds", in->to);
}

static bool check_worker(plan_checker *c, arena *tmp, region *regions,
			 int worker)
{
	const plan *p = c->p;
	const bool *unseen = plan_chain_buffers(tmp, p);
	c->table = "buffers";
	for (c->row = 0; c->row < p->nbuffers; c->row++) {
		regions[c->row] = plan_region(p, c->row, worker);
		if (unseen[c->row] && p->buffers[c->row].nbytes == 0)
			continue;
		if (!check_size(c, &p->buffers[c->row], &regions[c->row]))
			return false;
	}
	c->table = "program";
	for (c->row = 0; c->row < p->ninstrs; c->row++) {
		const plan_instr *in = &p->program[c->row];
		if (in->op == PLAN_RUN &&
		    !check_run_at(c, in, regions, worker))
			return false;
		if (in->op == PLAN_COMBINE &&
		    !check_share_at(c, in, regions, worker))
			return false;
	}
	return plan_check_chains_at(c, tmp, worker);
}

bool plan_check_worker(const plan *p, int worker, diag_sink *s,
		       const char *path)
{
	arena *tmp = arena_new();
	plan_checker c = { .p = plan_in_order(tmp, p, PLAN_MAX_TURNS),
			   .rolled = p,
			   .most = PLAN_MAX_TURNS,
			   .stage = -1,
			   .sink = s,
			   .path = path };
	bool ok = check_worker(&c, tmp, ARENA_ARRAY(tmp, region, c.p->nbuffers),
			       worker);
	arena_free(tmp);
	return ok;
}

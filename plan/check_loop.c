/* The checks of a plan's loop over time. */
#include "config.h"

#include <string.h>

#include "plan/check.h"

int64_t loop_smallest_turn(const plan_loop *o, int64_t extent)
{
	return extent / o->batch * (o->batch / o->turns);
}

bool loop_check_time(plan_checker *c, int time, int n, const int64_t *extents)
{
	const plan_loop *o = &c->p->loop;
	if (o->turns == 0 || time == CUT_NONE)
		return true;
	if (!is_index(time, n))
		return flaw(c, "time divides number %d of %d", time, n);
	return (extents[time] > 0 && extents[time] % o->batch == 0) ||
	       flaw(c,
		    "time divides number %d, which is no multiple of the "
		    "batch",
		    time);
}

bool loop_may_follow(const plan *p, const plan_tensor *t, const plan_tensor *u)
{
	return u->role == PLAN_RESULT && u->buffer >= 0 &&
	       (p->loop.turns == 0 || u->time == CUT_NONE) &&
	       plan_tensor_is(u, t->type, t->ndim, t->dims) &&
	       memcmp(&u->cuts, &t->cuts, sizeof(cuts)) == 0;
}

bool loop_check_then(plan_checker *c, const plan_tensor *t, bool *taken)
{
	const plan *p = c->p;
	if (p->loop.turns == 0 || t->then == -1)
		return true;
	if (!is_index(t->then, p->ntensors) || taken[t->then])
		return flaw(c,
			    "its value in the next turn is tensor %d, which "
			    "does not exist or is another's",
			    t->then);
	const plan_tensor *u = &p->tensors[t->then];
	taken[t->then] = true;
	return (t->role == PLAN_RESULT && t->buffer >= 0 &&
		t->time == CUT_NONE && t->then != c->row &&
		loop_may_follow(p, t, u)) ||
	       flaw(c, "its value in the next turn is not a result of its "
		       "type, shape and cuts");
}

bool loop_stands_for(const plan *p, int tensor, int read)
{
	return tensor == read ||
	       (p->loop.turns > 0 && p->tensors[read].then == tensor);
}

bool loop_check_feed(plan_checker *c, const plan_instr *in)
{
	const plan_buffer *b = &c->p->buffers[in->to];
	const plan_tensor *t = &c->p->tensors[b->tensor];
	return (b->region == LAYOUT_STORED && t->role == PLAN_INPUT &&
		c->p->loop.turns > 0 && t->time != CUT_NONE) ||
	       flaw(c, "buffer %d is not fed in turns", in->to);
}

/* Checks the indices that unrolling uses. */
static bool check_indices(plan_checker *c, const plan_instr *in)
{
	const plan *p = c->p;
	bool ok = is_index(in->to, p->nbuffers) &&
		  ((!plan_moves(in) && in->op != PLAN_SEND) ||
		   is_index(in->from, p->nbuffers));
	if (ok && in->op == PLAN_RUN) {
		const plan_node *n = &p->nodes[in->node];
		for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++)
			ok &= is_index(in->inputs[i], p->nbuffers);
	}
	return ok || flaw(c, "it uses a buffer that does not exist");
}

/* Checks that only instructions of the body run in turns, and that they set no
 * first values. */
static bool check_section(plan_checker *c, const plan_instr *in)
{
	const plan *p = c->p;
	bool body = c->row >= p->loop.begin && c->row < p->loop.end;
	const plan_buffer *to = &p->buffers[in->to];
	if (!body && (in->op == PLAN_FEED ||
		      (in->op == PLAN_RUN &&
		       p->nodes[in->node].time != CUT_NONE)))
		return flaw(c, "it is one turn's, outside of the body");
	return !body || p->tensors[to->tensor].then < 0 ||
	       flaw(c, "the body sets a value for the first turn");
}

/* Checks a read in the body.  Until the last turn neither a tensor with another
 * value in the next turn nor that next value is complete, so only the run that
 * computes the one from the other may read them.  follows[u]: u is such a next
 * value. */
static bool check_read(plan_checker *c, const plan_instr *in, int buffer,
		       const bool *follows)
{
	const plan *p = c->p;
	int t = p->buffers[buffer].tensor;
	int to = p->buffers[in->to].tensor;
	if (!follows[t] && p->tensors[t].then < 0)
		return true;
	return (in->op == PLAN_RUN && p->tensors[t].then == to) ||
	       flaw(c, "the body reads '%.100s', which is not complete before "
		       "the last turn",
		    p->tensors[t].name);
}

static bool check_reads(plan_checker *c, const plan_instr *in,
			const bool *follows)
{
	const plan *p = c->p;
	if (c->row < p->loop.begin || c->row >= p->loop.end ||
	    in->op == PLAN_FEED || in->op == PLAN_RECEIVE)
		return true;
	if (plan_moves(in) || in->op == PLAN_SEND)
		return check_read(c, in, in->from, follows);
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	for (int i = 0; i < k->ninputs; i++)
		if (!check_read(c, in, in->inputs[i], follows))
			return false;
	return true;
}

bool loop_check(plan_checker *c, arena *tmp)
{
	const plan_loop *o = &c->p->loop;
	bool *follows = ARENA_ARRAY(tmp, bool, c->p->ntensors);
	if (o->turns == 0)
		return true;
	c->table = "micro_batches";
	c->row = -1;
	if (o->turns < 1 || o->turns > PLAN_MAX_TURNS || o->batch < o->turns ||
	    o->begin < 0 || o->begin > o->end || o->end > c->p->ninstrs)
		return flaw(c, "the turns, or the body, do not exist");
	for (int t = 0; t < c->p->ntensors; t++)
		if (c->p->tensors[t].then >= 0)
			follows[c->p->tensors[t].then] = true;
	c->table = "program";
	for (c->row = 0; c->row < c->p->ninstrs; c->row++) {
		const plan_instr *in = &c->p->program[c->row];
		if (in->op == PLAN_RUN && !is_index(in->node, c->p->nnodes))
			return flaw(c, "its node does not exist");
		if (!check_indices(c, in) || !check_section(c, in) ||
		    !check_reads(c, in, follows))
			return false;
	}
	return true;
}

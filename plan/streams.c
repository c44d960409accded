#include "config.h"

#include "plan/streams.h"

#include "base/vec.h"

bool stream_is_local(const plan *p, int i)
{
	const plan_instr *in = &p->program[i];
	return in->op != PLAN_RUN && in->collective == COLL_LOCAL;
}

static bool spreads(const plan *p, int i, int combine)
{
	const plan_instr *in = &p->program[combine], *move = &p->program[i];
	return in->op == PLAN_COMBINE && move->op == PLAN_MOVE &&
	       move->from == in->to && in->collective != COLL_LOCAL &&
	       move->collective != COLL_LOCAL;
}

int stream_spread(const plan *p, int i)
{
	int end = plan_bucket_end(p, i);
	if (p->program[i].bucket == 0 && end < p->ninstrs)
		end++;
	for (int j = i + 1; j < end; j++)
		if (spreads(p, j, i))
			return j;
	return -1;
}

int stream_combined(const plan *p, int i)
{
	const plan_instr *move = &p->program[i];
	int end = move->bucket > 0 || i == 0 ? 0 : i - 1;
	for (int j = i - 1; j >= end; j--) {
		const plan_instr *in = &p->program[j];
		if (in->bucket != move->bucket || in->turn != move->turn)
			break;
		if (spreads(p, i, j))
			return j;
	}
	return -1;
}

/* ---- conflicts --------------------------------------------------------- */

static bool same_bytes(const plan *p, int x, int y)
{
	const plan_buffer *a = &p->buffers[x], *b = &p->buffers[y];
	return a->offset < b->offset + b->nbytes &&
	       b->offset < a->offset + a->nbytes && a->nbytes > 0 &&
	       b->nbytes > 0;
}

/* Whether an instruction touches a buffer's place. */
static bool touches(const plan *p, const plan_instr *in, int buffer)
{
	if (same_bytes(p, in->to, buffer))
		return true;
	if (in->op != PLAN_RUN)
		return plan_moves(in) && same_bytes(p, in->from, buffer);
	const plan_node *n = &p->nodes[in->node];
	for (int i = 0; i < p->kernels[n->kernel].kernel->ninputs; i++)
		if (same_bytes(p, in->inputs[i], buffer))
			return true;
	return false;
}

static bool conflict(const plan *p, int i, int j)
{
	const plan_instr *x = &p->program[i], *y = &p->program[j];
	return touches(p, x, y->to) || touches(p, y, x->to);
}

/* ---- transfers --------------------------------------------------------- */

typedef VEC(int) instructions;

typedef struct streams {
	arena *a;
	const plan *p;
	VEC(stream_step) steps;
	instructions bucket; /* transfers that were not handed over yet */
	int64_t bytes;	     /* of them */
	int last[STREAM_COUNT];	 /* the latest step on a queue, -1 for none */
	int known[STREAM_COUNT]; /* the latest step on the other queue that
				    this one has waited for */
} streams;

static bool conflicts_with(const plan *p, int instr, const int *others, int n)
{
	for (int i = 0; i < n; i++)
		if (conflict(p, instr, others[i]))
			return true;
	return false;
}

/* The latest step of the other queue that has to end before a step begins and
 * that its queue has not waited for. */
static int step_before(const streams *x, const stream_step *t)
{
	for (int j = x->last[!t->on]; j > x->known[t->on]; j--) {
		const stream_step *u = &x->steps.at[j];
		for (int i = 0; u->on != t->on && i < t->ninstrs; i++)
			if (conflicts_with(x->p, t->instrs[i], u->instrs,
					   u->ninstrs))
				return j;
	}
	return -1;
}

static void hand_over(streams *x, stream_id on, const int *instrs, int n)
{
	stream_step t = { .on = on, .ninstrs = n };
	t.instrs = ARENA_COPY(x->a, instrs, n);
	t.after = step_before(x, &t);
	if (t.after >= 0) {
		x->steps.at[t.after].marks = true;
		x->known[on] = t.after;
	}
	x->last[on] = x->steps.n;
	vec_push(x->a, &x->steps, t);
}

static void close_bucket(streams *x)
{
	if (x->bucket.n)
		hand_over(x, STREAM_COMMUNICATION, x->bucket.at, x->bucket.n);
	x->bucket.n = 0;
	x->bytes = 0;
}

static int64_t bytes_of(const plan *p, int instr)
{
	return p->buffers[p->program[instr].to].nbytes;
}

static bool fits(const streams *x, int first, int n, int64_t bytes)
{
	const plan_instr *in = x->p->program;
	if (!x->bucket.n)
		return true;
	if (bytes > STREAM_SMALL || x->bytes + bytes > STREAM_BUCKET ||
	    in[first].op != in[x->bucket.at[0]].op ||
	    in[first].collective != in[x->bucket.at[0]].collective)
		return false;
	for (int i = first; i < first + n; i++)
		if (conflicts_with(x->p, i, x->bucket.at, x->bucket.n))
			return false;
	return true;
}

/* n transfers from `first` on, which stay together. */
static void add_transfers(streams *x, int first, int n)
{
	int64_t bytes = 0;
	for (int i = first; i < first + n; i++)
		bytes += bytes_of(x->p, i);
	if (!fits(x, first, n, bytes))
		close_bucket(x);
	for (int i = first; i < first + n; i++)
		vec_push(x->a, &x->bucket, i);
	x->bytes += bytes;
	if (bytes > STREAM_SMALL)
		close_bucket(x);
}

stream_schedule plan_streams(arena *a, const plan *p)
{
	streams x = { .a = a, .p = p, .last = { -1, -1 }, .known = { -1, -1 } };
	for (int i = 0; i < p->ninstrs; i++) {
		if (p->program[i].op == PLAN_RUN || stream_is_local(p, i)) {
			if (conflicts_with(p, i, x.bucket.at, x.bucket.n))
				close_bucket(&x);
			hand_over(&x, STREAM_COMPUTE, &i, 1);
		} else {
			int n = plan_bucket_end(p, i) - i;
			if (n == 1 && stream_spread(p, i) >= 0)
				n = 2;
			add_transfers(&x, i, n);
			i += n - 1;
		}
	}
	close_bucket(&x);
	return (stream_schedule){ x.steps.n, x.steps.at };
}

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

bool stream_writes(const plan *p, int i, int buffer)
{
	const plan_instr *in = &p->program[i];
	return in->op != PLAN_SEND && same_bytes(p, in->to, buffer);
}

bool stream_touches(const plan *p, int i, int buffer)
{
	const plan_instr *in = &p->program[i];
	if (same_bytes(p, in->to, buffer))
		return true;
	if (in->op != PLAN_RUN)
		return plan_moves(in) && same_bytes(p, in->from, buffer);
	const plan_node *n = &p->nodes[in->node];
	for (int j = 0; j < p->kernels[n->kernel].kernel->ninputs; j++)
		if (same_bytes(p, in->inputs[j], buffer))
			return true;
	return false;
}

/* Whether instruction i uses what j writes. */
static bool uses(const plan *p, int i, int j)
{
	const plan_instr *y = &p->program[j];
	return y->op != PLAN_SEND && stream_touches(p, i, y->to);
}

static bool conflict(const plan *p, int i, int j)
{
	return uses(p, i, j) || uses(p, j, i);
}

/* ---- transfers --------------------------------------------------------- */

typedef VEC(int) instructions;

typedef struct streams {
	arena *a, *tmp;
	const plan *p;
	int nqueues;
	VEC(stream_step) steps;
	/* by step and queue: the last step there that has ended when this one
	 * begins; -1 for none */
	VEC(int *) before;
	instructions bucket; /* transfers not submitted yet */
	int64_t bytes;	     /* .. their bytes */
	int *last;   /* by queue: its latest step; -1 */
	/* by queue and other queue: the latest step of the other that has ended
	 * when a new step begins here */
	int **known;
} streams;

static bool conflicts_with(const plan *p, int instr, const int *others, int n)
{
	for (int i = 0; i < n; i++)
		if (conflict(p, instr, others[i]))
			return true;
	return false;
}

/* Lists the queues other than t's that have steps of which t's queue does not
 * know whether they have ended. */
static int open_queues(const streams *x, const stream_step *t, bool *is_open)
{
	int n = 0;
	for (int q = 0; q < x->nqueues; q++) {
		is_open[q] = q != t->on && x->last[q] > x->known[t->on][q];
		n += is_open[q];
	}
	return n;
}

/* For each other queue, the latest step that must end before a step begins and
 * is not known to have ended; -1. */
static void steps_before(const streams *x, const stream_step *t, int *found)
{
	bool *is_open = ARENA_ARRAY(x->tmp, bool, x->nqueues);
	int n = open_queues(x, t, is_open);
	for (int q = 0; q < x->nqueues; q++)
		found[q] = -1;
	for (int j = x->steps.n - 1; n > 0 && j >= 0; j--) {
		const stream_step *u = &x->steps.at[j];
		if (!is_open[u->on])
			continue;
		bool known = j <= x->known[t->on][u->on];
		bool waits = false;
		for (int i = 0; !known && i < t->ninstrs; i++)
			waits |= conflicts_with(x->p, t->instrs[i], u->instrs,
						u->ninstrs);
		if (waits)
			found[u->on] = j;
		if (waits || known) {
			is_open[u->on] = false;
			n--;
		}
	}
}

/* Whether another step that is waited for can only end after step j has. */
static bool is_implied(const streams *x, const int *found, int j)
{
	int on = x->steps.at[j].on;
	for (int q = 0; q < x->nqueues; q++)
		if (found[q] >= 0 && found[q] != j &&
		    x->before.at[found[q]][on] >= j)
			return true;
	return false;
}

/* Notes that a queue which has waited for step j knows of everything that ended
 * before it. */
static void learn(streams *x, int on, int j)
{
	int *known = x->known[on];
	for (int q = 0; q < x->nqueues; q++)
		if (x->before.at[j][q] > known[q])
			known[q] = x->before.at[j][q];
	if (j > known[x->steps.at[j].on])
		known[x->steps.at[j].on] = j;
}

static void set_waits(streams *x, stream_step *t)
{
	int *found = ARENA_ARRAY(x->tmp, int, x->nqueues);
	int *after = ARENA_ARRAY(x->tmp, int, x->nqueues);
	steps_before(x, t, found);
	for (int q = 0; q < x->nqueues; q++)
		if (found[q] >= 0 && !is_implied(x, found, found[q]))
			after[t->nafter++] = found[q];
	t->after = ARENA_COPY(x->a, after, t->nafter);
	for (int i = 0; i < t->nafter; i++) {
		x->steps.at[after[i]].marks = true;
		learn(x, t->on, after[i]);
	}
}

static void hand_over(streams *x, int on, const int *instrs, int n)
{
	stream_step t = { .on = on, .ninstrs = n };
	t.instrs = ARENA_COPY(x->a, instrs, n);
	set_waits(x, &t);
	x->last[on] = x->steps.n;
	vec_push(x->a, &x->steps, t);
	vec_push(x->tmp, &x->before,
		 ARENA_COPY(x->tmp, x->known[on], x->nqueues));
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

/* Submits n transfers from `first' on, which stay together. */
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

int stream_unit_end(const plan *p, int i)
{
	if (!plan_moves(&p->program[i]) || stream_is_local(p, i))
		return i + 1;
	int end = plan_bucket_end(p, i);
	return end == i + 1 && stream_spread(p, i) >= 0 ? end + 1 : end;
}

/* Submits what begins with instruction i. */
static void add(streams *x, const stream_order *o, int i, int end)
{
	const plan_instr *in = &x->p->program[i];
	if (plan_moves(in) && !stream_is_local(x->p, i)) {
		add_transfers(x, i, end - i);
		return;
	}
	bool message = plan_is_message(in);
	if (conflicts_with(x->p, i, x->bucket.at, x->bucket.n))
		close_bucket(x);
	hand_over(x, message ? STREAM_COUNT + o->links[in->channel]
			     : STREAM_COMPUTE, &i, 1);
}

static streams streams_new(arena *a, const plan *p, int nqueues)
{
	streams x = { .a = a, .tmp = arena_new(), .p = p, .nqueues = nqueues };
	x.last = ARENA_ARRAY(x.tmp, int, nqueues);
	x.known = ARENA_ARRAY(x.tmp, int *, nqueues);
	for (int q = 0; q < nqueues; q++) {
		x.last[q] = -1;
		x.known[q] = ARENA_ARRAY(x.tmp, int, nqueues);
		for (int r = 0; r < nqueues; r++)
			x.known[q][r] = -1;
	}
	return x;
}

stream_schedule plan_streams_in(arena *a, const plan *p, const stream_order *o)
{
	streams x = streams_new(a, p, STREAM_COUNT + o->nlinks);
	bool *done = ARENA_ARRAY(x.tmp, bool, p->ninstrs);
	for (int k = 0; k < o->n; k++) {
		int i = o->instrs[k];
		if (done[i])
			continue;
		int end = stream_unit_end(p, i);
		for (int j = i; j < end; j++)
			done[j] = true;
		add(&x, o, i, end);
	}
	close_bucket(&x);
	arena_free(x.tmp);
	return (stream_schedule){ x.nqueues, x.steps.n, x.steps.at };
}

stream_schedule plan_streams(arena *a, const plan *p)
{
	int *instrs = ARENA_ARRAY(a, int, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++)
		instrs[i] = i;
	const stream_order o = { .n = p->ninstrs, .instrs = instrs };
	return plan_streams_in(a, p, &o);
}

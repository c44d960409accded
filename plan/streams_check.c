/* The check of a schedule; shares no code with the making of schedules. */
#include "config.h"

#include "base/vec.h"
#include "plan/streams.h"

/* A range of bytes of the arena that an instruction reads or writes. */
typedef struct access {
	int64_t lo, hi;
	bool writes;
} access;

typedef VEC(access) accesses;

typedef struct replay {
	const plan *p;
	const stream_order *o;
	const stream_schedule *s;
	accesses *of; /* by instruction */
	int *place;   /* by instruction: its number in the order */
	int *step;    /* by instruction; -1: in no step so far */
	/* by step and queue: the last step there that has ended when this one
	 * begins, -1 for none */
	int **ended;
} replay;

static bool fault(stream_fault *f, stream_fault_kind kind, int i, int j)
{
	*f = (stream_fault){ kind, i < j ? i : j, i < j ? j : i };
	return false;
}

static void note_access(arena *a, const plan *p, accesses *to, int buffer,
			bool writes)
{
	const plan_buffer *b = &p->buffers[buffer];
	access x = { b->offset, b->offset + b->nbytes, writes };
	vec_push(a, to, x);
}

static void note_accesses(arena *a, const plan *p, int instr, accesses *to)
{
	const plan_instr *in = &p->program[instr];
	note_access(a, p, to, in->to, in->op != PLAN_SEND);
	if (plan_moves(in))
		note_access(a, p, to, in->from, false);
	if (in->op != PLAN_RUN)
		return;
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	for (int i = 0; i < k->ninputs; i++)
		note_access(a, p, to, in->inputs[i], false);
}

static bool race(const replay *r, int i, int j)
{
	const accesses *x = &r->of[i], *y = &r->of[j];
	for (int k = 0; k < x->n; k++)
		for (int l = 0; l < y->n; l++)
			if ((x->at[k].writes || y->at[l].writes) &&
			    x->at[k].lo < y->at[l].hi &&
			    y->at[l].lo < x->at[k].hi)
				return true;
	return false;
}

static bool place_instructions(replay *r, stream_fault *f)
{
	for (int i = 0; i < r->p->ninstrs; i++)
		r->step[i] = -1;
	for (int t = 0; t < r->s->nsteps; t++)
		for (int k = 0; k < r->s->steps[t].ninstrs; k++) {
			int i = r->s->steps[t].instrs[k];
			if (i < 0 || i >= r->p->ninstrs || r->step[i] >= 0)
				return fault(f, STREAM_NOT_ONCE, i, i);
			r->step[i] = t;
		}
	for (int i = 0; i < r->p->ninstrs; i++)
		if (r->step[i] < 0)
			return fault(f, STREAM_NOT_ONCE, i, i);
	return true;
}

/* Checks that a message is alone on the queue of its link, and that this queue
 * has nothing else. */
static bool check_queues(const replay *r, stream_fault *f)
{
	for (int t = 0; t < r->s->nsteps; t++) {
		const stream_step *x = &r->s->steps[t];
		int i = x->instrs[0], on = STREAM_COMPUTE;
		const plan_instr *in = &r->p->program[i];
		bool message = plan_is_message(in);
		if (message)
			on = STREAM_COUNT + r->o->links[in->channel];
		if (x->on < 0 || x->on >= r->s->nqueues ||
		    (message && (x->on != on || x->ninstrs != 1)) ||
		    (!message && x->on >= STREAM_COUNT))
			return fault(f, STREAM_BAD_QUEUE, i, i);
	}
	return true;
}

/* Marks what has ended once step t has: what had ended when it began, and
 * everything up to it on its own queue. */
static void add_ended(const replay *r, int t, int *ended)
{
	for (int q = 0; q < r->s->nqueues; q++)
		if (r->ended[t][q] > ended[q])
			ended[q] = r->ended[t][q];
	if (t > ended[r->s->steps[t].on])
		ended[r->s->steps[t].on] = t;
}

static bool is_bad_wait(const replay *r, int t, int after)
{
	const stream_step *x = &r->s->steps[t];
	return after < 0 || after >= t || r->s->steps[after].on == x->on ||
	       !r->s->steps[after].marks;
}

/* Replays the queues: a step has ended when another begins if the other's queue
 * has waited for it, directly or through a step that waited for it. */
static bool run_queues(arena *a, replay *r, stream_fault *f)
{
	int nqueues = r->s->nqueues;
	int *before = ARENA_ARRAY(a, int, nqueues); /* the step there; -1 */
	for (int q = 0; q < nqueues; q++)
		before[q] = -1;
	for (int t = 0; t < r->s->nsteps; t++) {
		const stream_step *x = &r->s->steps[t];
		r->ended[t] = ARENA_ARRAY(a, int, nqueues);
		for (int q = 0; q < nqueues; q++)
			r->ended[t][q] = -1;
		if (before[x->on] >= 0)
			add_ended(r, before[x->on], r->ended[t]);
		for (int i = 0; i < x->nafter; i++) {
			if (is_bad_wait(r, t, x->after[i]))
				return fault(f, STREAM_BAD_WAIT, x->instrs[0],
					     x->instrs[0]);
			add_ended(r, x->after[i], r->ended[t]);
		}
		before[x->on] = t;
	}
	return true;
}

/* Checks a step against those of other queues that may run at the same time. */
static bool check_beside(const replay *r, int t, stream_fault *f)
{
	const stream_step *x = &r->s->steps[t];
	for (int u = 0; u < t; u++) {
		const stream_step *y = &r->s->steps[u];
		if (y->on == x->on || u <= r->ended[t][y->on])
			continue;
		for (int k = 0; k < x->ninstrs; k++)
			for (int l = 0; l < y->ninstrs; l++)
				if (race(r, x->instrs[k], y->instrs[l]))
					return fault(f, STREAM_UNORDERED,
						     x->instrs[k],
						     y->instrs[l]);
	}
	return true;
}

/* Checks the transfers of one bucket, which run at the same time, except for
 * the two of an all-reduce. */
static bool check_bucket(const replay *r, int t, stream_fault *f)
{
	const stream_step *x = &r->s->steps[t];
	for (int k = 0; k < x->ninstrs; k++)
		for (int l = k + 1; l < x->ninstrs; l++) {
			int i = x->instrs[k], j = x->instrs[l];
			if (race(r, i, j) && stream_combined(r->p, j) != i)
				return fault(f, STREAM_UNORDERED, i, j);
		}
	return true;
}

/* Checks that an instruction does not conflict with earlier ones of its queue
 * that come after it in the order. */
static bool check_order(const replay *r, stream_fault *f)
{
	int last = -1; /* the last place so far */
	for (int t = 0; t < r->s->nsteps; t++) {
		const stream_step *x = &r->s->steps[t];
		for (int k = 0; k < x->ninstrs; k++) {
			int i = x->instrs[k];
			for (int n = r->place[i] + 1; n <= last; n++) {
				int j = r->o->instrs[n];
				if (r->step[j] < t && race(r, i, j))
					return fault(f, STREAM_REVERSED, i, j);
			}
		}
		for (int k = 0; k < x->ninstrs; k++)
			if (r->place[x->instrs[k]] > last)
				last = r->place[x->instrs[k]];
	}
	return true;
}

bool streams_check_in(const plan *p, const stream_order *o,
		      const stream_schedule *s, stream_fault *f)
{
	arena *a = arena_new();
	replay r = { .p = p, .o = o, .s = s };
	r.of = arena_calloc(a, (size_t)p->ninstrs + 1, sizeof(accesses));
	r.step = ARENA_ARRAY(a, int, p->ninstrs);
	r.place = ARENA_ARRAY(a, int, p->ninstrs);
	r.ended = ARENA_ARRAY(a, int *, s->nsteps);
	for (int i = 0; i < p->ninstrs; i++)
		note_accesses(a, p, i, &r.of[i]);
	for (int n = 0; n < o->n; n++)
		r.place[o->instrs[n]] = n;
	bool good = place_instructions(&r, f) && check_queues(&r, f) &&
		    run_queues(a, &r, f) && check_order(&r, f);
	for (int t = 0; good && t < s->nsteps; t++)
		good = check_beside(&r, t, f) && check_bucket(&r, t, f);
	arena_free(a);
	return good;
}

bool streams_check(const plan *p, const stream_schedule *s, stream_fault *f)
{
	arena *a = arena_new();
	int *instrs = ARENA_ARRAY(a, int, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++)
		instrs[i] = i;
	const stream_order o = { .n = p->ninstrs, .instrs = instrs };
	bool good = streams_check_in(p, &o, s, f);
	arena_free(a);
	return good;
}

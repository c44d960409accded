/* The check of a schedule, which shares nothing with the code that makes it. */
#include "config.h"

#include "base/vec.h"
#include "plan/streams.h"

/* Bytes of the arena that an instruction reads or writes. */
typedef struct access {
	int64_t lo, hi;
	bool writes;
} access;

typedef VEC(access) accesses;

typedef struct replay {
	const plan *p;
	const stream_schedule *s;
	accesses *of; /* by instruction */
	int *step;    /* by instruction; -1: in none so far */
	int *ended;   /* by step: the last step of the other queue that has
			 ended when it begins, -1 for none */
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
	note_access(a, p, to, in->to, true);
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

/* Runs the queues: a step has ended when another begins if the other's queue
 * has waited for it, directly or through a step that waited for it. */
static bool run_queues(replay *r, stream_fault *f)
{
	int ended[STREAM_COUNT] = { -1, -1 };
	for (int t = 0; t < r->s->nsteps; t++) {
		const stream_step *x = &r->s->steps[t];
		if (x->after >= 0) {
			if (x->after >= t ||
			    r->s->steps[x->after].on == x->on ||
			    !r->s->steps[x->after].marks)
				return fault(f, STREAM_BAD_WAIT, x->instrs[0],
					     x->instrs[0]);
			if (x->after > ended[x->on])
				ended[x->on] = x->after;
		}
		r->ended[t] = ended[x->on];
	}
	return true;
}

/* Checks a step against those of the other queue that may run at the same
 * time. */
static bool check_beside(const replay *r, int t, stream_fault *f)
{
	const stream_step *x = &r->s->steps[t];
	for (int u = r->ended[t] + 1; u < t; u++) {
		const stream_step *y = &r->s->steps[u];
		for (int k = 0; y->on != x->on && k < x->ninstrs; k++)
			for (int l = 0; l < y->ninstrs; l++)
				if (race(r, x->instrs[k], y->instrs[l]))
					return fault(f, STREAM_UNORDERED,
						     x->instrs[k],
						     y->instrs[l]);
	}
	return true;
}

/* The transfers of one bucket run at the same time, except the two of an
 * all-reduce. */
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

/* An instruction that is enqueued after later ones of the program must not
 * conflict with them. */
static bool check_order(const replay *r, stream_fault *f)
{
	int last = -1; /* the last instruction of the program so far */
	for (int t = 0; t < r->s->nsteps; t++) {
		const stream_step *x = &r->s->steps[t];
		for (int k = 0; k < x->ninstrs; k++)
			for (int j = x->instrs[k] + 1; j <= last; j++)
				if (r->step[j] < t && race(r, x->instrs[k], j))
					return fault(f, STREAM_REVERSED,
						     x->instrs[k], j);
		for (int k = 0; k < x->ninstrs; k++)
			last = x->instrs[k] > last ? x->instrs[k] : last;
	}
	return true;
}

bool streams_check(const plan *p, const stream_schedule *s, stream_fault *f)
{
	arena *a = arena_new();
	replay r = { p, s, arena_calloc(a, (size_t)p->ninstrs + 1,
					sizeof(accesses)) };
	r.step = ARENA_ARRAY(a, int, p->ninstrs);
	r.ended = ARENA_ARRAY(a, int, s->nsteps);
	for (int i = 0; i < p->ninstrs; i++)
		note_accesses(a, p, i, &r.of[i]);
	bool good = place_instructions(&r, f) && run_queues(&r, f) &&
		    check_order(&r, f);
	for (int t = 0; good && t < s->nsteps; t++)
		good = check_beside(&r, t, f) && check_bucket(&r, t, f);
	arena_free(a);
	return good;
}

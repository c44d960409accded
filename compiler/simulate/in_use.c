/* Memory in use over time. */
#include "config.h"

#include <stdlib.h>

#include "base/vec.h"
#include "compiler/simulate/simulate.h"
#include "plan/lifetimes.h"

typedef struct span {
	double begin, end;
} span;

/* The buffers of a stage, separate for each turn, by the instants of a step. */
typedef struct watch {
	const plan *q;	/* the stage's plan, unrolled */
	const lifetime *lives;
	span *spans;	/* by buffer */
	bool *written;
	span now;	/* of the current instruction */
} watch;

static void note_read(void *to, int buffer)
{
	watch *w = to;
	if (w->spans[buffer].end < w->now.end)
		w->spans[buffer].end = w->now.end;
}

static bool is_same_place(const plan *q, int x, int y)
{
	const plan_buffer *a = &q->buffers[x], *b = &q->buffers[y];
	return x != y && a->offset == b->offset && a->nbytes == b->nbytes;
}

/* A result that is written over an operand takes over its place. */
static void hand_over(watch *w, int instr)
{
	const plan *q = w->q;
	const plan_instr *in = &q->program[instr];
	if (in->op != PLAN_RUN)
		return;
	int n = q->kernels[q->nodes[in->node].kernel].kernel->ninputs;
	for (int i = 0; i < n; i++)
		if (is_same_place(q, in->inputs[i], in->to))
			w->spans[in->inputs[i]].end = w->now.begin;
}

static void note_instr(watch *w, int instr)
{
	const plan_instr *in = &w->q->program[instr];
	plan_reads(w->q, in, note_read, w);
	if (in->op == PLAN_SEND)
		return;
	note_read(w, in->to);
	if (!w->written[in->to])
		w->spans[in->to].begin = w->now.begin;
	w->written[in->to] = true;
	hand_over(w, instr);
}

/* Sets the spans of buffers that exist before the step or remain after it. */
static void keep_given(watch *w, double seconds)
{
	for (int b = 0; b < w->q->nbuffers; b++) {
		const lifetime *l = &w->lives[b];
		if (l->first > l->last)
			continue;
		if (l->first < 0)
			w->spans[b].begin = 0;
		if (l->last == w->q->ninstrs)
			w->spans[b].end = seconds;
	}
}

/* The first message of each channel. */
static int *first_messages(arena *a, const plan_pipeline *p,
			   const simulation *s)
{
	int *first = ARENA_ARRAY(a, int, p->nchannels);
	for (int m = s->nmessages - 1; m >= 0; m--)
		first[s->messages[m].channel] = m;
	return first;
}

/* Notes the instants of each instruction.  They are in the order of the
 * units. */
static void note_all(watch *w, const simulation *s, int stage,
		     const int *messages)
{
	const simulated_unit *u = s->stages[stage].units;
	int left = s->stages[stage].nunits > 0 ? u->end - u->instr : 0;
	for (int i = 0; i < w->q->ninstrs; i++) {
		const plan_instr *in = &w->q->program[i];
		bool talks = plan_is_message(in);
		const simulated_message *m = NULL;
		if (talks) {
			m = &s->messages[messages[in->channel]];
			m += m->turn < 0 ? 0 : in->turn;
		}
		if (talks && (in->op == PLAN_SEND || m->receiver < 0)) {
			w->now = (span){ m->begin_seconds, m->end_seconds };
		} else {
			if (left == 0) {
				u++;
				left = u->end - u->instr;
			}
			left--;
			w->now = (span){ u->begin_seconds, u->end_seconds };
		}
		note_instr(w, i);
	}
}

/* ---- sums -------------------------------------------------------------- */

typedef struct change {
	double seconds;
	int64_t nbytes;
} change;

/* At one instant the end of a use comes before the begin of another. */
static int by_instant(const void *x, const void *y)
{
	const change *a = x, *b = y;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return (a->nbytes > b->nbytes) - (a->nbytes < b->nbytes);
}

static simulated_use *add_up(arena *a, change *all, int nchanges, int *n)
{
	VEC(simulated_use) uses = { 0 };
	int64_t now = 0;
	if (nchanges > 0)
		qsort(all, (size_t)nchanges, sizeof(*all), by_instant);
	vec_push(a, &uses, ((simulated_use){ 0, 0 }));
	for (int i = 0; i < nchanges; i++) {
		simulated_use *last = &uses.at[uses.n - 1];
		now += all[i].nbytes;
		if (last->seconds == all[i].seconds)
			last->nbytes = now;
		else if (last->nbytes != now)
			vec_push(a, &uses,
				 ((simulated_use){ all[i].seconds, now }));
	}
	*n = uses.n;
	return uses.at;
}

simulated_use *simulated_memory(arena *a, const plan_pipeline *p,
				const simulation *s, int stage, int *n)
{
	arena *tmp = arena_new();
	plan own = *plan_unroll(tmp, &p->stages[stage], PLAN_MAX_TURNS);
	own.stage = NULL;
	watch w = { .q = &own, .lives = plan_lifetimes(tmp, &own) };
	w.spans = ARENA_ARRAY(tmp, span, own.nbuffers);
	w.written = ARENA_ARRAY(tmp, bool, own.nbuffers);
	note_all(&w, s, stage, first_messages(tmp, p, s));
	keep_given(&w, s->seconds);
	VEC(change) all = { 0 };
	for (int b = 0; b < own.nbuffers; b++) {
		const span *x = &w.spans[b];
		int64_t nbytes = own.buffers[b].nbytes;
		if (x->end <= x->begin || nbytes == 0)
			continue;
		vec_push(tmp, &all, ((change){ x->begin, nbytes }));
		vec_push(tmp, &all, ((change){ x->end, -nbytes }));
	}
	simulated_use *uses = add_up(a, all.at, all.n, n);
	arena_free(tmp);
	return uses;
}

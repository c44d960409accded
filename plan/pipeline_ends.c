/* Searches for stages of a pipeline that wait for each other in a cycle.
 *
 * Each stage executes its list in order, and a wait that has ended does not
 * begin again.  However fast the stages are, either all lists end or the same
 * waits never do.  It is therefore enough to run them in one way, without
 * data. */
#include "config.h"

#include "base/vec.h"
#include "plan/pipeline.h"

typedef enum event_kind { EVENT_WRITE, EVENT_SEND, EVENT_RECEIVE } event_kind;

typedef struct event {
	event_kind kind;
	int channel, instr;
} event;

/* The events of a stage.  Part 0 comes before its body, then come its segments,
 * then what follows: part i has events [first[i], first[i + 1]). */
typedef struct stage_events {
	VEC(event) events;
	int *first;
	int run, repeat, task; /* position in the order; run -1: part 0 */
	int at;		       /* the next event */
} stage_events;

typedef struct waits {
	const plan_pipeline *p;
	arena *tmp;
	stage_events *stages;
	int *slots; /* of a channel's source; 0: sent once */
	int64_t *sent, *taken, *written;
} waits;

/* ---- lists ------------------------------------------------------------- */

/* By buffer, a list of the channels on which it is sent, linked by next. */
static void find_channels(const plan *p, int *head, int *next)
{
	for (int b = 0; b < p->nbuffers; b++)
		head[b] = -1;
	for (int i = p->ninstrs - 1; i >= 0; i--) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_SEND)
			continue;
		next[in->channel] = head[in->from];
		head[in->from] = in->channel;
	}
}

static void note_events(waits *w, stage_events *x, const plan *p, int begin,
			int end, const int *head, const int *next)
{
	for (int i = begin; i < end; i++) {
		const plan_instr *in = &p->program[i];
		bool sends = in->op == PLAN_SEND;
		if (sends || in->op == PLAN_RECEIVE)
			vec_push(w->tmp, &x->events,
				 ((event){ sends ? EVENT_SEND : EVENT_RECEIVE,
					   in->channel, i }));
		for (int c = sends ? -1 : head[in->to]; c >= 0; c = next[c])
			vec_push(w->tmp, &x->events,
				 ((event){ EVENT_WRITE, c, i }));
	}
}

static void note_stage(waits *w, int s)
{
	const plan *p = &w->p->stages[s];
	stage_events *x = &w->stages[s];
	int n = p->stage->nsegments;
	int *head = ARENA_ARRAY(w->tmp, int, p->nbuffers);
	int *next = ARENA_ARRAY(w->tmp, int, w->p->nchannels);
	find_channels(p, head, next);
	x->first = ARENA_ARRAY(w->tmp, int, n + 3);
	x->run = -1;
	note_events(w, x, p, 0, p->loop.begin, head, next);
	for (int g = 0; g < n; g++) {
		const plan_segment *of = &p->stage->segments[g];
		x->first[g + 1] = x->events.n;
		note_events(w, x, p, of->begin, of->end, head, next);
	}
	x->first[n + 1] = x->events.n;
	note_events(w, x, p, p->loop.end, p->ninstrs, head, next);
	x->first[n + 2] = x->events.n;
	for (int i = p->loop.begin; i < p->loop.end; i++)
		if (p->program[i].op == PLAN_SEND)
			w->slots[p->program[i].channel] =
				p->buffers[p->program[i].from].slots;
}

/* ---- running ----------------------------------------------------------- */

/* The current part of a stage. */
static int part_of(const plan *p, const stage_events *x)
{
	const plan_stage *s = p->stage;
	if (x->run < 0)
		return 0;
	if (x->run >= s->nruns)
		return s->nsegments + 1;
	return 1 + s->runs[x->run].tasks[x->task];
}

/* Goes to the next part; false after the last. */
static bool next_part(const plan *p, stage_events *x)
{
	const plan_stage *s = p->stage;
	if (x->run >= s->nruns)
		return false;
	if (x->run < 0) {
		x->run = 0;
	} else if (++x->task == s->runs[x->run].ntasks) {
		x->task = 0;
		if (++x->repeat == s->runs[x->run].times) {
			x->repeat = 0;
			x->run++;
		}
	}
	x->at = x->first[part_of(p, x)];
	return true;
}

static bool happens(waits *w, const event *e)
{
	int c = e->channel;
	switch (e->kind) {
	case EVENT_WRITE:
		if (w->slots[c] == 0 ? w->taken[c] < w->sent[c]
				     : w->taken[c] <= w->written[c] -
							w->slots[c])
			return false;
		w->written[c]++;
		return true;
	case EVENT_SEND:
		w->sent[c]++;
		return true;
	case EVENT_RECEIVE:
		if (w->sent[c] <= w->taken[c])
			return false;
		w->taken[c]++;
		return true;
	}
	return false;
}

/* Advances a stage as far as possible; returns whether it has reached its end.
 * *moved: set if anything happened. */
static bool advance(waits *w, int s, bool *moved)
{
	const plan *p = &w->p->stages[s];
	stage_events *x = &w->stages[s];
	do {
		int end = x->first[part_of(p, x) + 1];
		for (; x->at < end; x->at++) {
			if (!happens(w, &x->events.at[x->at]))
				return false;
			*moved = true;
		}
	} while (next_part(p, x));
	return true;
}

/* Whether a stage waits for permission to write. */
static bool is_to_write(const waits *w, int s)
{
	const stage_events *x = &w->stages[s];
	return x->events.at[x->at].kind == EVENT_WRITE;
}

static bool run_all(waits *w, int *stage, int *instr)
{
	for (bool moved = true; moved;) {
		*stage = -1;
		moved = false;
		for (int s = 0; s < w->p->nstages; s++) {
			stage_events *x = &w->stages[s];
			if (advance(w, s, &moved) ||
			    (*stage >= 0 && (is_to_write(w, *stage) ||
					     !is_to_write(w, s))))
				continue;
			*stage = s;
			*instr = x->events.at[x->at].instr;
		}
		if (*stage < 0)
			return true;
	}
	return false;
}

bool pipeline_ends(const plan_pipeline *p, int *stage, int *instr)
{
	arena *tmp = arena_new();
	waits w = { .p = p, .tmp = tmp };
	w.stages = ARENA_ARRAY(tmp, stage_events, p->nstages);
	w.slots = ARENA_ARRAY(tmp, int, p->nchannels);
	w.sent = ARENA_ARRAY(tmp, int64_t, p->nchannels);
	w.taken = ARENA_ARRAY(tmp, int64_t, p->nchannels);
	w.written = ARENA_ARRAY(tmp, int64_t, p->nchannels);
	for (int s = 0; s < p->nstages; s++)
		note_stage(&w, s);
	bool ok = run_all(&w, stage, instr);
	arena_free(tmp);
	return ok;
}

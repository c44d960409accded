/* The checks of a stage of a pipeline that do not involve other stages. */
#include "config.h"

#include "plan/check.h"
#include "plan/lifetimes.h"

enum { MOST_SEGMENTS = 256 };

static bool check_segments(plan_checker *c, const plan_stage *s)
{
	int at = c->p->loop.begin;
	c->table = "segments";
	if (s->nsegments < 1 || s->nsegments > MOST_SEGMENTS) {
		c->row = -1;
		return flaw(c, "there are %d, 1 to %d are accepted",
			    s->nsegments, MOST_SEGMENTS);
	}
	for (c->row = 0; c->row < s->nsegments; c->row++) {
		const plan_segment *x = &s->segments[c->row];
		if (x->begin != at || x->end < at || x->end > c->p->loop.end)
			return flaw(c, "it is not a part of the body behind "
				    "the one before");
		at = x->end;
	}
	c->row = s->nsegments - 1;
	return at == c->p->loop.end ||
	       flaw(c, "the body does not end where it ends");
}

/* Checks that each segment runs once for each turn. */
static bool check_runs(plan_checker *c, const plan_stage *s, arena *tmp)
{
	int turns = c->p->loop.turns, *done = ARENA_ARRAY(tmp, int,
							  s->nsegments);
	c->table = "order";
	for (c->row = 0; c->row < s->nruns; c->row++) {
		const plan_tasks *x = &s->runs[c->row];
		if (x->times < 1 || x->times > turns || x->ntasks < 1)
			return flaw(c, "there is nothing to do, or more often "
				    "than there are micro-batches");
		for (int i = 0; i < x->ntasks; i++) {
			int g = x->tasks[i];
			if (!is_index(g, s->nsegments))
				return flaw(c, "segment %d does not exist", g);
			done[g] += x->times;
			if (done[g] > turns)
				return flaw(c, "segment %d is run more often "
					    "than there are micro-batches", g);
		}
	}
	c->table = "segments";
	for (c->row = 0; c->row < s->nsegments; c->row++)
		if (done[c->row] != turns)
			return flaw(c, "it is run %d times for %d "
				    "micro-batches", done[c->row], turns);
	return true;
}

bool stage_check_schedule(plan_checker *c, arena *tmp)
{
	const plan_stage *s = c->p->stage;
	if (!s)
		return true;
	c->table = "schedule";
	c->row = -1;
	if (c->p->loop.turns < 1)
		return flaw(c, "a stage has no micro-batches");
	return check_segments(c, s) && check_runs(c, s, tmp);
}

bool stage_check_message(plan_checker *c, const plan_instr *in)
{
	const plan *p = c->p;
	const plan_buffer *b = &p->buffers[in->to];
	const plan_tensor *t = &p->tensors[b->tensor];
	if (!p->stage || b->region != LAYOUT_STORED)
		return flaw(c, "buffer %d is not for a message", in->to);
	return in->op == PLAN_SEND || t->role == PLAN_RESULT ||
	       flaw(c, "it receives '%.100s', which is no result", t->name);
}

/* ---- slots ------------------------------------------------------------- */

/* The use of a buffer by segments of the body; -1: none. */
typedef struct usage {
	int written, last; /* segments */
	bool message;	   /* sent or received by the body */
} usage;

typedef struct usages {
	plan_checker *c;
	usage *by; /* buffer */
	int segment;
} usages;

static void note_read(void *to, int buffer)
{
	usages *x = to;
	usage *u = &x->by[buffer];
	if (x->segment > u->last)
		u->last = x->segment;
}

static void note_segment(usages *x, const plan_segment *g)
{
	const plan *p = x->c->p;
	for (int i = g->begin; i < g->end; i++) {
		const plan_instr *in = &p->program[i];
		bool sends = in->op == PLAN_SEND;
		plan_reads(p, in, note_read, x);
		if (!sends)
			x->by[in->to].written = x->segment;
		if (sends || in->op == PLAN_RECEIVE)
			x->by[in->to].message = true;
	}
}

typedef struct turn_counts {
	int n; /* segments */
	int *done;
	int *most;    /* [i * n + j], see below */
	bool *broken; /* j would run for a turn before i had */
} turn_counts;

static void note_task(turn_counts *t, int g)
{
	for (int i = 0; i < g; i++)
		t->broken[i * t->n + g] |= t->done[i] <= t->done[g];
	t->done[g]++;
	for (int j = g; j < t->n; j++) {
		int under_way = t->done[g] - t->done[j] + (j == g);
		if (under_way > t->most[g * t->n + j])
			t->most[g * t->n + j] = under_way;
	}
}

int *plan_turns_between(arena *tmp, const plan_stage *s)
{
	int n = s->nsegments, pairs = n * n;
	turn_counts t = { n, ARENA_ARRAY(tmp, int, n),
			  ARENA_ARRAY(tmp, int, pairs),
			  ARENA_ARRAY(tmp, bool, pairs) };
	for (int r = 0; r < s->nruns; r++)
		for (int k = 0; k < s->runs[r].times; k++)
			for (int q = 0; q < s->runs[r].ntasks; q++)
				note_task(&t, s->runs[r].tasks[q]);
	for (int i = 0; i < pairs; i++)
		if (t.broken[i])
			t.most[i] = 0;
	return t.most;
}

/* By tensor: whether it is a value for another turn, or for the next run. */
static bool *find_carried(arena *tmp, const plan *p)
{
	bool *is = ARENA_ARRAY(tmp, bool, p->ntensors);
	for (int t = 0; t < p->ntensors; t++) {
		const plan_tensor *x = &p->tensors[t];
		if (x->then >= 0)
			is[x->then] = true;
		if (x->role == PLAN_STATE && x->next >= 0)
			is[x->next] = true;
	}
	return is;
}

static bool check_slot(plan_checker *c, const usage *u, const int *between,
		       const bool *carried)
{
	const plan *p = c->p;
	int slots = p->buffers[c->row].slots, n = p->stage->nsegments;
	if (u->written < 0)
		return (slots == 0 && !u->message) ||
		       flaw(c, "it has slots, or is a message, and the body "
			    "does not write it");
	int last = u->last > u->written ? u->last : u->written;
	int need = between[u->written * n + last];
	if (slots == 0)
		return (last == u->written && !u->message) ||
		       flaw(c, "it is in use in two segments, or a message, "
			    "and has no slots");
	if (carried[p->buffers[c->row].tensor])
		return flaw(c, "it has slots, and a value for another turn");
	if (need == 0)
		return flaw(c, "segment %d reads it for a micro-batch that "
			    "segment %d has not done", last, u->written);
	return need <= slots ||
	       flaw(c, "%d micro-batches are under way in %d slots", need,
		    slots);
}

static bool no_slots(plan_checker *c)
{
	c->table = "buffers";
	for (c->row = 0; c->row < c->p->nbuffers; c->row++)
		if (c->p->buffers[c->row].slots != 0)
			return flaw(c, "it has slots outside of a pipeline");
	return true;
}

bool stage_check_slots(plan_checker *c, arena *tmp)
{
	const plan *p = c->p;
	const plan_stage *s = p->stage;
	if (!s)
		return no_slots(c);
	usages x = { .c = c, .by = ARENA_ARRAY(tmp, usage, p->nbuffers) };
	for (int b = 0; b < p->nbuffers; b++)
		x.by[b] = (usage){ -1, -1, false };
	for (; x.segment < s->nsegments; x.segment++)
		note_segment(&x, &s->segments[x.segment]);
	const int *between = plan_turns_between(tmp, s);
	const bool *carried = find_carried(tmp, p);
	c->table = "buffers";
	for (c->row = 0; c->row < p->nbuffers; c->row++)
		if (!check_slot(c, &x.by[c->row], between, carried))
			return false;
	return true;
}

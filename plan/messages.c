/* Finds the order of messages by running the pipeline without data; the stages
 * take turns, each for at most one segment. */
#include "config.h"

#include "plan/messages.h"

#include <assert.h>

#include "base/vec.h"

typedef enum event_kind {
	EVENT_SEND,
	EVENT_RECEIVE, /* waits for the next message of a channel */
	EVENT_WRITE,   /* waits for the channel's message of this number */
	EVENT_PAUSE,   /* lets other stages go on */
} event_kind;

typedef struct event {
	event_kind kind;
	int instr; /* those before it must be done before the wait */
	int channel, number;
} event;

/* A value that was sent from a place that has not been overwritten since. */
typedef struct sent {
	int channel, number, buffer;
} sent;

/* A message at the point where its receiver asks for it: once the instructions
 * before `free' are done, nothing uses its place. */
typedef struct request {
	int channel, number, instr, free;
} request;

typedef struct stage_run {
	const plan *p;
	VEC(event) events;
	int at; /* index of the next one */
} stage_run;

typedef struct link_run {
	VEC(request) requests;
	int at; /* index of the next one */
} link_run;

typedef VEC(int) instructions;

typedef struct runner {
	arena *a, *tmp;
	const plan_pipeline *p;
	message_order *order;
	stage_run *stages;
	link_run *links;
	instructions *sends;	/* by channel */
	int *nreceives, *ntaken; /* by channel */
	int *nsent;
	VEC(link_message) messages;
} runner;

/* ---- links ------------------------------------------------------------- */

static int link_number(message_order *o, const plan_channel *c)
{
	int l = 0;
	while (l < o->nlinks &&
	       (o->links[l].from != c->from || o->links[l].to != c->to))
		l++;
	if (l == o->nlinks)
		o->links[o->nlinks++] = (stage_link){ c->from, c->to };
	return l;
}

static void find_links(runner *r)
{
	const plan_pipeline *p = r->p;
	message_order *o = r->order;
	o->links = ARENA_ARRAY(r->a, stage_link, p->nchannels);
	o->link_of = ARENA_ARRAY(r->a, int, p->nchannels);
	for (int c = 0; c < p->nchannels; c++)
		o->link_of[c] = link_number(o, &p->channels[c]);
}

/* ---- events ------------------------------------------------------------ */

static void add_event(runner *r, stage_run *x, event_kind kind, int instr,
		      int channel, int number)
{
	vec_push(r->tmp, &x->events,
		 ((event){ kind, instr, channel, number }));
}

static int free_since(const plan *p, int i, int buffer)
{
	int j = i;
	while (j > 0 && !stream_touches(p, j - 1, buffer))
		j--;
	return j;
}

static void note_receive(runner *r, stage_run *x, int i)
{
	const plan_instr *in = &x->p->program[i];
	int c = in->channel, number = r->nreceives[c]++;
	request q = { c, number, i, free_since(x->p, i, in->to) };
	vec_push(r->tmp, &r->links[r->order->link_of[c]].requests, q);
	add_event(r, x, EVENT_RECEIVE, i, c, number);
}

/* Adds waits: values that were sent from places which instructions [i, end),
 * executed together, overwrite must have been taken. */
static void note_writes(runner *r, stage_run *x, int i, int end,
			sent *waiting, int *nwaiting)
{
	int n = 0;
	for (int k = 0; k < *nwaiting; k++) {
		const sent *s = &waiting[k];
		bool written = false;
		for (int j = i; j < end; j++)
			written |= stream_writes(x->p, j, s->buffer);
		if (written)
			add_event(r, x, EVENT_WRITE, i, s->channel, s->number);
		else
			waiting[n++] = *s;
	}
	*nwaiting = n;
}

/* Whether another segment, or another turn of the same one, begins with
 * instruction i. */
static bool begins_segment(const plan *p, int i)
{
	return i > 0 && p->program[i].turn != p->program[i - 1].turn;
}

static void note_events(runner *r, stage_run *x)
{
	const plan *p = x->p;
	sent *waiting = ARENA_ARRAY(r->tmp, sent, p->ninstrs);
	int nwaiting = 0;
	for (int i = 0, end; i < p->ninstrs; i = end) {
		const plan_instr *in = &p->program[i];
		end = stream_unit_end(p, i);
		if (begins_segment(p, i))
			add_event(r, x, EVENT_PAUSE, i, -1, 0);
		note_writes(r, x, i, end, waiting, &nwaiting);
		if (in->op == PLAN_RECEIVE)
			note_receive(r, x, i);
		if (in->op != PLAN_SEND)
			continue;
		int c = in->channel, number = r->sends[c].n;
		vec_push(r->tmp, &r->sends[c], i);
		waiting[nwaiting++] = (sent){ c, number, in->from };
		add_event(r, x, EVENT_SEND, i, c, number);
	}
	add_event(r, x, EVENT_PAUSE, p->ninstrs, -1, 0);
}

/* ---- running ----------------------------------------------------------- */

/* The instruction of a stage before which all are done. */
static int position(const runner *r, int stage)
{
	const stage_run *x = &r->stages[stage];
	return x->at < x->events.n ? x->events.at[x->at].instr : x->p->ninstrs;
}

/* Lets a link's messages proceed as far as they can. */
static void flow(runner *r, int l)
{
	const stage_link *of = &r->order->links[l];
	link_run *x = &r->links[l];
	for (; x->at < x->requests.n; x->at++) {
		const request *q = &x->requests.at[x->at];
		int c = q->channel;
		if (r->nsent[c] <= q->number || position(r, of->to) < q->free)
			return;
		link_message m = { c, r->sends[c].at[q->number], q->instr,
				   position(r, of->from),
				   position(r, of->to) };
		vec_push(r->a, &r->messages, m);
		r->ntaken[c]++;
	}
}

/* The same for all links of a stage. */
static void flow_all(runner *r, int stage)
{
	for (int l = 0; l < r->order->nlinks; l++)
		if (r->order->links[l].from == stage ||
		    r->order->links[l].to == stage)
			flow(r, l);
}

/* Whether the next event of a stage may happen. */
static bool may_happen(const runner *r, const event *e)
{
	if (e->kind == EVENT_RECEIVE || e->kind == EVENT_WRITE)
		return r->ntaken[e->channel] > e->number;
	return true;
}

/* Advances a stage to its next pause; returns whether anything happened. */
static bool advance(runner *r, int stage)
{
	stage_run *x = &r->stages[stage];
	int before = x->at;
	while (x->at < x->events.n && may_happen(r, &x->events.at[x->at])) {
		const event *e = &x->events.at[x->at++];
		if (e->kind == EVENT_SEND)
			r->nsent[e->channel]++;
		flow_all(r, stage);
		if (e->kind == EVENT_PAUSE)
			break;
	}
	return x->at > before;
}

static void run(runner *r)
{
	for (bool moved = true; moved;) {
		moved = false;
		for (int s = r->p->nstages - 1; s >= 0; s--)
			moved |= advance(r, s);
	}
	for (int s = 0; s < r->p->nstages; s++)
		assert(r->stages[s].at == r->stages[s].events.n);
}

message_order messages_in_order(arena *a, const plan_pipeline *p)
{
	message_order o = { 0 };
	arena *tmp = arena_new();
	runner r = { .a = a, .tmp = tmp, .p = p, .order = &o };
	r.stages = ARENA_ARRAY(tmp, stage_run, p->nstages);
	r.sends = ARENA_ARRAY(tmp, instructions, p->nchannels);
	r.nreceives = ARENA_ARRAY(tmp, int, p->nchannels);
	r.ntaken = ARENA_ARRAY(tmp, int, p->nchannels);
	r.nsent = ARENA_ARRAY(tmp, int, p->nchannels);
	find_links(&r);
	r.links = ARENA_ARRAY(tmp, link_run, o.nlinks);
	for (int s = 0; s < p->nstages; s++) {
		r.stages[s].p = &p->stages[s];
		note_events(&r, &r.stages[s]);
	}
	run(&r);
	o.nmessages = r.messages.n;
	o.messages = r.messages.at;
	arena_free(tmp);
	return o;
}

/* ---- a stage ----------------------------------------------------------- */

/* Appends the program's instructions up to `end' to an order. */
static void add_others(stream_order *to, const plan *p, int *at, int end,
		       int *instrs)
{
	for (; *at < end; ++*at)
		if (!plan_is_message(&p->program[*at]))
			instrs[to->n++] = *at;
}

/* Numbers the links of a stage, and sets each channel's link. */
static void number_links(arena *a, const plan_pipeline *p,
			 const message_order *o, int stage, stream_order *to,
			 int **own)
{
	int *numbers = ARENA_ARRAY(a, int, o->nlinks);
	int *links = ARENA_ARRAY(a, int, p->nchannels);
	*own = ARENA_ARRAY(a, int, o->nlinks);
	for (int l = 0; l < o->nlinks; l++) {
		numbers[l] = to->nlinks;
		if (o->links[l].from == stage || o->links[l].to == stage)
			(*own)[to->nlinks++] = l;
	}
	for (int c = 0; c < p->nchannels; c++)
		links[c] = numbers[o->link_of[c]];
	to->links = links;
}

stream_order messages_in_stage(arena *a, const plan_pipeline *p,
			       const message_order *o, int stage, int **own)
{
	const plan *of = &p->stages[stage];
	int *instrs = ARENA_ARRAY(a, int, of->ninstrs), at = 0;
	stream_order to = { .instrs = instrs };
	number_links(a, p, o, stage, &to, own);
	for (int i = 0; i < o->nmessages; i++) {
		const link_message *m = &o->messages[i];
		const plan_channel *c = &p->channels[m->channel];
		if (c->from != stage && c->to != stage)
			continue;
		bool sends = c->from == stage;
		add_others(&to, of, &at,
			   sends ? m->sender_at : m->receiver_at, instrs);
		instrs[to.n++] = sends ? m->send : m->receive;
	}
	add_others(&to, of, &at, of->ninstrs, instrs);
	return to;
}

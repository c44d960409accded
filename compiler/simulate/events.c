/* The event loop: what ends at an instant, and what may begin then. */
#include "config.h"

#include "compiler/simulate/events.h"

#include <assert.h>
#include <string.h>

#include "base/heap.h"
#include "base/vec.h"

/* The messages that wait for the end of a unit, or of a message. */
typedef struct dependents {
	int *first; /* by unit or message, and one more */
	int *at;
} dependents;

typedef struct runner {
	stage_units *units;
	int *of_stream[SIMULATED_STREAMS]; /* units, in order */
	int n[SIMULATED_STREAMS], ended[SIMULATED_STREAMS];
	bool works[SIMULATED_STREAMS];
	bool asked[SIMULATED_STREAMS]; /* the next unit waits for a port */
	bool sends, receives;	       /* ports in use */
	bool moved;		       /* it is to be looked at */
	dependents ends;	       /* of units */
} runner;

/* The next unit of a stream of a stage, or a message, that waits for ports. */
typedef struct request {
	double ready;
	int stage, order; /* in the order of these */
	int to, stream;	  /* the unit's stage; stream -1: none */
	int message;	  /* -1: none */
} request;

typedef struct loop {
	arena *tmp;
	bool overlap;
	int nstages, nmessages;
	runner *stages;
	const event_message *messages;
	simulated_message *out;
	int *missing;	   /* by message: ends that it waits for */
	int *order;	   /* of its SEND */
	bool *ended;	   /* messages */
	dependents ends;   /* of messages */
	heap events;	   /* ends, by instant; items: stage and stream, behind
			      these messages */
	VEC(request) requests; /* in order */
	VEC(int) moved;	       /* stages to look at */
	double now;
} loop;

/* Instants are at least 0, and so in the order of their bits. */
static int64_t key_of(double seconds)
{
	int64_t key;
	static_assert(sizeof(key) == sizeof(seconds), "64 bits");
	memcpy(&key, &seconds, sizeof(key));
	return key;
}

static double instant_of(int64_t key)
{
	double seconds;
	memcpy(&seconds, &key, sizeof(seconds));
	return seconds;
}

/* ---- dependents -------------------------------------------------------- */

/* Calls f for each unit and message that a message waits for. */
typedef void dependence(loop *l, dependents *of, int what, int message);

static void each_wait(loop *l, runner *r, const stage_post *x, dependence *f)
{
	const stage_wait *w = &x->wait;
	for (int k = 0; k < SIMULATED_STREAMS; k++)
		if (w->after.n[k] > 0)
			f(l, &r->ends, r->of_stream[k][w->after.n[k] - 1],
			  x->message);
	for (int i = 0; i < w->nmessages; i++)
		f(l, &l->ends, r->units->list[w->first + i], x->message);
}

static void each_dependence(loop *l, dependence *f)
{
	for (int s = 0; s < l->nstages; s++) {
		const stage_units *u = l->stages[s].units;
		for (int i = 0; i < u->nsends; i++)
			each_wait(l, &l->stages[s], &u->sends[i], f);
		for (int i = 0; i < u->nreceives; i++)
			each_wait(l, &l->stages[s], &u->receives[i], f);
	}
	for (int m = 1; m < l->nmessages; m++)
		if (l->out[m].channel == l->out[m - 1].channel)
			f(l, &l->ends, m - 1, m);
}

static void count(loop *l, dependents *of, int what, int message)
{
	of->first[what]++;
	l->missing[message]++;
}

static void note(loop *l, dependents *of, int what, int message)
{
	(void)l;
	of->at[--of->first[what]] = message;
}

/* Counts become ends of ranges, which note() makes their beginnings. */
static void add_up(arena *a, dependents *x, int n)
{
	for (int i = 1; i <= n; i++)
		x->first[i] += x->first[i - 1];
	x->at = ARENA_ARRAY(a, int, x->first[n]);
}

static void find_dependents(loop *l)
{
	l->ends.first = ARENA_ARRAY(l->tmp, int, l->nmessages + 1);
	for (int s = 0; s < l->nstages; s++)
		l->stages[s].ends.first =
			ARENA_ARRAY(l->tmp, int, l->stages[s].units->n + 1);
	each_dependence(l, count);
	add_up(l->tmp, &l->ends, l->nmessages);
	for (int s = 0; s < l->nstages; s++)
		add_up(l->tmp, &l->stages[s].ends, l->stages[s].units->n);
	each_dependence(l, note);
}

/* ---- requests ---------------------------------------------------------- */

static bool comes_before(const request *x, const request *y)
{
	if (x->ready != y->ready)
		return x->ready < y->ready;
	if (x->stage != y->stage)
		return x->stage < y->stage;
	return x->order < y->order;
}

static void add_request(loop *l, request x)
{
	vec_push(l->tmp, &l->requests, x);
	int i = l->requests.n - 1;
	for (; i > 0 && comes_before(&x, &l->requests.at[i - 1]); i--)
		l->requests.at[i] = l->requests.at[i - 1];
	l->requests.at[i] = x;
}

static void request_message(loop *l, int m)
{
	int from = l->messages[m].from;
	add_request(l, (request){ l->now, from, l->order[m], -1, -1, m });
}

static void request_unit(loop *l, int s, int k, const stage_unit *u)
{
	int m = u->message;
	request x = { l->now, s, u->order, s, k, m };
	if (m >= 0) {
		x.stage = l->messages[m].from;
		x.order = l->order[m];
	}
	l->stages[s].asked[k] = true;
	add_request(l, x);
}

/* The port out of which a request sends, and that into which it receives. */
static bool *sending_port(loop *l, const request *x)
{
	return &l->stages[x->stage].sends;
}

static bool *receiving_port(loop *l, const request *x)
{
	int to = x->message >= 0 ? l->messages[x->message].to : x->stage;
	return &l->stages[to].receives;
}

/* ---- ends -------------------------------------------------------------- */

static void touch(loop *l, int s)
{
	if (l->stages[s].moved)
		return;
	l->stages[s].moved = true;
	vec_push(l->tmp, &l->moved, s);
}

/* A message has one end less to wait for. */
static void notify(loop *l, const dependents *of, int what)
{
	for (int i = of->first[what]; i < of->first[what + 1]; i++) {
		int m = of->at[i];
		if (--l->missing[m] > 0)
			continue;
		if (l->overlap)
			request_message(l, m);
		else
			touch(l, l->messages[m].to);
	}
}

static void end_message(loop *l, int m)
{
	int from = l->messages[m].from, to = l->messages[m].to;
	l->ended[m] = true;
	l->stages[from].sends = l->stages[to].receives = false;
	touch(l, from);
	touch(l, to);
	notify(l, &l->ends, m);
}

static void end_unit(loop *l, int s, int k)
{
	runner *r = &l->stages[s];
	int u = r->of_stream[k][r->ended[k]++];
	const stage_unit *more = &r->units->more[u];
	r->works[k] = false;
	if (more->ports)
		r->sends = r->receives = false;
	touch(l, s);
	notify(l, &r->ends, u);
	if (more->message >= 0)
		end_message(l, more->message);
}

/* ---- begins ------------------------------------------------------------ */

static void await_end(loop *l, double end, int item)
{
	heap_push(l->tmp, &l->events,
		  (heap_entry){ .key = key_of(end), .item = item });
}

static void set_message(loop *l, int m, double end)
{
	l->out[m].begin_seconds = l->now;
	l->out[m].end_seconds = end;
}

/* Whether it has ended, too, having taken no time. */
static bool begin_unit(loop *l, int s, int k)
{
	runner *r = &l->stages[s];
	int at = r->of_stream[k][r->ended[k]];
	simulated_unit *u = &r->units->units[at];
	const stage_unit *more = &r->units->more[at];
	u->begin_seconds = u->end_seconds = l->now;
	for (int i = 0; i < u->end - u->instr; i++)
		u->end_seconds += more->seconds[i];
	r->works[k] = true;
	if (more->message >= 0)
		set_message(l, more->message, u->end_seconds);
	if (u->end_seconds > l->now)
		await_end(l, u->end_seconds, s * SIMULATED_STREAMS + k);
	else
		end_unit(l, s, k);
	return u->end_seconds <= l->now;
}

static bool begin_message(loop *l, int m)
{
	double end = l->now + l->messages[m].seconds;
	set_message(l, m, end);
	if (end > l->now)
		await_end(l, end, l->nstages * SIMULATED_STREAMS + m);
	else
		end_message(l, m);
	return end <= l->now;
}

static bool may_begin(const loop *l, const runner *r, const stage_unit *u)
{
	for (int k = 0; k < SIMULATED_STREAMS; k++)
		if (r->ended[k] < u->wait.after.n[k])
			return false;
	for (int i = 0; i < u->wait.nmessages; i++)
		if (!l->ended[r->units->list[u->wait.first + i]])
			return false;
	return u->message < 0 || l->missing[u->message] == 0;
}

/* Begins what a stream of a stage does next, if it can; whether that has ended,
 * too. */
static bool advance(loop *l, int s, int k)
{
	runner *r = &l->stages[s];
	if (r->works[k] || r->asked[k] || r->ended[k] == r->n[k])
		return false;
	const stage_unit *u = &r->units->more[r->of_stream[k][r->ended[k]]];
	if (!may_begin(l, r, u))
		return false;
	if (!u->ports && u->message < 0)
		return begin_unit(l, s, k);
	request_unit(l, s, k, u);
	return false;
}

static void advance_all(loop *l)
{
	while (l->moved.n > 0) {
		int s = l->moved.at[--l->moved.n];
		l->stages[s].moved = false;
		for (int k = 0; k < SIMULATED_STREAMS; k++)
			while (advance(l, s, k))
				;
	}
}

static bool begin_request(loop *l, const request *x)
{
	*sending_port(l, x) = *receiving_port(l, x) = true;
	if (x->stream < 0)
		return begin_message(l, x->message);
	l->stages[x->to].asked[x->stream] = false;
	return begin_unit(l, x->to, x->stream);
}

/* Begins those of the requests whose ports are free, up to one that takes no
 * time; whether there is such a one. */
static bool grant(loop *l)
{
	for (int i = 0; i < l->requests.n;) {
		const request x = l->requests.at[i];
		if (*sending_port(l, &x) || *receiving_port(l, &x)) {
			i++;
			continue;
		}
		memmove(&l->requests.at[i], &l->requests.at[i + 1],
			sizeof(x) * (size_t)(l->requests.n - i - 1));
		l->requests.n--;
		if (begin_request(l, &x))
			return true;
	}
	return false;
}

/* ---- the loop ---------------------------------------------------------- */

static void end_event(loop *l, int item)
{
	int units = l->nstages * SIMULATED_STREAMS;
	if (item >= units)
		end_message(l, item - units);
	else
		end_unit(l, item / SIMULATED_STREAMS,
			 item % SIMULATED_STREAMS);
}

static void run(loop *l)
{
	for (int s = l->nstages; s-- > 0;)
		touch(l, s);
	for (int m = 0; l->overlap && m < l->nmessages; m++)
		if (l->missing[m] == 0)
			request_message(l, m);
	for (;;) {
		do
			advance_all(l);
		while (grant(l));
		if (l->events.entries.n == 0)
			return;
		int64_t key = l->events.entries.at[0].key;
		l->now = instant_of(key);
		while (l->events.entries.n > 0 &&
		       l->events.entries.at[0].key == key)
			end_event(l, heap_pop(&l->events).item);
	}
}

static void begin_stage(loop *l, runner *r, stage_units *units)
{
	r->units = units;
	for (int i = 0; i < units->n; i++)
		r->n[units->units[i].stream]++;
	for (int k = 0; k < SIMULATED_STREAMS; k++) {
		r->of_stream[k] = ARENA_ARRAY(l->tmp, int, r->n[k]);
		r->n[k] = 0;
	}
	for (int i = 0; i < units->n; i++) {
		int k = units->units[i].stream;
		r->of_stream[k][r->n[k]++] = i;
	}
	for (int i = 0; i < units->nsends; i++)
		l->order[units->sends[i].message] = units->sends[i].order;
}

void events_run(int nstages, stage_units *stages, int nmessages,
		const event_message *messages, simulated_message *out,
		bool overlap)
{
	loop l = { .tmp = arena_new(), .overlap = overlap,
		   .nstages = nstages, .nmessages = nmessages,
		   .messages = messages, .out = out };
	l.stages = ARENA_ARRAY(l.tmp, runner, nstages);
	l.missing = ARENA_ARRAY(l.tmp, int, nmessages);
	l.order = ARENA_ARRAY(l.tmp, int, nmessages);
	l.ended = ARENA_ARRAY(l.tmp, bool, nmessages);
	for (int s = 0; s < nstages; s++)
		begin_stage(&l, &l.stages[s], &stages[s]);
	find_dependents(&l);
	run(&l);
	for (int s = 0; s < nstages; s++)
		for (int k = 0; k < SIMULATED_STREAMS; k++)
			assert(l.stages[s].ended[k] == l.stages[s].n[k]);
	arena_free(l.tmp);
}

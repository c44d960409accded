/* The event loop: handles what ends at an instant, and begins what can begin
 * then. */
#include "config.h"

#include "compiler/simulate/events.h"

#include <assert.h>

#include "base/vec.h"
#include "compiler/simulate/flows.h"

/* The messages that wait for the end of a unit or of another message. */
typedef struct dependents {
	int *first; /* index by unit or message, and one past the last */
	int *at;
} dependents;

typedef struct runner {
	stage_units *units;
	int *of_stream[SIMULATED_STREAMS]; /* units in order */
	int n[SIMULATED_STREAMS], ended[SIMULATED_STREAMS];
	bool works[SIMULATED_STREAMS];
	bool moved;	 /* the stage has to be looked at */
	dependents ends; /* of units */
} runner;

typedef struct loop {
	arena *tmp;
	bool overlap;
	int nstages, nmessages;
	runner *stages;
	const event_message *messages;
	simulated_message *out;
	int *missing;	 /* by message: ends that it still waits for */
	bool *ended;	 /* by message */
	dependents ends; /* of messages */
	/* Everything that takes time.  Messages come first, then each stage and
	 * stream. */
	flows *flows;
	VEC(int) moved;	   /* stages to look at */
	VEC(int) messages_ready;
	double now;
} loop;

/* ---- dependents -------------------------------------------------------- */

/* Called for each unit and message that a message waits for. */
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

/* Turns counts into the ends of ranges; note() then moves them to the
 * beginnings. */
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

/* ---- ends -------------------------------------------------------------- */

static void touch(loop *l, int s)
{
	if (l->stages[s].moved)
		return;
	l->stages[s].moved = true;
	vec_push(l->tmp, &l->moved, s);
}

/* Notes one end for which a message waited. */
static void notify(loop *l, const dependents *of, int what)
{
	for (int i = of->first[what]; i < of->first[what + 1]; i++) {
		int m = of->at[i];
		if (--l->missing[m] > 0)
			continue;
		if (l->overlap)
			vec_push(l->tmp, &l->messages_ready, m);
		else
			touch(l, l->messages[m].to);
	}
}

static void end_message(loop *l, int m)
{
	l->ended[m] = true;
	l->out[m].end_seconds = l->now;
	touch(l, l->messages[m].from);
	touch(l, l->messages[m].to);
	notify(l, &l->ends, m);
}

static void end_unit(loop *l, int s, int k)
{
	runner *r = &l->stages[s];
	int u = r->of_stream[k][r->ended[k]++];
	const stage_unit *more = &r->units->more[u];
	r->works[k] = false;
	r->units->units[u].end_seconds = l->now;
	touch(l, s);
	notify(l, &r->ends, u);
	if (more->message >= 0)
		end_message(l, more->message);
}

/* ---- begins ------------------------------------------------------------ */

/* Begins a unit.  Returns whether it has also ended because it takes no
 * time. */
static bool begin_unit(loop *l, int s, int k)
{
	runner *r = &l->stages[s];
	int at = r->of_stream[k][r->ended[k]];
	simulated_unit *u = &r->units->units[at];
	const stage_unit *more = &r->units->more[at];
	double end = u->begin_seconds = l->now;
	for (int i = 0; i < u->end - u->instr; i++)
		end += more->seconds[i];
	r->works[k] = true;
	if (more->message >= 0)
		l->out[more->message].begin_seconds = l->now;
	if (end > l->now)
		flows_begin(l->flows, s * SIMULATED_STREAMS + k, &more->links,
			    l->now, end);
	else
		end_unit(l, s, k);
	return end <= l->now;
}

static void begin_message(loop *l, int m)
{
	const event_message *x = &l->messages[m];
	double end = l->now + x->seconds;
	l->out[m].begin_seconds = l->now;
	if (end > l->now)
		flows_begin(l->flows, l->nstages * SIMULATED_STREAMS + m,
			    x->links, l->now, end);
	else
		end_message(l, m);
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

/* Begins the next unit of a stage's stream if possible.  Returns whether it has
 * also ended. */
static bool advance(loop *l, int s, int k)
{
	runner *r = &l->stages[s];
	if (r->works[k] || r->ended[k] == r->n[k])
		return false;
	const stage_unit *u = &r->units->more[r->of_stream[k][r->ended[k]]];
	return may_begin(l, r, u) && begin_unit(l, s, k);
}

static void advance_stage(loop *l, int s)
{
	l->stages[s].moved = false;
	for (int k = 0; k < SIMULATED_STREAMS; k++)
		while (advance(l, s, k))
			;
}

/* Begins all units that can begin. */
static void advance_all(loop *l)
{
	while (l->moved.n > 0 || l->messages_ready.n > 0) {
		if (l->messages_ready.n > 0)
			begin_message(l, l->messages_ready.at[
						 --l->messages_ready.n]);
		else
			advance_stage(l, l->moved.at[--l->moved.n]);
	}
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
	int item;
	for (int s = l->nstages; s-- > 0;)
		touch(l, s);
	for (int m = 0; l->overlap && m < l->nmessages; m++)
		if (l->missing[m] == 0)
			vec_push(l->tmp, &l->messages_ready, m);
	do {
		advance_all(l);
		l->now = flows_next(l->flows);
		while ((item = flows_ended(l->flows)) >= 0)
			end_event(l, item);
	} while (l->now >= 0);
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
}

void events_run(int nstages, stage_units *stages, int nmessages,
		const event_message *messages, simulated_message *out,
		int nlinks, bool overlap)
{
	loop l = { .tmp = arena_new(), .overlap = overlap,
		   .nstages = nstages, .nmessages = nmessages,
		   .messages = messages, .out = out };
	l.stages = ARENA_ARRAY(l.tmp, runner, nstages);
	l.missing = ARENA_ARRAY(l.tmp, int, nmessages);
	l.ended = ARENA_ARRAY(l.tmp, bool, nmessages);
	for (int s = 0; s < nstages; s++)
		begin_stage(&l, &l.stages[s], &stages[s]);
	l.flows = flows_new(l.tmp, nstages * SIMULATED_STREAMS + nmessages,
			    nlinks);
	find_dependents(&l);
	run(&l);
	for (int s = 0; s < nstages; s++)
		for (int k = 0; k < SIMULATED_STREAMS; k++)
			assert(l.stages[s].ended[k] == l.stages[s].n[k]);
	arena_free(l.tmp);
}

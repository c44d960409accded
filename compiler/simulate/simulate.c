#include "config.h"

#include "compiler/simulate/simulate.h"

#include <inttypes.h>

#include "base/checked.h"
#include "compiler/simulate/events.h"

/* ---- limits ------------------------------------------------------------ */

/* An upper bound of the number of units: instructions of a step, passes, and
 * places of buffers. */
static int64_t units_at_most(const plan_pipeline *p)
{
	int64_t n = 0;
	for (int s = 0; s < p->nstages; s++) {
		const plan *q = &p->stages[s];
		int64_t turns = q->loop.turns, body = q->loop.end -
						      q->loop.begin;
		int64_t in_turns = turns > 0 ? saturated_mul(body, turns) : 0;
		int64_t passes = q->stage ? q->stage->nsegments : 1;
		n = saturated_add(n, saturated_add(in_turns, q->ninstrs));
		n = saturated_add(n, saturated_mul(passes, turns));
		for (int b = 0; b < q->nbuffers; b++)
			n = saturated_add(n, q->buffers[b].slots < turns
						     ? q->buffers[b].slots
						     : turns);
	}
	for (int c = 0; c < p->nchannels; c++) {
		const plan *from = &p->stages[p->channels[c].from];
		n = saturated_add(n, from->loop.turns);
	}
	return n;
}

const char *simulate_refused(arena *a, const plan_pipeline *p)
{
	int64_t n = units_at_most(p);
	return n <= SIMULATE_MAX_UNITS ? NULL :
		arena_printf(a, "a step has %" PRId64 " instructions; at most "
			     "%d are simulated", n, SIMULATE_MAX_UNITS);
}

/* ---- figures ----------------------------------------------------------- */

static void raise(double *to, double at)
{
	if (*to < at)
		*to = at;
}

/* Sets the instants of a task whose messages arrived at `from'.  They are those
 * of its computation from then on; if it computes nothing, of other units that
 * take time; otherwise of all its units. */
static void set_task(simulated_task *x, const simulated_unit *units,
		     double from)
{
	enum { COMPUTES, TAKES_TIME, ANYTHING, KINDS };
	double begin[KINDS] = { -1, -1, -1 }, end[KINDS] = { 0 };
	for (int i = x->first; i < x->first + x->nunits; i++) {
		const simulated_unit *u = &units[i];
		bool long_one = u->end_seconds > u->begin_seconds;
		bool late = u->begin_seconds >= from && u->stream == 0;
		for (int k = long_one ? late ? COMPUTES : TAKES_TIME : ANYTHING;
		     k < KINDS; k++) {
			if (begin[k] < 0 || u->begin_seconds < begin[k])
				begin[k] = u->begin_seconds;
			raise(&end[k], u->end_seconds);
		}
	}
	int k = COMPUTES;
	while (k < ANYTHING && begin[k] < 0)
		k++;
	x->begin_seconds = begin[k];
	x->end_seconds = end[k];
}

/* For each pass of a stage, at index segment * turns + turn: sets the instant
 * at which all of its messages have arrived. */
static void find_arrivals(double *from, const simulation *s,
			  const plan_pipeline *p, int nth)
{
	const plan *q = &p->stages[nth];
	arena *tmp = arena_new();
	int *segment = ARENA_ARRAY(tmp, int, p->nchannels);
	for (int g = 0; g < q->stage->nsegments; g++)
		for (int i = q->stage->segments[g].begin;
		     i < q->stage->segments[g].end; i++)
			if (q->program[i].op == PLAN_RECEIVE)
				segment[q->program[i].channel] = g;
	for (int m = 0; m < s->nmessages; m++) {
		const simulated_message *x = &s->messages[m];
		if (x->turn >= 0 && p->channels[x->channel].to == nth)
			raise(&from[(int64_t)segment[x->channel] *
					    q->loop.turns + x->turn],
			      x->receiver < 0 ? x->end_seconds
					      : x->begin_seconds);
	}
	arena_free(tmp);
}

static void set_tasks(simulation *s, const plan_pipeline *p, int nth)
{
	simulated_stage *x = &s->stages[nth];
	const plan *q = &p->stages[nth];
	int64_t turns = q->loop.turns;
	arena *tmp = arena_new();
	double *from = NULL;
	if (q->stage) {
		from = ARENA_ARRAY(tmp, double, turns * q->stage->nsegments);
		find_arrivals(from, s, p, nth);
	}
	for (int i = 0; i < x->ntasks; i++) {
		simulated_task *t = &x->tasks[i];
		bool waits = from && t->turn >= 0;
		set_task(t, x->units,
			 waits ? from[t->segment * turns + t->turn] : 0);
	}
	arena_free(tmp);
}

/* The time in which one of the streams is at work.  Units of a stream follow
 * each other. */
static double busy_of(const simulated_stage *x)
{
	int at[SIMULATED_STREAMS] = { 0 };
	double busy = 0, end = 0;
	for (;;) {
		const simulated_unit *next = NULL;
		for (int k = 0; k < SIMULATED_STREAMS; k++) {
			while (at[k] < x->nunits && x->units[at[k]].stream != k)
				at[k]++;
			if (at[k] < x->nunits &&
			    (!next || x->units[at[k]].begin_seconds <
					      next->begin_seconds))
				next = &x->units[at[k]];
		}
		if (!next)
			return busy;
		at[next->stream]++;
		double from = next->begin_seconds;
		raise(&from, end);
		if (next->end_seconds > from)
			busy += next->end_seconds - from;
		raise(&end, next->end_seconds);
	}
}

/* Whether a unit communicates and does not compute. */
static bool communicates(const plan *q, const simulated_unit *u)
{
	const plan_instr *in = &q->program[u->instr];
	return in->op == PLAN_RECEIVE ||
	       (plan_moves(in) && in->collective != COLL_LOCAL);
}

static void set_stage(simulated_stage *x, const plan *q, double step)
{
	double last = 0;
	for (int i = 0; i < x->nunits; i++) {
		const simulated_unit *u = &x->units[i];
		double seconds = u->end_seconds - u->begin_seconds;
		if (communicates(q, u))
			x->communicating_seconds += seconds;
		else
			x->computing_seconds += seconds;
		raise(&last, u->end_seconds);
	}
	x->busy_seconds = busy_of(x);
	x->idle_seconds = step - x->busy_seconds;
	x->waiting_seconds = last - x->busy_seconds;
}

static void set_figures(simulation *s, const plan_pipeline *p)
{
	double idle = 0, all = 0;
	for (int i = 0; i < s->nstages; i++)
		for (int u = 0; u < s->stages[i].nunits; u++)
			raise(&s->seconds, s->stages[i].units[u].end_seconds);
	for (int m = 0; m < s->nmessages; m++)
		raise(&s->seconds, s->messages[m].end_seconds);
	for (int i = 0; i < s->nstages; i++) {
		simulated_stage *x = &s->stages[i];
		set_stage(x, &p->stages[i], s->seconds);
		set_tasks(s, p, i);
		idle += x->idle_seconds * x->ndevices;
		all += s->seconds * x->ndevices;
	}
	s->bubble = all > 0 ? idle / all : 0;
}

/* ---- running ----------------------------------------------------------- */

/* The numbers of messages, by channel and turn. */
static int *number_messages(arena *a, const plan_pipeline *p, int *n)
{
	int *first = ARENA_ARRAY(a, int, p->nchannels + 1);
	for (int c = 0; c < p->nchannels; c++) {
		const plan *from = &p->stages[p->channels[c].from];
		first[c + 1] = first[c] + (pipeline_in_turns(p, c)
						   ? from->loop.turns
						   : 1);
	}
	*n = first[p->nchannels];
	return first;
}

static event_message *messages_of(arena *a, const plan_pipeline *p,
				  const simulated_seconds *seconds,
				  const int *first, simulated_message *out)
{
	event_message *all = ARENA_ARRAY(a, event_message,
					 first[p->nchannels]);
	for (int c = 0; c < p->nchannels; c++) {
		const plan_channel *ch = &p->channels[c];
		const plan_loop *loop = &p->stages[ch->from].loop;
		bool in_turns = pipeline_in_turns(p, c);
		for (int m = first[c]; m < first[c + 1]; m++) {
			int turn = in_turns ? m - first[c] : -1;
			turn_length l = simulated_length(loop, turn);
			const simulated_links *x = seconds->message_links[l];
			all[m] = (event_message){ ch->from, ch->to,
						  seconds->messages[l][c],
						  x ? &x[c] : NULL };
			out[m] = (simulated_message){ .channel = c,
						      .turn = turn,
						      .receiver = -1 };
		}
	}
	return all;
}

static void take_units(simulated_stage *to, const stage_units *units,
		       simulated_message *messages)
{
	to->nunits = units->n;
	to->units = units->units;
	to->ntasks = units->ntasks;
	to->tasks = units->tasks;
	for (int i = 0; i < units->n; i++)
		if (units->more[i].message >= 0)
			messages[units->more[i].message].receiver = i;
}

const simulation *simulate_with(arena *a, const plan_pipeline *p,
				const simulated_seconds *seconds, bool overlap)
{
	arena *tmp = arena_new();
	simulation *s = ARENA_NEW(a, simulation);
	stage_units *units = ARENA_ARRAY(tmp, stage_units, p->nstages);
	s->nstages = p->nstages;
	s->stages = ARENA_ARRAY(a, simulated_stage, p->nstages);
	int *first = number_messages(tmp, p, &s->nmessages);
	s->messages = ARENA_ARRAY(a, simulated_message, s->nmessages);
	event_message *m = messages_of(tmp, p, seconds, first, s->messages);
	for (int i = 0, worker = 0; i < p->nstages; i++) {
		simulated_stage *x = &s->stages[i];
		x->first = worker;
		worker += x->ndevices = mesh_workers(&p->stages[i].mesh);
		units[i] = stage_units_of(a, tmp, p, i, seconds, overlap,
					  first);
	}
	events_run(p->nstages, units, s->nmessages, m, s->messages,
		   seconds->nlinks, overlap);
	for (int i = 0; i < p->nstages; i++)
		take_units(&s->stages[i], &units[i], s->messages);
	set_figures(s, p);
	arena_free(tmp);
	return s;
}

const simulation *simulate_pipeline(arena *a, const plan_pipeline *p,
				    const topology *t)
{
	arena *tmp = arena_new();
	const simulated_seconds seconds = simulated_seconds_of(tmp, p, t);
	const simulation *s = simulate_with(a, p, &seconds, t->overlap);
	arena_free(tmp);
	return s;
}

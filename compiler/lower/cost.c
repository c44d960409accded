#include "config.h"

#include "compiler/lower/cost.h"

#include <math.h>

#include "compiler/lower/timeline.h"

/* Seconds of each stream and of both, and bytes that are received. */
typedef struct effort {
	double computation, communication, both;
	int64_t moved;
} effort;

/* The least that every program of an assignment takes; by tensor, the cheapest
 * fetch. */
typedef struct bound {
	effort sum;
	effort *fetch;
	bool *fetched;
} bound;

static bool is_fetch(const plan *p, const plan_instr *in)
{
	return in->op == PLAN_MOVE && p->buffers[in->to].region == LAYOUT_NEEDS;
}

/* Whether it copies the next value of a state, which the order of the nodes
 * decides. */
static bool is_update(const plan *p, const plan_instr *in)
{
	return in->op == PLAN_MOVE &&
	       p->buffers[in->from].region == LAYOUT_STORED &&
	       p->buffers[in->to].region == LAYOUT_STORED;
}

static void add_effort(effort *to, const effort *x)
{
	to->computation += x->computation;
	to->communication += x->communication;
	to->both += x->both;
	to->moved += x->moved;
}

/* The least of each. */
static void lower_effort(effort *to, const effort *x)
{
	to->computation = fmin(to->computation, x->computation);
	to->communication = fmin(to->communication, x->communication);
	to->both = fmin(to->both, x->both);
	to->moved = to->moved < x->moved ? to->moved : x->moved;
}

static void add_to_bound(bound *b, const plan *p, const plan_instr *in,
			 const effort *x)
{
	if (is_fetch(p, in)) {
		int t = p->buffers[in->to].tensor;
		if (b->fetched[t])
			lower_effort(&b->fetch[t], x);
		else
			b->fetch[t] = *x;
		b->fetched[t] = true;
	} else if (!is_update(p, in)) {
		add_effort(&b->sum, x);
	}
}

static void set_bounds(lower_times *x, bound *b, const plan *p,
		       const topology *t)
{
	for (int i = 0; i < p->ntensors; i++)
		if (b->fetched[i])
			add_effort(&b->sum, &b->fetch[i]);
	x->least_moved = b->sum.moved;
	x->least = t->overlap ? fmax(b->sum.computation, b->sum.communication)
			      : b->sum.both;
}

static double *all_seconds(arena *a, instr_times *x, const plan *p)
{
	double *seconds = ARENA_ARRAY(a, double, p->ninstrs);
	instr_times_each(x, p, seconds);
	return seconds;
}

/* ---- of a program ------------------------------------------------------ */

static effort effort_of(instr_times *x, const plan *p, const plan_instr *in,
			double seconds)
{
	bool remote = plan_moves(in) && in->collective != COLL_LOCAL;
	return (effort){ remote ? 0 : seconds, remote ? seconds : 0, seconds,
			 instr_times_received(x, p, in) };
}

/* All of it but the run, of a program without a loop. */
static lower_times bounds_of(instr_times *x, const plan *p,
			     const double *seconds)
{
	arena *tmp = arena_new();
	const topology *t = instr_times_machine(x);
	bound b = { .fetch = ARENA_ARRAY(tmp, effort, p->ntensors),
		    .fetched = ARENA_ARRAY(tmp, bool, p->ntensors) };
	effort all = { 0 };
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		effort one = effort_of(x, p, in, seconds[i]);
		add_effort(&all, &one);
		add_to_bound(&b, p, in, &one);
	}
	lower_times sum = { .communication = all.communication,
			    .computation = all.computation };
	sum.least_kept = t->overlap ? timeline_least(p, seconds) : all.both;
	set_bounds(&sum, &b, p, t);
	arena_free(tmp);
	return sum;
}

/* The run, of a program without a loop. */
static double run_of(const instr_times *x, const plan *p,
		     const double *seconds)
{
	double run = 0;
	if (instr_times_machine(x)->overlap)
		return timeline_end(p, seconds);
	for (int i = 0; i < p->ninstrs; i++)
		run += seconds[i];
	return run;
}

lower_times lower_bounds(instr_times *x, const plan *p)
{
	arena *tmp = arena_new();
	p = plan_unroll(tmp, p, PLAN_MAX_TURNS);
	lower_times sum = bounds_of(x, p, all_seconds(tmp, x, p));
	arena_free(tmp);
	return sum;
}

double lower_run(instr_times *x, const plan *p)
{
	arena *tmp = arena_new();
	p = plan_unroll(tmp, p, PLAN_MAX_TURNS);
	double run = run_of(x, p, all_seconds(tmp, x, p));
	arena_free(tmp);
	return run;
}

double lower_turn(instr_times *x, const plan *p)
{
	arena *tmp = arena_new();
	plan turn = *p;
	turn.program += p->loop.begin;
	turn.ninstrs = p->loop.end - p->loop.begin;
	turn.loop = (plan_loop){ 0 };
	double run = timeline_least(&turn, all_seconds(tmp, x, &turn));
	arena_free(tmp);
	return run;
}

lower_times lower_time_with(instr_times *x, const plan *p)
{
	arena *tmp = arena_new();
	p = plan_unroll(tmp, p, PLAN_MAX_TURNS);
	const double *seconds = all_seconds(tmp, x, p);
	lower_times sum = bounds_of(x, p, seconds);
	sum.run = run_of(x, p, seconds);
	arena_free(tmp);
	return sum;
}

void lower_instants(instr_times *x, const plan *p, double *seconds,
		    double *end)
{
	double now = 0;
	instr_times_each(x, p, seconds);
	for (int i = 0; i < p->ninstrs; i++)
		end[i] = now += seconds[i];
	if (instr_times_machine(x)->overlap)
		timeline_run(p, seconds, end);
}

lower_times lower_time(const plan *p, const topology *t)
{
	arena *tmp = arena_new();
	layout_classes *f = layout_classes_new(tmp, &p->mesh);
	lower_times x = lower_time_with(instr_times_new(tmp, f, t), p);
	arena_free(tmp);
	return x;
}

double lower_seconds(const plan *p, const topology *t)
{
	return lower_time(p, t).run;
}

/* ---- of a stage -------------------------------------------------------- */

/* Seconds of instructions [begin, end). */
static double part_seconds(const topology *t, const effort *efforts, int begin,
			   int end)
{
	effort sum = { 0 };
	for (int i = begin; i < end; i++)
		add_effort(&sum, &efforts[i]);
	return t->overlap ? fmax(sum.computation, sum.communication)
			  : sum.both;
}

/* By instruction, in a. */
static effort *efforts_of(arena *a, instr_times *x, const plan *p)
{
	effort *all = ARENA_ARRAY(a, effort, p->ninstrs);
	for (int i = 0, next; i < p->ninstrs; i = next) {
		const plan_instr *in = &p->program[i];
		bool message = plan_is_message(in);
		next = message ? i + 1 : plan_phase_end(p, i);
		if (message)
			continue;
		double seconds = instr_times_phase(x, p, i, next);
		all[i] = effort_of(x, p, in, seconds);
	}
	return all;
}

void lower_efforts(instr_times *x, const plan *p, double *computing,
		   double *moving)
{
	arena *tmp = arena_new();
	const effort *all = efforts_of(tmp, x, p);
	for (int i = 0; i < p->ninstrs; i++) {
		computing[i] = all[i].computation;
		moving[i] = all[i].communication;
	}
	arena_free(tmp);
}

lower_passes lower_pass_times(const plan *p, const topology *t)
{
	arena *tmp = arena_new();
	lower_passes r = { 0 };
	layout_classes *f = layout_classes_new(tmp, &p->mesh);
	const effort *all = efforts_of(tmp, instr_times_new(tmp, f, t), p);
	const plan_loop *l = &p->loop;
	for (int i = 0; p->stage && i < p->stage->nsegments; i++) {
		const plan_segment *s = &p->stage->segments[i];
		r.pass[s->pass] += part_seconds(t, all, s->begin, s->end);
	}
	if (!p->stage)
		r.pass[PASS_FORWARD] = part_seconds(t, all, l->begin, l->end);
	r.once = part_seconds(t, all, 0, l->begin) +
		 part_seconds(t, all, l->end, p->ninstrs);
	arena_free(tmp);
	return r;
}

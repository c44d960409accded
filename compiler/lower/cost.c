#include "config.h"

#include "compiler/lower/cost.h"

#include <math.h>

#include "compiler/lower/timeline.h"

/* Seconds of each stream and of both streams, and received bytes. */
typedef struct effort {
	double computation, communication, both;
	int64_t moved;
} effort;

/* A lower bound for all programs of an assignment.  By tensor: its cheapest
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

/* Whether an instruction copies the next value of a state.  Whether such a copy
 * exists depends on the order of the nodes. */
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

/* Lowers each figure of *to to that of *x if it is smaller. */
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

static effort effort_of(instr_times *x, const plan *p, const plan_instr *in,
			double seconds)
{
	bool remote = plan_moves(in) && in->collective != COLL_LOCAL;
	return (effort){ remote ? 0 : seconds, remote ? seconds : 0, seconds,
			 instr_times_received(x, p, in) };
}

/* ---- turns ------------------------------------------------------------- */

/* The number of turns that are unrolled first. */
enum { FEW_TURNS = 4 };

/* A program without a loop.  It leaves out `more' turns, each like its
 * first. */
typedef struct unrolled {
	const plan *p;
	const double *seconds; /* by instruction */
	int more;
} unrolled;

/* Whether all turns in the program take the same seconds. */
static bool are_equal(const unrolled *u)
{
	const plan *p = u->p;
	int turns = p->loop.turns - u->more;
	int each = (p->body_end - p->body_begin) / turns;
	for (int i = p->body_begin; i + each < p->body_end; i++)
		if (u->seconds[i] != u->seconds[i + each])
			return false;
	return true;
}

/* The plan unrolled in a: at most `most' turns if these are equal, otherwise
 * all. */
static unrolled unrolled_of(arena *a, instr_times *x, const plan *p, int most)
{
	unrolled u = { .p = plan_unroll(a, p, most),
		       .more = p->loop.turns > most ? p->loop.turns - most
						    : 0 };
	u.seconds = all_seconds(a, x, u.p);
	if (u.more == 0 || are_equal(&u))
		return u;
	u = (unrolled){ .p = plan_unroll(a, p, PLAN_MAX_TURNS) };
	u.seconds = all_seconds(a, x, u.p);
	return u;
}

/* The number of turns that instruction i stands for; 1 outside the body. */
static int times_of(const unrolled *u, int i)
{
	const plan *p = u->p;
	int turns = p->loop.turns - u->more;
	int each = (p->body_end - p->body_begin) / (turns > 0 ? turns : 1);
	bool first = i >= p->body_begin && i < p->body_begin + each;
	return first ? 1 + u->more : 1;
}

/* Computes figures of a program, such as bounds or the run time.  Returns false
 * if more turns are needed. */
typedef bool ask(instr_times *x, const unrolled *u, lower_times *to);

static bool try_turns(instr_times *x, const plan *p, int most, ask *what,
		      lower_times *to)
{
	arena *tmp = arena_new();
	const unrolled u = unrolled_of(tmp, x, p, most);
	bool found = what(x, &u, to);
	arena_free(tmp);
	return found;
}

/* Whether an instruction of p's body takes the same time and moves the same
 * bytes in each turn. */
static bool is_same_in_turns(instr_times *x, plan *p, const plan_instr *in)
{
	double seconds = 0;
	int64_t moved = 0;
	for (int t = 0; t < p->loop.turns; t++) {
		const plan_instr own = plan_instr_in_turn(p, in, t);
		double s = instr_times_one(x, p, &own);
		int64_t n = instr_times_received(x, p, &own);
		if (t > 0 && (s != seconds || n != moved))
			return false;
		seconds = s;
		moved = n;
	}
	return true;
}

/* Whether this holds for all instructions of the body. */
static bool are_alike(instr_times *x, const plan *p)
{
	const plan_loop *o = &p->loop;
	arena *tmp = arena_new();
	plan own = *p;
	own.buffers = ARENA_COPY(tmp, p->buffers, p->nbuffers);
	bool alike = !p->stage && o->batch % o->turns == 0;
	for (int i = o->begin; i < o->end && alike; i++)
		if (plan_turns_differ(p, &p->program[i]))
			alike = is_same_in_turns(x, &own, &p->program[i]);
	arena_free(tmp);
	return alike;
}

int lower_few_turns(instr_times *x, const plan *p)
{
	bool few = 2 * FEW_TURNS < p->loop.turns && are_alike(x, p);
	return few ? FEW_TURNS : PLAN_MAX_TURNS;
}

/* Asks with twice as many turns each time until they are enough, at last with
 * all turns. */
static lower_times answer(instr_times *x, const plan *p, ask *what)
{
	lower_times to = { 0 };
	for (int n = lower_few_turns(x, p); n < p->loop.turns; n *= 2)
		if (try_turns(x, p, n, what, &to))
			return to;
	try_turns(x, p, PLAN_MAX_TURNS, what, &to);
	return to;
}

/* ---- of a program ------------------------------------------------------ */

static effort times(effort x, int n)
{
	return (effort){ n * x.computation, n * x.communication, n * x.both,
			 n * x.moved };
}

/* Computes all figures except the run time. */
static bool bounds_of(instr_times *x, const unrolled *u, lower_times *to)
{
	arena *tmp = arena_new();
	const plan *p = u->p;
	const topology *t = instr_times_machine(x);
	bound b = { .fetch = ARENA_ARRAY(tmp, effort, p->ntensors),
		    .fetched = ARENA_ARRAY(tmp, bool, p->ntensors) };
	effort all = { 0 };
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		effort one = effort_of(x, p, in, u->seconds[i]);
		effort each = times(one, times_of(u, i));
		add_effort(&all, &each);
		add_to_bound(&b, p, in, is_fetch(p, in) ? &one : &each);
	}
	to->communication = all.communication;
	to->computation = all.computation;
	to->least_kept = t->overlap ? timeline_least(p, u->seconds, u->more)
				    : all.both;
	set_bounds(to, &b, p, t);
	arena_free(tmp);
	return to->least_kept >= 0;
}

static bool run_of(instr_times *x, const unrolled *u, lower_times *to)
{
	const plan *p = u->p;
	to->run = 0;
	if (instr_times_machine(x)->overlap) {
		to->run = timeline_end(p, u->seconds, u->more);
		return to->run >= 0;
	}
	for (int i = 0; i < p->ninstrs; i++)
		to->run += u->seconds[i] * times_of(u, i);
	return true;
}

static bool all_of(instr_times *x, const unrolled *u, lower_times *to)
{
	return bounds_of(x, u, to) && run_of(x, u, to);
}

lower_times lower_bounds(instr_times *x, const plan *p)
{
	return answer(x, p, bounds_of);
}

double lower_run(instr_times *x, const plan *p)
{
	return answer(x, p, run_of).run;
}

lower_times lower_time_with(instr_times *x, const plan *p)
{
	return answer(x, p, all_of);
}

double lower_turn(instr_times *x, const plan *p)
{
	arena *tmp = arena_new();
	plan turn = *p;
	turn.program += p->loop.begin;
	turn.ninstrs = p->loop.end - p->loop.begin;
	turn.loop = (plan_loop){ 0 };
	double run = timeline_least(&turn, all_seconds(tmp, x, &turn), 0);
	arena_free(tmp);
	return run;
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

/* The effort of each instruction, in a. */
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

#include "config.h"

#include "tests/unit/simulate_judge.h"

#include <check.h>
#include <math.h>

#include "base/vec.h"

typedef struct act act;

/* A unit, or an end of a message. */
struct act {
	int stage, number; /* in the order of the stage's program */
	int begin, end;	   /* instructions of the unrolled program */
	int rolled, turn;
	int stream; /* -1: it is on none */
	bool sends;
	int channel; /* -1 */
	act *other;  /* the other end of the message */
	VEC(act *) after;
	bool begun, ended;
	double begin_at, end_at;
	double left, moving; /* seconds, alone, all and on its links */
	double *busy;	     /* of these, by link */
	double rate, speed;
};

typedef struct judge {
	arena *a;
	const plan_pipeline *p;
	const simulated_seconds *seconds;
	bool overlap;
	const plan **unrolled;
	VEC(act *) acts; /* of all stages, one behind the other */
	double now;
} judge;

/* ---- programs ---------------------------------------------------------- */

static void put_part(judge *j, int stage, int begin, int end, int turn, int *at,
		     int *number)
{
	const plan *q = &j->p->stages[stage];
	const plan *u = j->unrolled[stage];
	for (int i = begin, next; i < end; i = next) {
		const plan_instr *in = &q->program[i];
		act *x = ARENA_NEW(j->a, act);
		bool talks = in->op == PLAN_SEND || in->op == PLAN_RECEIVE;
		next = i + 1;
		while (in->bucket > 0 && next < end &&
		       q->program[next].bucket == in->bucket)
			next++;
		*x = (act){ .stage = stage, .number = (*number)++,
			    .begin = *at, .end = *at + next - i, .rolled = i,
			    .turn = turn, .channel = talks ? in->channel : -1,
			    .sends = in->op == PLAN_SEND };
		x->stream = in->collective != COLL_LOCAL && j->overlap &&
			    (in->op == PLAN_MOVE || in->op == PLAN_COMBINE);
		if (x->sends || (talks && j->overlap))
			x->stream = -1;
		ck_assert_int_eq(u->program[*at].op, in->op);
		*at = x->end;
		vec_push(j->a, &j->acts, x);
	}
}

static void put_stage(judge *j, int stage)
{
	const plan *q = &j->p->stages[stage];
	const plan_loop *o = &q->loop;
	int at = 0, number = 0;
	int *turns = ARENA_ARRAY(j->a, int, q->stage->nsegments);
	j->unrolled[stage] = plan_unroll(j->a, q, PLAN_MAX_TURNS);
	put_part(j, stage, 0, o->begin, -1, &at, &number);
	for (int r = 0; r < q->stage->nruns; r++) {
		const plan_tasks *run = &q->stage->runs[r];
		for (int i = 0; i < run->times * run->ntasks; i++) {
			int g = run->tasks[i % run->ntasks];
			const plan_segment *of = &q->stage->segments[g];
			put_part(j, stage, of->begin, of->end, turns[g]++, &at,
				 &number);
		}
	}
	put_part(j, stage, o->end, q->ninstrs, -1, &at, &number);
	ck_assert_int_eq(at, j->unrolled[stage]->ninstrs);
}

/* ---- who waits for whom ------------------------------------------------ */

static bool meet(const plan *u, int x, int y)
{
	const plan_buffer *a = &u->buffers[x], *b = &u->buffers[y];
	return a->nbytes > 0 && b->nbytes > 0 &&
	       a->offset < b->offset + b->nbytes &&
	       b->offset < a->offset + a->nbytes;
}

/* Whether x reads what meets a buffer. */
static bool reads(const plan *u, const act *x, int buffer)
{
	for (int i = x->begin; i < x->end; i++) {
		const plan_instr *in = &u->program[i];
		int n = 0;
		if (in->op == PLAN_RUN)
			n = u->kernels[u->nodes[in->node].kernel]
				    .kernel->ninputs;
		for (int k = 0; k < n; k++)
			if (meet(u, in->inputs[k], buffer))
				return true;
		if ((in->op == PLAN_MOVE || in->op == PLAN_COMBINE ||
		     in->op == PLAN_SEND) && meet(u, in->from, buffer))
			return true;
	}
	return false;
}

/* Whether x writes where y reads or writes, or y where x reads. */
static bool conflict(const plan *u, const act *x, const act *y)
{
	for (int i = x->begin; i < x->end && !x->sends; i++) {
		int to = u->program[i].to;
		if (reads(u, y, to))
			return true;
		for (int k = y->begin; k < y->end && !y->sends; k++)
			if (meet(u, to, u->program[k].to))
				return true;
	}
	for (int k = y->begin; k < y->end && !y->sends; k++)
		if (reads(u, x, u->program[k].to))
			return true;
	return false;
}

static bool waits(const judge *j, const act *x, const act *y)
{
	if (x->stream >= 0 && x->stream == y->stream)
		return true;
	if (y->sends && !j->overlap)
		return x->stream >= 0;
	if (x->channel >= 0 && x->channel == y->channel)
		return true;
	return conflict(j->unrolled[y->stage], x, y);
}

static void find_waits(judge *j)
{
	for (int y = 0; y < j->acts.n; y++)
		for (int x = 0; x < y; x++)
			if (j->acts.at[x]->stage == j->acts.at[y]->stage &&
			    waits(j, j->acts.at[x], j->acts.at[y]))
				vec_push(j->a, &j->acts.at[y]->after,
					 j->acts.at[x]);
}

static void find_others(judge *j)
{
	for (int y = 0; y < j->acts.n; y++)
		for (int x = 0; x < j->acts.n; x++) {
			act *a = j->acts.at[x], *b = j->acts.at[y];
			if (a->channel >= 0 && a->channel == b->channel &&
			    a->turn == b->turn && a->sends != b->sends)
				a->other = b;
		}
}

/* ---- running ----------------------------------------------------------- */

static bool free_to_begin(const act *x)
{
	for (int i = 0; i < x->after.n; i++)
		if (!x->after.at[i]->ended)
			return false;
	return !x->ended && !x->begun;
}

static int length_number(const judge *j, const act *x)
{
	const plan_loop *o = &j->p->stages[x->stage].loop;
	int turn = x->turn < 0 ? o->turns - 1 : x->turn;
	layout_turn t = layout_turn_of(o->batch, o->turns, turn);
	return t.end - t.begin > o->batch / o->turns;
}

static double length_of(const judge *j, const act *x)
{
	int l = length_number(j, x);
	double sum = 0;
	if (x->channel >= 0)
		return j->seconds->messages[l][x->channel];
	for (int i = 0; i < x->end - x->begin; i++)
		sum += j->seconds->instrs[l][x->stage][x->rolled + i];
	return sum;
}

static void end(judge *j, act *x)
{
	x->ended = true;
	x->end_at = j->now;
	if (x->channel < 0)
		return;
	x->other->ended = true;
	x->other->begin_at = x->begin_at;
	x->other->end_at = x->end_at;
}

/* Adds what an instruction, or a message, keeps busy to that of its act. */
static void add_links(act *x, const simulated_links *of)
{
	for (int i = 0; i < of->n; i++)
		x->busy[of->at[i].link] += of->at[i].seconds;
	x->rate = of->rate > x->rate ? of->rate : x->rate;
}

static void set_links(judge *j, act *x)
{
	int l = length_number(j, x);
	x->busy = ARENA_ARRAY(j->a, double, j->seconds->nlinks);
	if (x->channel >= 0)
		add_links(x, &j->seconds->message_links[l][x->channel]);
	for (int i = 0; x->channel < 0 && i < x->end - x->begin; i++)
		add_links(x, &j->seconds->instr_links[l][x->stage]
							[x->rolled + i]);
	for (int i = 0; i < j->seconds->nlinks; i++)
		if (x->busy[i] > x->moving)
			x->moving = x->busy[i];
	if (x->moving > x->left)
		x->moving = x->left;
}

/* Whether it took no time. */
static bool begin(judge *j, act *x)
{
	x->begun = true;
	x->begin_at = j->now;
	x->left = length_of(j, x);
	set_links(j, x);
	if (x->left > 0)
		return false;
	end(j, x);
	return true;
}

/* Whether it can begin: of a message, its receiving end. */
static bool may_begin(const act *x)
{
	return !x->sends && free_to_begin(x) &&
	       (x->channel < 0 || free_to_begin(x->other));
}

static void begin_all(judge *j)
{
	bool any;
	do {
		any = false;
		for (int i = 0; i < j->acts.n; i++) {
			act *x = j->acts.at[i];
			if (!may_begin(x))
				continue;
			begin(j, x);
			any = true;
		}
	} while (any);
}

static bool runs(const act *x)
{
	return x->begun && !x->ended;
}

/* Whether it is on its links now: these have the last part of it. */
static bool moves(const act *x)
{
	return runs(x) && x->moving > 0 && x->left <= x->moving;
}

/* The bytes per second that all of a link's transfers could have alike, those
 * that have a speed already aside. */
static double fair_rate(const judge *j, int link)
{
	double rest = 1, sum = 0;
	for (int i = 0; i < j->acts.n; i++) {
		const act *x = j->acts.at[i];
		if (!moves(x))
			continue;
		double part = fmin(x->busy[link] / x->moving, 1);
		if (x->speed > 0)
			rest -= part * x->speed;
		else
			sum += part / x->rate;
	}
	return sum > 0 ? fmax(rest, 0) / sum : INFINITY;
}

/* The rate that one has at most: alone, or by the fair rates of its links. */
static double most_of(const judge *j, const act *x)
{
	double most = x->rate;
	for (int l = 0; l < j->seconds->nlinks; l++)
		if (x->busy[l] > 0)
			most = fmin(most, fair_rate(j, l));
	return most;
}

/* The one that has least gets it, one after the other. */
static void set_speeds(judge *j)
{
	for (int i = 0; i < j->acts.n; i++) {
		act *x = j->acts.at[i];
		x->speed = runs(x) && !moves(x) ? 1 : 0;
	}
	for (;;) {
		act *least = NULL;
		double most = 0;
		for (int i = 0; i < j->acts.n; i++) {
			act *x = j->acts.at[i];
			if (!moves(x) || x->speed > 0)
				continue;
			double own = most_of(j, x);
			if (!least || own < most) {
				least = x;
				most = own;
			}
		}
		if (!least)
			return;
		least->speed = most / least->rate;
	}
}

/* Seconds until one ends, or is on its links. */
static double until_change(const judge *j)
{
	double first = INFINITY;
	for (int i = 0; i < j->acts.n; i++) {
		const act *x = j->acts.at[i];
		if (!runs(x))
			continue;
		double left = x->moving > 0 && !moves(x) ? x->left - x->moving
							 : x->left;
		first = fmin(first, left / x->speed);
	}
	return first;
}

/* Goes on to the next instant at which anything ends; false if nothing does.
 * What is left of one by rounding is nothing. */
static bool next_instant(judge *j)
{
	const double nothing = 1e-10;
	set_speeds(j);
	double step = until_change(j);
	if (isinf(step))
		return false;
	j->now += step;
	for (int i = 0; i < j->acts.n; i++) {
		act *x = j->acts.at[i];
		if (!runs(x))
			continue;
		x->left -= step * x->speed;
		if (fabs(x->left - x->moving) < nothing)
			x->left = x->moving;
		if (x->left < nothing)
			end(j, x);
	}
	return true;
}

static void run(judge *j)
{
	do
		begin_all(j);
	while (next_instant(j));
}

/* ---- comparing --------------------------------------------------------- */

static bool is_near(double x, double y)
{
	return fabs(x - y) <= 1e-8 * (1 + fabs(x));
}

static const char *difference(judge *j, const act *x, double begin_seconds,
			      double end_seconds)
{
	if (x->ended && is_near(x->begin_at, begin_seconds) &&
	    is_near(x->end_at, end_seconds))
		return NULL;
	return arena_printf(j->a, "stage %d, instruction %d in turn %d: %g to "
			    "%g, not %g to %g", x->stage, x->rolled, x->turn,
			    x->begin_at, x->end_at, begin_seconds,
			    end_seconds);
}

static const char *compare_message(judge *j, const act *x, const simulation *s)
{
	for (int m = 0; m < s->nmessages; m++) {
		const simulated_message *of = &s->messages[m];
		if (of->channel == x->channel && of->turn == x->turn)
			return difference(j, x, of->begin_seconds,
					  of->end_seconds);
	}
	return "a message is missing";
}

static const char *compare_all(judge *j, const simulation *s)
{
	int *units = ARENA_ARRAY(j->a, int, s->nstages);
	double last = 0;
	for (int i = 0; i < j->acts.n; i++) {
		act *x = j->acts.at[i];
		const char *why = NULL;
		if (x->stream >= 0) {
			const simulated_unit *u =
				&s->stages[x->stage].units[units[x->stage]++];
			if (u->instr != x->rolled || u->turn != x->turn ||
			    u->stream != x->stream)
				return "another order of units";
			why = difference(j, x, u->begin_seconds,
					 u->end_seconds);
		}
		if (!why && x->channel >= 0)
			why = compare_message(j, x, s);
		if (why)
			return why;
		last = x->end_at > last ? x->end_at : last;
	}
	for (int i = 0; i < s->nstages; i++)
		if (units[i] != s->stages[i].nunits)
			return "another number of units";
	return is_near(last, s->seconds) ? NULL : "another end";
}

const char *simulate_judge(arena *a, const plan_pipeline *p,
			   const simulated_seconds *seconds, bool overlap,
			   const simulation *s)
{
	judge j = { .a = a, .p = p, .seconds = seconds, .overlap = overlap };
	j.unrolled = ARENA_ARRAY(a, const plan *, p->nstages);
	for (int i = 0; i < p->nstages; i++)
		put_stage(&j, i);
	find_waits(&j);
	find_others(&j);
	run(&j);
	return compare_all(&j, s);
}

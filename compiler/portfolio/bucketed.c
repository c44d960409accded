#include "config.h"

#include "compiler/portfolio/bucketed.h"

#include <math.h>
#include <stdlib.h>

#include "compiler/lower/bucket.h"

/* Times with a smaller relative difference count as equal. */
static const double same = 1e-9;

static bucket_options options_of(const plan_request *how, const plan *p)
{
	bool least = how->objective == OBJECTIVE_MEMORY;
	return (bucket_options){ how->bucket, how->topology,
				 least ? p->arena_bytes : how->memory };
}

plan *plan_in_buckets(const plan_request *how, plan *p, layout_classes *f)
{
	const bucket_options o = options_of(how, p);
	return how->bucket != 0 ? bucket_plan(how->arena, p, f, &o) : p;
}

/* ---- the ranking ------------------------------------------------------- */

typedef struct ranking {
	const plan_request *how;
	plan_candidate *best;
	/* seconds of plan_best()'s plan; slower programs were not made */
	double bare;
	plan_candidate first; /* that plan, .. */
	double with;	      /* .. and its seconds with buckets */
	double seconds; /* of the best plan with buckets */
	bool failed;
} ranking;

/* A candidate, or one of its programs, and an estimate of its least time with
 * buckets. */
typedef struct hope {
	int which;
	double seconds;
} hope;

static int by_hope(const void *x, const void *y)
{
	const hope *a = x, *b = y;
	if (a->seconds != b->seconds)
		return a->seconds < b->seconds ? -1 : 1;
	return a->which - b->which;
}

static bool is_hopeless(const ranking *x, double seconds)
{
	return !(seconds < x->seconds * (1 - same));
}

/* A program's time without buckets, or a lower bound of it. */
static double bare_seconds(const plan_program *p)
{
	return p->held >= 0 ? p->seconds : p->least_kept;
}

/* The most seconds that buckets are expected to save in a candidate's programs.
 * In some orders more instructions wait for reductions than in others. */
static double hoped_of(const plan_candidate *c)
{
	double most = 0;
	for (int i = 0; i < c->programs.n; i++)
		most = fmax(most, c->programs.at[i].saved);
	return most;
}

static bool fits(const plan_request *how, const plan *p)
{
	return how->memory == 0 || p->arena_bytes <= how->memory;
}

static bool may_fit(const ranking *x, const plan_program *p)
{
	return p->held < 0 || program_fits(p, x->how->memory);
}

/* The program of a plan, in own->arena; NULL with errors added. */
static plan *made_of(const plan_request *own, const assignment *as,
		     const plan_program *p, layout_classes **f)
{
	const lower_options o = { .memory = p->room,
				  .schedule = p->schedule,
				  .separate = own->separate,
				  .classes = f };
	return lower_plan(own->arena, own->graph, as, &o, own->sink);
}

bool program_in_buckets(const plan_request *how, const assignment *as,
			plan_program *p, bool *faster)
{
	plan_request own = *how;
	layout_classes *f;
	*faster = false;
	own.arena = arena_new();
	plan *made = made_of(&own, as, p, &f);
	const plan *with = made ? plan_in_buckets(&own, made, f) : NULL;
	if (with && with != made && fits(&own, with)) {
		instr_times *t = instr_times_new(own.arena, f, own.topology);
		double seconds = lower_run(t, with);
		*faster = seconds < p->seconds * (1 - same);
		if (*faster) {
			p->seconds = seconds;
			p->held = with->arena_bytes;
		}
	}
	arena_free(own.arena);
	return made != NULL;
}

/* The seconds of a program with buckets; *bare without them.  INFINITY if it
 * exceeds the limit, or would be too slow even with the expected savings. */
static double seconds_with(ranking *x, const assignment *as,
			   const plan_program *p, double hoped, double *bare)
{
	plan_request own = *x->how;
	layout_classes *f;
	double seconds = INFINITY;
	own.arena = arena_new();
	plan *made = made_of(&own, as, p, &f);
	x->failed |= !made;
	if (made) {
		instr_times *t = instr_times_new(own.arena, f, own.topology);
		*bare = lower_run(t, made);
		const plan *with = is_hopeless(x, *bare - hoped)
					   ? NULL
					   : plan_in_buckets(&own, made, f);
		if (with && fits(&own, with))
			seconds = lower_run(t, with);
	}
	arena_free(own.arena);
	return seconds;
}

static bool is_first(const ranking *x, const plan_candidate *c,
		     const plan_program *p)
{
	const plan_program *f = &x->first.program;
	return c->search == x->first.search && p->room == f->room &&
	       p->schedule.order == f->schedule.order &&
	       p->schedule.overlapping == f->schedule.overlapping;
}

static void try_program(ranking *x, plan_candidate *c, const plan_program *p,
			double hoped, double *gain)
{
	double bare = x->bare, s;
	if (!is_first(x, c, p))
		s = seconds_with(x, &c->search->assignment, p, hoped, &bare);
	else
		s = is_hopeless(x, bare - hoped) ? INFINITY : x->with;
	if (x->failed || s == INFINITY)
		return;
	*gain = fmax(*gain, bare - s);
	if (is_hopeless(x, s))
		return;
	*x->best = *c;
	x->best->program = *p;
	x->seconds = s;
}

/* Tries the programs of a candidate from number `first' on.  Buckets save about
 * the same in all of them.  So once one was tried, the saving is known, in
 * *gain, and replaces the estimate. */
static void try_programs(ranking *x, plan_candidate *c, int first, double *gain)
{
	int n = c->programs.n - first;
	double most = hoped_of(c);
	arena *tmp = arena_new();
	hope *by = ARENA_ARRAY(tmp, hope, n);
	for (int i = 0; i < n; i++)
		by[i] = (hope){ first + i,
				bare_seconds(&c->programs.at[first + i]) };
	qsort(by, (size_t)n, sizeof(*by), by_hope);
	for (int i = 0; i < n && !x->failed; i++) {
		const plan_program *p = &c->programs.at[by[i].which];
		double hoped = *gain < 0 ? most : *gain;
		if (is_hopeless(x, by[i].seconds - hoped))
			break;
		if (may_fit(x, p))
			try_program(x, c, p, hoped, gain);
	}
	arena_free(tmp);
}

/* Tries the programs of a candidate, and then those that were not made because
 * they are slower than the best without buckets. */
static void try_candidate(ranking *x, plan_candidate *c)
{
	plan_program beat = x->best->program, found;
	double gain = -1;
	int n = c->programs.n;
	try_programs(x, c, 0, &gain);
	if (x->failed || gain < 0 || x->seconds + gain <= x->bare)
		return;
	beat.seconds = x->seconds + gain;
	x->failed = !program_best(x->how, &c->search->assignment, &c->programs,
				  &beat, &found);
	if (!x->failed)
		try_programs(x, c, n, &gain);
}

/* The least time that a candidate's programs may take with buckets. */
static double hope_of(const ranking *x, const plan_candidate *c)
{
	double least = INFINITY;
	for (int i = 0; i < c->programs.n; i++) {
		const plan_program *p = &c->programs.at[i];
		if (may_fit(x, p))
			least = fmin(least, bare_seconds(p));
	}
	return least - hoped_of(c);
}

/* Whether an earlier candidate in the order by[] has the plan of by[n]. */
static bool is_tried(const ranking *x, const plan_candidates *all,
		     const hope *by, int n)
{
	const assignment *as = &all->at[by[n].which].search->assignment;
	for (int i = 0; i < n; i++)
		if (plan_is_same(x->how->graph, as,
				 &all->at[by[i].which].search->assignment))
			return true;
	return false;
}

enum { MOST_IN_VAIN = 6 }; /* consecutive candidates without improvement */

/* Tries candidates in the order by[0..n). */
static bool try_in_order(ranking *x, plan_candidates *all, const hope *by)
{
	int vain = 0;
	for (int i = 0; i < all->n && !x->failed; i++) {
		plan_candidate *c = &all->at[by[i].which];
		double before = x->seconds;
		if (vain == MOST_IN_VAIN || is_hopeless(x, by[i].seconds))
			break;
		if (is_tried(x, all, by, i))
			continue;
		plan_observe(x->how, PHASE_COMPARE, c->search->algorithm, i,
			     all->n);
		try_candidate(x, c);
		vain = x->seconds < before ? 0 : vain + 1;
	}
	return !x->failed;
}

bool plan_best_in_buckets(const plan_request *how, plan_candidates *all,
			  plan_candidate *best)
{
	ranking x = { .how = how, .best = best, .seconds = INFINITY };
	if (how->bucket == 0)
		return true;
	x.first = *best;
	x.seconds = x.with = seconds_with(&x, &best->search->assignment,
					  &best->program, 0, &x.bare);
	if (x.failed)
		return false;
	arena *tmp = arena_new();
	hope *by = ARENA_ARRAY(tmp, hope, all->n);
	for (int i = 0; i < all->n; i++)
		by[i] = (hope){ i, hope_of(&x, &all->at[i]) };
	qsort(by, (size_t)all->n, sizeof(*by), by_hope);
	bool ok = try_in_order(&x, all, by);
	arena_free(tmp);
	return ok;
}

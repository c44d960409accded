#include "config.h"

#include "compiler/driver/plan_programs.h"

#include <math.h>

#include "plan/peak.h"

enum {
	NRUNGS = 6,	    /* from the least memory to that with all copies */
	NRUNGS_OVERLAP = 3, /* the same where all of them are looked at */
};

/* lower_options.memory */
static const int64_t usual_room = 0, least_room = 1;

/* ---- figures ----------------------------------------------------------- */

bool program_fits(const plan_program *p, int64_t limit)
{
	return limit == 0 || p->held <= limit;
}

/* Less than, equal to or greater than 0. */
static int compare_values(double x, double y)
{
	return (x > y) - (x < y);
}

int program_compare(const plan_program *x, const plan_program *y,
		    plan_objective by)
{
	int seconds = compare_values(x->seconds, y->seconds);
	int moved = compare_values((double)x->moved, (double)y->moved);
	int held = compare_values((double)x->held, (double)y->held);
	int first = by == OBJECTIVE_TIME  ? seconds :
		    by == OBJECTIVE_BYTES ? moved :
					    held;
	return first ? first : seconds ? seconds : moved ? moved : held;
}

/* ---- programs ---------------------------------------------------------- */

static int64_t in_use(const plan *p)
{
	arena *tmp = arena_new();
	int64_t most = plan_find_peak(tmp, p).nbytes;
	arena_free(tmp);
	return most;
}

/* Programs with less room fetch more, so that each stream has more to do. */
static void set_seconds(plan_program *p, const plan *made, const topology *t)
{
	lower_times x = lower_time(made, t);
	double busy = fmax(x.computation, x.communication);
	p->seconds = x.run;
	p->least = t->overlap ? busy : x.run;
}

bool program_try(driver *d, const graph *g, const assignment *as,
		 const plan_search *how, plan_program *p,
		 void (*see)(void *to, const plan *p), void *to)
{
	const lower_options o = {.algorithm = how->algorithm,
				 .memory = p->room,
				 .overlapping = p->overlapping,
				 .separate = how->separate};
	arena *tmp = arena_new();
	const plan *made = lower_plan(tmp, g, as, &o, d->sink);
	if (made) {
		set_seconds(p, made, how->topology);
		p->moved = made->communication_bytes;
		p->held = made->arena_bytes;
	}
	if (made && see)
		see(to, made);
	arena_free(tmp);
	return made != NULL;
}

/* ---- the ladder -------------------------------------------------------- */

typedef struct ladder {
	driver *d;
	const graph *g;
	const assignment *as;
	const plan_search *how;
	const plan_program *beat;
	plan_program best;
	plan_programs *known;
	bool any, failed;
} ladder;

static bool is_better(const ladder *x, const plan_program *p)
{
	int64_t limit = x->how->memory;
	bool fits = program_fits(p, limit);
	if (!x->any || fits != program_fits(&x->best, limit))
		return !x->any || fits;
	return fits ? program_compare(p, &x->best, x->how->objective) < 0
		    : p->held < x->best.held;
}

static void note_in_use(void *to, const plan *p)
{
	*(int64_t *)to = in_use(p);
}

static bool is_known(const ladder *x, plan_program *p)
{
	bool memory = x->how->objective == OBJECTIVE_MEMORY;
	for (int i = 0; x->known && i < x->known->n; i++) {
		const plan_program *k = &x->known->at[i];
		if (k->room != p->room || k->overlapping != p->overlapping ||
		    (memory && k->in_use < 0))
			continue;
		*p = *k;
		return true;
	}
	return false;
}

static void make(ladder *x, plan_program *p)
{
	bool memory = x->how->objective == OBJECTIVE_MEMORY;
	x->failed = x->failed ||
		    !program_try(x->d, x->g, x->as, x->how, p,
				 memory ? note_in_use : NULL, &p->in_use);
	if (!x->failed && x->known)
		vec_push(x->d->arena, x->known, *p);
}

static plan_program find(ladder *x, int64_t room, bool overlapping)
{
	plan_program p = {
		.room = room, .overlapping = overlapping, .in_use = -1};
	if (!is_known(x, &p))
		make(x, &p);
	return p;
}

static void take(ladder *x, const plan_program *p)
{
	if (!x->failed && is_better(x, p)) {
		x->best = *p;
		x->any = true;
	}
}

static plan_program try(ladder *x, int64_t room, bool overlapping)
{
	plan_program p = find(x, room, overlapping);
	take(x, &p);
	return p;
}

/* Whether each program of the plan is worse than the one to beat, given the one
 * that keeps all copies.  Without a limit there is none: it has no more room
 * than the machine. */
static bool is_beaten(const ladder *x, const plan_program *all)
{
	if (x->failed || !x->beat || x->how->memory == 0)
		return false;
	return x->how->objective == OBJECTIVE_TIME
		       ? all->least > x->beat->seconds
		       : all->moved > x->beat->moved;
}

/* Whether no program with less room is wanted, given the one that keeps all
 * copies: it moves the least of all, and where instructions follow each other
 * it takes the least time. */
static bool is_enough(const ladder *x, const plan_program *all)
{
	const plan_search *how = x->how;
	bool first = how->objective == OBJECTIVE_BYTES ||
		     !how->topology->overlap;
	if (how->memory == 0)
		return true;
	if (!first)
		return false;
	return program_fits(all, how->memory) ||
	       (x->beat && program_compare(all, x->beat, how->objective) >= 0);
}

/* Those in between that a limit allows: each has so many times the room of the
 * one before it. */
static void climb(ladder *x, int64_t least, int64_t all, bool overlapping)
{
	int n = x->how->topology->overlap ? NRUNGS_OVERLAP : NRUNGS;
	for (int i = 1; i < n && !x->failed; i++) {
		double times = pow((double)all / (double)least, i / (double)n);
		int64_t room = (int64_t)((double)least * times);
		if (x->how->memory > 0 && room > x->how->memory)
			return;
		try(x, room, overlapping);
	}
}

/* Whether each program has more in use at once than the one to beat needs. */
static bool is_hopeless(ladder *x, bool overlapping)
{
	plan_program least = try(x, least_room, overlapping);
	return x->failed || (x->beat && least.in_use >= x->beat->held);
}

/* For least memory. */
static void try_for_memory(ladder *x, bool overlapping)
{
	if (x->how->room > 0 && is_hopeless(x, overlapping))
		return;
	try(x, usual_room, overlapping);
	if (x->how->room == 0 || x->failed)
		return;
	plan_program least = try(x, least_room, overlapping);
	/* Between places there is no gap that another program may fill. */
	if (x->failed || least.held <= least.in_use)
		return;
	plan_program all = try(x, PLAN_MAX_BYTES, overlapping);
	if (!x->failed && least.held > 0 && all.held > least.held)
		climb(x, least.held, all.held, overlapping);
}

static void try_all(ladder *x, bool overlapping)
{
	const plan_search *how = x->how;
	if (how->room == 0) {
		try(x, usual_room, overlapping);
		return;
	}
	plan_program all = find(x, how->memory > 0 ? PLAN_MAX_BYTES : how->room,
				overlapping);
	bool beaten = is_beaten(x, &all);
	if (!beaten && !x->failed)
		try(x, usual_room, overlapping);
	take(x, &all);
	if (beaten || x->failed || is_enough(x, &all))
		return;
	plan_program least = try(x, least_room, overlapping);
	if (!x->failed && least.held > 0 && all.held > least.held)
		climb(x, least.held, all.held, overlapping);
}

bool program_best(driver *d, const graph *g, const assignment *as,
		  const plan_search *how, plan_programs *known,
		  const plan_program *beat, plan_program *best)
{
	ladder x = { .d = d, .g = g, .as = as, .how = how, .beat = beat,
		     .known = known };
	bool memory = how->objective == OBJECTIVE_MEMORY;
	void (*all)(ladder *x, bool overlapping) = memory ? try_for_memory
						      : try_all;
	all(&x, false);
	if (how->room > 0 && how->topology->overlap && !x.failed)
		all(&x, true);
	*best = x.best;
	return !x.failed;
}

#include "config.h"

#include "compiler/portfolio/programs.h"

#include <math.h>

/* The number of steps from the least memory of a program to the memory of one
 * that keeps all copies.  Each step multiplies the memory by the same
 * factor. */
enum {
	MEMORY_STEPS = 6,
	/* Fewer for machines that communicate while they compute: is_enough()
	 * saves nothing there if time is the objective. */
	MEMORY_STEPS_OVERLAP = 3,
};

/* Values of lower_options.memory: a tenth more than needed without copies, and
 * no more than needed. */
static const int64_t usual_room = 0, least_room = 1;

/* Times with a smaller relative difference count as equal. */
static const double same = 1e-9;

/* ---- figures ----------------------------------------------------------- */

static bool same_schedule(const lower_schedule *x, const lower_schedule *y)
{
	return x->order == y->order && x->overlapping == y->overlapping;
}

bool program_is_usual(const plan_program *p)
{
	const lower_schedule usual = { LOWER_BY_DEPTH, false };
	return p->room == usual_room && same_schedule(&p->schedule, &usual);
}

bool program_fits(const plan_program *p, int64_t limit)
{
	return p->held >= 0 && p->held <= PLAN_MAX_BYTES &&
	       (limit == 0 || p->held <= limit);
}

/* Returns a number less than, equal to or greater than 0. */
static int compare_values(double x, double y)
{
	return (x > y) - (x < y);
}

/* Rounds to about a multiple of `same', so that equality of times is
 * transitive.  Two times may still be on different sides of a rounding
 * boundary. */
static double rounded(double seconds)
{
	int exponent;
	double part = frexp(seconds, &exponent);
	return ldexp(round(2 * part / same), exponent);
}

int program_compare(const plan_program *x, const plan_program *y,
		    plan_objective by)
{
	int seconds = compare_values(rounded(x->seconds), rounded(y->seconds));
	int moved = compare_values((double)x->moved, (double)y->moved);
	int held = compare_values((double)x->held, (double)y->held);
	int first = by == OBJECTIVE_TIME  ? seconds :
		    by == OBJECTIVE_BYTES ? moved :
					    held;
	return first ? first : seconds ? seconds : held ? held : moved;
}

/* ---- the search -------------------------------------------------------- */

/* The search for the best program of one plan. */
typedef struct program_search {
	program_maker maker;
	const plan_request *how;
	/* NULL: any program; otherwise only better ones are wanted */
	const plan_program *beat;
	plan_program best;	  /* so far, if any was found */
	plan_programs *known;
	/* for program_best_again(); may be empty */
	const plan_programs *before;
	bool any, failed;
} program_search;

static bool is_better(const program_search *x, const plan_program *p)
{
	int64_t limit = x->how->memory;
	bool fits = program_fits(p, limit);
	if (!x->any || fits != program_fits(&x->best, limit))
		return !x->any || fits;
	return fits ? program_compare(p, &x->best, x->how->objective) < 0
		    : p->held < x->best.held;
}

/* The seconds that a program may take to be as good as those known, if some of
 * these are within the limit. */
static double best_seconds(const program_search *x)
{
	const plan_request *how = x->how;
	double best = x->beat ? x->beat->seconds : INFINITY;
	if (how->objective != OBJECTIVE_TIME ||
	    (how->memory == 0 && how->slow_too))
		return INFINITY;
	if (x->any && program_fits(&x->best, how->memory))
		best = fmin(best, x->best.seconds);
	return best;
}

/* Whether a program with this time is worse than what is known. */
static bool is_late(const program_search *x, double seconds)
{
	return seconds > best_seconds(x) * (1 + same);
}

static const program_bar no_bar = { INFINITY, INT64_MAX };

/* A bar that refuses programs that take too long. */
static program_bar late_bar(const program_search *x)
{
	return (program_bar){ best_seconds(x) * (1 + same), INT64_MAX };
}

/* A bar that refuses programs whose peak memory is at least that of the one to
 * beat. */
static program_bar large_bar(const program_search *x)
{
	return (program_bar){ INFINITY,
			      x->beat ? x->beat->held : INT64_MAX };
}

static bool is_known(const program_search *x, plan_program *p,
		     const program_bar *bar)
{
	bool memory = x->how->objective == OBJECTIVE_MEMORY;
	for (int i = 0; i < x->known->n; i++) {
		const plan_program *k = &x->known->at[i];
		int64_t room = p->room;
		bool equal = k->room == room ||
			     lower_is_same(&k->rooms, k->held, room);
		if (!equal || !same_schedule(&k->schedule, &p->schedule) ||
		    (memory && k->in_use < 0) ||
		    (k->held < 0 && !program_is_barred(k, bar)))
			continue;
		*p = *k;
		p->room = room;
		return true;
	}
	return false;
}

/* Adds a program to the known ones.  It replaces the same program without
 * places. */
static void remember(program_search *x, const plan_program *p)
{
	for (int i = 0; i < x->known->n; i++) {
		plan_program *k = &x->known->at[i];
		if (k->held < 0 && k->room == p->room &&
		    same_schedule(&k->schedule, &p->schedule)) {
			*k = *p;
			return;
		}
	}
	vec_push(x->how->arena, x->known, *p);
}

/* Sets *p to the same program made in an earlier call, if there is one. */
static bool was_made(program_search *x, plan_program *p,
		     const program_bar *bar)
{
	for (int i = 0; i < x->before->n; i++) {
		const plan_program *k = &x->before->at[i];
		if (k->room != p->room ||
		    !same_schedule(&k->schedule, &p->schedule) ||
		    !program_measured(k, bar, p))
			continue;
		program_counted(&x->maker, k);
		return true;
	}
	return false;
}

/* The same for a known program whose schedule gave the same order of nodes. */
static bool is_repeated(program_search *x, plan_program *p,
			const program_bar *bar)
{
	const lower_schedule by = p->schedule;
	for (int i = 0; i < x->known->n; i++) {
		const plan_program *k = &x->known->at[i];
		if (k->room != p->room ||
		    k->schedule.overlapping != by.overlapping ||
		    k->schedule.order == by.order ||
		    !program_same_order(&x->maker, k->schedule, by) ||
		    !program_measured(k, bar, p))
			continue;
		p->schedule = by;
		return true;
	}
	return false;
}

static void make(program_search *x, plan_program *p, const program_bar *bar)
{
	if (!was_made(x, p, bar) && !is_repeated(x, p, bar))
		x->failed = !program_measure(&x->maker, p, bar, NULL, NULL);
}

/* The known program with this room and schedule, or a new one.  One that the
 * bar refuses may have no places. */
static plan_program find(program_search *x, int64_t room, lower_schedule by,
			 program_bar bar)
{
	plan_program p = {
		.room = room, .schedule = by, .in_use = -1};
	if (is_known(x, &p, &bar))
		return p;
	if (!x->failed)
		make(x, &p, &bar);
	if (!x->failed)
		remember(x, &p);
	return p;
}

static void take(program_search *x, const plan_program *p)
{
	if (!x->failed && p->held >= 0 && is_better(x, p)) {
		x->best = *p;
		x->any = true;
	}
}

static plan_program try(program_search *x, int64_t room, lower_schedule by)
{
	plan_program p = find(x, room, by, no_bar);
	take(x, &p);
	return p;
}

/* Whether all programs of the plan are worse than the one to beat, by the lower
 * bounds that each of them has. */
static bool is_beaten(const program_search *x, plan_program any)
{
	if (x->failed || !x->beat || x->how->objective == OBJECTIVE_MEMORY)
		return false;
	return x->how->objective == OBJECTIVE_TIME
		       ? any.least > x->beat->seconds * (1 + same)
		       : any.least_moved > x->beat->moved;
}

/* A known program, or the usual one.  It is taken into account. */
static plan_program first_of(program_search *x)
{
	if (x->known->n > 0) {
		take(x, &x->known->at[0]);
		return x->known->at[0];
	}
	plan_program p = find(x, usual_room,
			      (lower_schedule){ LOWER_BY_DEPTH, false },
			      late_bar(x));
	take(x, &p);
	return p;
}

/* Whether no program with less room is needed, given the one that keeps all
 * copies.  That one moves the fewest bytes and, if instructions run one after
 * the other, takes the least time. */
static bool is_enough(const program_search *x, const plan_program *all)
{
	const plan_request *how = x->how;
	bool first = how->objective == OBJECTIVE_BYTES ||
		     !how->topology->overlap;
	if (how->memory == 0)
		return true;
	if (!first)
		return false;
	return program_fits(all, how->memory) ||
	       (x->beat && program_compare(all, x->beat, how->objective) >= 0);
}

/* Tries programs with room between the least and that for all copies, as far as
 * the memory limit allows. */
static void try_between(program_search *x, int64_t least, int64_t all,
			lower_schedule by)
{
	int n = x->how->topology->overlap ? MEMORY_STEPS_OVERLAP : MEMORY_STEPS;
	for (int i = 1; i < n && !x->failed; i++) {
		double times = pow((double)all / (double)least, i / (double)n);
		int64_t room = (int64_t)((double)least * times);
		if (x->how->memory > 0 && room > x->how->memory)
			return;
		try(x, room, by);
	}
}

/* Whether every program with this schedule has at least the peak memory of the
 * one to beat. */
static bool is_hopeless(program_search *x, lower_schedule by)
{
	plan_program least = find(x, least_room, by, large_bar(x));
	take(x, &least);
	return x->failed || (x->beat && least.in_use >= x->beat->held);
}

/* Tries the programs of one schedule for the least memory. */
static void try_for_memory(program_search *x, lower_schedule by)
{
	if (x->how->room > 0 && is_hopeless(x, by))
		return;
	try(x, usual_room, by);
	if (x->how->room == 0 || x->failed)
		return;
	plan_program least = try(x, least_room, by);
	/* The arena has no gaps, so no other program can be smaller. */
	if (x->failed || least.held <= least.in_use)
		return;
	plan_program all = try(x, PLAN_MAX_BYTES, by);
	if (!x->failed && least.held > 0 && all.held > least.held)
		try_between(x, least.held, all.held, by);
}

/* Tries the programs of one schedule for time or bytes. */
static void try_all(program_search *x, lower_schedule by)
{
	const plan_request *how = x->how;
	if (how->room == 0) {
		try(x, usual_room, by);
		return;
	}
	plan_program all = find(x, how->memory > 0 ? PLAN_MAX_BYTES : how->room,
				by, late_bar(x));
	if (x->failed || is_late(x, all.least_kept))
		return;
	take(x, &all);
	plan_program usual = find(x, usual_room, by, late_bar(x));
	take(x, &usual);
	if (x->failed || is_enough(x, &all) ||
	    all.least_kept > best_seconds(x) * (1 - same))
		return;
	plan_program least = try(x, least_room, by);
	if (!x->failed && least.held > 0 && all.held > least.held)
		try_between(x, least.held, all.held, by);
}

/* Tries the programs of all schedules.  Overlapping schedules are for machines
 * that communicate while they compute; on these one of the other schedules is
 * enough. */
static void try_schedules(program_search *x)
{
	void (*all)(program_search *x, lower_schedule by) =
		x->how->objective == OBJECTIVE_MEMORY ? try_for_memory
						      : try_all;
	bool overlap = x->how->topology->overlap;
	int norders = x->how->one_order ? 1 : LOWER_NORDERS;
	for (int i = 0; i < norders && !x->failed; i++) {
		lower_order order = (lower_order)i;
		if (!overlap || order == LOWER_BY_DEPTH)
			all(x, (lower_schedule){ order, false });
		if (overlap && !x->failed)
			all(x, (lower_schedule){ order, true });
	}
}

bool program_best(const plan_request *how, const assignment *as,
		  plan_programs *known, const plan_program *beat,
		  plan_program *best)
{
	static const plan_programs none = { 0 };
	return program_best_again(how, as, known, &none, beat, best);
}

bool program_best_again(const plan_request *how, const assignment *as,
			plan_programs *known, const plan_programs *before,
			const plan_program *beat, plan_program *best)
{
	const lower_schedule usual = { LOWER_BY_DEPTH, false };
	plan_programs own = { 0 };
	program_search x = { .maker = { .how = how, .as = as }, .how = how,
		     .beat = beat, .known = known ? known : &own,
		     .before = before,
		     .best = { .seconds = INFINITY, .moved = INT64_MAX,
			       .held = INT64_MAX } };
	bool memory = how->objective == OBJECTIVE_MEMORY;
	if (how->room == 0)
		memory ? try_for_memory(&x, usual) : try_all(&x, usual);
	else if (memory || !is_beaten(&x, first_of(&x)))
		try_schedules(&x);
	program_maker_free(&x.maker);
	*best = x.best;
	return !x.failed;
}

#include "config.h"

#include "compiler/driver/plan_auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compiler/driver/plan_bounded.h"
#include "compiler/driver/plan_memory.h"
#include "compiler/driver/plan_sweep.h"

/* ---- what is found ----------------------------------------------------- */

static bool add(driver *d, const graph *g, const plan_search *how,
		const char *algorithm, plan_reports *all)
{
	plan_search one = *how;
	one.algorithm = algorithm;
	return plan_add(d, g, &one, all);
}

static bool found_by(const plan_reports *all, const char *algorithm)
{
	for (int i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].search->algorithm, algorithm))
			return true;
	return false;
}

bool plan_gather(driver *d, const graph *g, const plan_search *how, bool wide,
		 plan_reports *all)
{
	const char *name;
	for (int i = 0; (name = search_algorithm(i, NULL)); i++) {
		bool priced = search_is_priced(i);
		if (search_on_request(i) || (!priced && found_by(all, name)))
			continue;
		if (priced ? !plan_sweep(d, g, how, name, wide, all) :
			     !add(d, g, how, name, all))
			return false;
	}
	return true;
}

/* ---- the best ---------------------------------------------------------- */

/* Less than, equal to or greater than 0. */
static int compare_values(double x, double y)
{
	return (x > y) - (x < y);
}

static int compare_reports(const plan_report *x, const plan_report *y,
			   plan_objective by)
{
	int seconds = compare_values(x->seconds, y->seconds);
	int bytes = compare_values((double)x->plan->communication_bytes,
				   (double)y->plan->communication_bytes);
	int memory = compare_values((double)x->plan->arena_bytes,
				    (double)y->plan->arena_bytes);
	int first = by == OBJECTIVE_TIME  ? seconds :
		    by == OBJECTIVE_BYTES ? bytes :
					    memory;
	return first ? first : seconds ? seconds : bytes ? bytes : memory;
}

const plan_report *plan_best(const plan_reports *all, const plan_search *how)
{
	const plan_report *best = NULL, *least = NULL;
	for (int i = 0; i < all->n; i++) {
		const plan_report *r = &all->at[i];
		if (!r->plan)
			continue;
		if (!least || compare_reports(r, least, OBJECTIVE_MEMORY) < 0)
			least = r;
		if (!plan_passes(r, how->memory) &&
		    (!best || compare_reports(r, best, how->objective) < 0))
			best = r;
	}
	return best ? best : least;
}

plan_reports plan_frontier(arena *a, const plan_reports *all, int64_t limit)
{
	plan_reports f = { 0 };
	int64_t held = limit > 0 ? limit + 1 : INT64_MAX;
	for (;;) {
		const plan_report *next = NULL;
		for (int i = 0; i < all->n; i++) {
			const plan_report *r = &all->at[i];
			if (r->plan && r->plan->arena_bytes < held &&
			    (!next ||
			     compare_reports(r, next, OBJECTIVE_TIME) < 0))
				next = r;
		}
		if (!next)
			return f;
		held = next->plan->arena_bytes;
		vec_push(a, &f, *next);
	}
}

/* Bytes that copies may take: up to the limit, or all that there are where only
 * time counts. */
static int64_t room_for(const plan_search *how)
{
	if (how->memory > 0 || how->objective != OBJECTIVE_TIME)
		return how->memory;
	return how->topology->memory > 0 ? how->topology->memory
					 : PLAN_MAX_BYTES;
}

/* The best's search as it is reported: by this name, with all that it took. */
static search_result *credited(arena *a, const plan_reports *all,
			       const plan_report *best, const plan_proof *proof)
{
	search_result *s = arena_memdup(a, best->search, sizeof(*s));
	const char *note = best->search->note;
	s->algorithm = PLAN_AUTO;
	s->note = arena_printf(a, "the best of %d plans, found by '%s'%s%s%s",
			       all->n + proof->nplans, best->search->algorithm,
			       proof->proven ? "; no plan is better" : "",
			       note ? "; " : "", note ? note : "");
	s->proves = SEARCH_PROVES_NOTHING;
	for (int i = 0; i < MAX_AXES; i++) {
		s->optimal_by_step[i] = false;
		s->least_by_step[i] = -1;
	}
	s->seconds = proof->seconds;
	for (int i = 0; i < all->n; i++)
		s->seconds += all->at[i].search->seconds;
	return s;
}

/* The best of some reports, or of all plans there are where those are few. */
static bool find_best(driver *d, const graph *g, const plan_search *how,
		      plan_reports *all, plan_report *best, plan_proof *proof)
{
	const plan_report *found = plan_best(all, how);
	*best = found ? *found : all->at[0];
	*proof = (plan_proof){ 0 };
	if (!found || how->objective == OBJECTIVE_BYTES)
		return true;
	if (!plan_bounded(d, g, how, best, proof))
		return false;
	if (!plan_passes(best, how->memory) ||
	    how->objective == OBJECTIVE_MEMORY)
		return true;
	plan_search least = *how;
	least.objective = OBJECTIVE_MEMORY;
	return plan_bounded(d, g, &least, best, proof);
}

bool plan_auto(driver *d, const graph *g, const plan_search *how,
	       const lower_options *lower, const plan_reports *made,
	       plan_report *r)
{
	static const char *const objectives[] = { "time", "bytes", "memory" };
	plan_reports all = { 0 };
	plan_proof proof;
	bool memory = how->objective == OBJECTIVE_MEMORY;
	plan_search roomy = *how;
	lower_options last = *lower;
	last.memory = roomy.room = room_for(how);
	for (int i = 0; made && i < made->n; i++) {
		if (!plan_make_of(d, g, &roomy, made->at[i].search, r))
			return false;
		vec_push(d->arena, &all, *r);
	}
	if (!plan_gather(d, g, &roomy, memory, &all) ||
	    !find_best(d, g, &roomy, &all, r, &proof))
		return false;
	if (!r->plan)
		return true;
	r->search = credited(d->arena, &all, r, &proof);
	r->objective = objectives[how->objective];
	r->proven = proof.proven;
	r->plan = plan_lower(d, g, &r->search->assignment, &last,
			     how->topology);
	return r->plan != NULL;
}

/* ---- the frontier ------------------------------------------------------ */

static json_t *frontier_json(const graph *g, const plan_reports *f, int k,
			     bool proven)
{
	json_t *list = json_array();
	for (int i = 0; i < f->n; i++) {
		const plan_report *r = &f->at[i];
		json_array_append_new(list, json_pack(
			"{s:s, s:f, s:I, s:I}", "algorithm",
			r->search->algorithm, "predicted_seconds", r->seconds,
			"peak_bytes_per_device",
			(json_int_t)r->plan->arena_bytes,
			"communication_bytes",
			(json_int_t)r->plan->communication_bytes));
	}
	return json_pack("{s:s, s:i, s:b, s:o}", "model", g->name, "devices", k,
			 "proven", proven, "frontier", list);
}

/* Of a small graph the best plan of all, then the best of those with less
 * memory than that, and so on.  *proven: that is all there is. */
static bool add_proven(driver *d, const graph *g, const plan_search *how,
		       plan_reports *all, bool *proven)
{
	enum { MOST_POINTS = 32, MOST_PLANS = 2048 };
	int nplans = 0;
	plan_search one = *how;
	one.objective = OBJECTIVE_TIME;
	one.room = room_for(&one);
	for (int i = 0; i < MOST_POINTS && nplans < MOST_PLANS; i++) {
		const plan_report *known = plan_best(all, &one);
		plan_proof proof;
		if (!known)
			return true;
		plan_report r = *known;
		if (!plan_bounded(d, g, &one, &r, &proof))
			return false;
		if (!proof.proven)
			return true;
		nplans += proof.nplans;
		*proven = plan_passes(&r, one.memory);
		if (*proven)
			return true;
		vec_push(d->arena, all, r);
		one.memory = one.room = r.plan->arena_bytes - 1;
		if (one.memory <= 0)
			return true;
	}
	return true;
}

/* Whether a report before has the same plan. */
static bool is_repeated(const plan_reports *all, int i)
{
	for (int j = 0; j < i; j++)
		if (all->at[j].plan == all->at[i].plan)
			return true;
	return false;
}

/* The same plans with programs that take the room there is. */
static bool add_roomy(driver *d, const graph *g, const plan_search *how,
		      plan_reports *all)
{
	plan_search roomy = *how;
	plan_report r;
	int n = all->n;
	roomy.room = room_for(how);
	for (int i = 0; i < n; i++) {
		if (!all->at[i].plan || is_repeated(all, i))
			continue;
		if (!plan_make_of(d, g, &roomy, all->at[i].search, &r))
			return false;
		vec_push(d->arena, all, r);
	}
	return true;
}

cli_status plan_print_frontier(driver *d, const graph *g,
			       const plan_search *how, bool json)
{
	plan_reports all = { 0 };
	bool proven = false;
	if (!plan_gather(d, g, how, true, &all) ||
	    !add_roomy(d, g, how, &all) ||
	    !add_proven(d, g, how, &all, &proven))
		return CLI_OK;
	plan_reports f = plan_frontier(d->arena, &all, how->memory);
	const plan_report *least = plan_best(&all, how);
	if (least && !plan_fits(d, least->plan, how->memory)) {
		plan_say_enough(d, g, how, least);
		return CLI_NO_PLAN;
	}
	if (json)
		return driver_print_json(d, frontier_json(g, &f, how->k,
							  proven));
	printf("%s on %d device%s, for '%s': %d of %d plans%s\n\n", g->name,
	       how->k, how->k == 1 ? "" : "s", how->topology->name, f.n, all.n,
	       proven ? ", and no others are better" : "");
	printf(" predicted      memory       moved  planner\n");
	for (int i = 0; i < f.n; i++) {
		const plan_report *r = &f.at[i];
		printf("%8.3g s  %10s  %10s  %s\n", r->seconds,
		       plan_bytes_text(d->arena, r->plan->arena_bytes),
		       plan_bytes_text(d->arena, r->plan->communication_bytes),
		       r->search->algorithm);
	}
	return CLI_OK;
}

/* ---- no room ----------------------------------------------------------- */

/* Whether there is room on k devices; for auto, whether the recursive search
 * finds it, or on a small graph any plan. */
static bool fits_on(driver *d, const graph *g, const plan_search *how, int k)
{
	enum { MOST_PLANS = 64 };
	bool best = !strcmp(how->algorithm, PLAN_AUTO);
	plan_search more = *how;
	plan_reports one = { 0 };
	plan_proof proof;
	mesh m;
	more.k = k;
	more.most_plans = MOST_PLANS;
	more.room = how->memory;
	more.algorithm = best ? "tofu" : how->algorithm;
	more.objective = OBJECTIVE_MEMORY;
	if (!topology_mesh(how->topology, k, &m) ||
	    !plan_is_countable(d, g, k) || !plan_add(d, g, &more, &one))
		return false;
	plan_report *r = &one.at[0];
	if (best && r->plan && plan_passes(r, how->memory) &&
	    !plan_bounded(d, g, &more, r, &proof))
		return false;
	return r->plan && !plan_passes(r, how->memory);
}

/* A number of devices above k that does, the least of those that are tried: up
 * to twice as many, then those that double; 0 if there is none. */
static int enough_devices(driver *d, const graph *g, const plan_search *how)
{
	enum { MOST_TRIED = 16, MOST_DEVICES = 1024 };
	int first = how->k, stride = (first + MOST_TRIED - 1) / MOST_TRIED;
	for (int k = first + stride; k < 2 * first; k += stride)
		if (fits_on(d, g, how, k))
			return k;
	for (int k = 2 * first; k <= MOST_DEVICES; k *= 2)
		if (fits_on(d, g, how, k))
			return k;
	return 0;
}

void plan_say_enough(driver *d, const graph *g, const plan_search *how,
		     const plan_report *r)
{
	int k = enough_devices(d, g, how);
	fputs("enough would be ", stderr);
	if (k)
		fprintf(stderr, "%d devices, or ", k);
	fprintf(stderr, "--memory %" PRId64 "\n", r->plan->arena_bytes);
}

#include "config.h"

#include "compiler/portfolio/auto.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "compiler/portfolio/complete_search.h"
#include "compiler/driver/plan_memory.h"
#include "compiler/portfolio/programs.h"
#include "compiler/portfolio/price_sweep.h"

/* Of nodes, of a graph that is planned with prices where nobody speaks of
 * memory. */
enum { SMALL_GRAPH = 512 };

/* ---- what is found ----------------------------------------------------- */

static bool add(driver *d, const graph *g, const plan_search *how,
		const char *algorithm, plan_candidates *all)
{
	plan_search one = *how;
	search_request q;
	one.algorithm = algorithm;
	if (!plan_request(d, g, &one, &q))
		return false;
	const search_result *s = search_plan_for(d->arena, g, &q);
	if (!s->error)
		vec_push(d->arena, all, (plan_candidate){ .search = s });
	return true;
}

static bool found_by(const plan_candidates *all, const char *algorithm)
{
	for (int i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].search->algorithm, algorithm))
			return true;
	return false;
}

bool plan_gather(driver *d, const graph *g, const plan_search *how, bool sweep,
		 plan_candidates *all)
{
	const char *name;
	for (int i = 0; (name = search_algorithm(i, NULL)); i++) {
		bool priced = search_is_priced(i) && sweep;
		if (search_on_request(i) || (!priced && found_by(all, name)))
			continue;
		if (priced ? !plan_sweep(d, g, how, name, all) :
			     !add(d, g, how, name, all))
			return false;
	}
	return true;
}

/* ---- the best ---------------------------------------------------------- */

static bool is_better(const plan_search *how, const plan_program *p,
		      const plan_program *q)
{
	bool fits = program_fits(p, how->memory);
	if (fits != program_fits(q, how->memory))
		return fits;
	return program_compare(p, q, fits ? how->objective
					  : OBJECTIVE_MEMORY) < 0;
}

/* Whether *best is within the limit, when p has been looked at, too. */
static bool take_better(const plan_search *how, const plan_program *p,
			bool known, plan_program *best)
{
	if (!program_fits(p, how->memory))
		return known;
	if (!known || program_compare(p, best, how->objective) < 0)
		*best = *p;
	return true;
}

/* The best program that is known before any is made, of those that keep a tenth
 * more, which all ladders for time and bytes have.  False where none is within
 * the limit. */
static bool best_known(const plan_search *how, const plan_candidates *all,
		       plan_program *best)
{
	bool known = false;
	if (how->objective == OBJECTIVE_MEMORY)
		return false;
	for (int i = 0; i < all->n; i++)
		for (int j = 0; j < all->at[i].programs.n; j++) {
			const plan_program *p = &all->at[i].programs.at[j];
			if (program_is_usual(p))
				known = take_better(how, p, known, best);
		}
	return known;
}

bool plan_best(driver *d, const graph *g, const plan_search *how,
	       plan_candidates *all, plan_candidate **best)
{
	plan_program beat;
	bool known = best_known(how, all, &beat);
	*best = NULL;
	for (int i = 0; i < all->n; i++) {
		plan_candidate *c = &all->at[i];
		if (!program_best(d, g, &c->search->assignment, how,
				  &c->programs, known ? &beat : NULL,
				  &c->program))
			return false;
		if (!*best || is_better(how, &c->program, &(*best)->program))
			*best = c;
		known = take_better(how, &c->program, known, &beat);
	}
	return true;
}

plan_search plan_roomy(const plan_search *how)
{
	plan_search roomy = *how;
	bool time = how->objective == OBJECTIVE_TIME;
	roomy.room = time && how->topology->memory > 0 ? how->topology->memory
						       : PLAN_MAX_BYTES;
	return roomy;
}

/* The best's search as it is reported: by this name, with all that it took. */
static search_result *credited(arena *a, const plan_candidates *all,
			       const plan_candidate *best,
			       const plan_proof *proof)
{
	search_result *s = arena_memdup(a, best->search, sizeof(*s));
	const char *note = best->search->note;
	s->algorithm = PLAN_AUTO;
	s->note = arena_printf(a, "the best of %d plans, found by '%s'%s%s%s",
			       all->n + proof->nplans, best->search->algorithm,
			       proof->proven ? "; as the model is written no "
					       "plan is better" : "",
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

/* The plan of least memory, of some plans or of all that there are. */
static bool find_least(driver *d, const graph *g, const plan_search *how,
		       plan_candidates *all, plan_candidate *best,
		       plan_proof *proof)
{
	plan_candidate *found;
	plan_search least = *how;
	least.objective = OBJECTIVE_MEMORY;
	least.memory = 0;
	if (!plan_best(d, g, &least, all, &found))
		return false;
	*best = *found;
	return plan_bounded(d, g, &least, true, best, proof);
}

/* The best of some plans, or of all that there are where those are few. */
static bool find_best(driver *d, const graph *g, const plan_search *how,
		      plan_candidates *all, plan_candidate *best,
		      plan_proof *proof)
{
	plan_candidate *found;
	if (how->objective == OBJECTIVE_MEMORY)
		return find_least(d, g, how, all, best, proof);
	if ((how->objective == OBJECTIVE_TIME &&
	     !plan_descend(d, g, how, all, proof)) ||
	    !plan_best(d, g, how, all, &found))
		return false;
	*best = *found;
	if (program_fits(&best->program, how->memory))
		return true;
	return find_least(d, g, how, all, best, proof);
}

bool plan_auto(driver *d, const graph *g, const plan_search *how,
	       const lower_options *lower, const search_result *const *made,
	       int nmade, plan_report *r)
{
	static const char *const objectives[] = { "time", "bytes", "memory" };
	const plan_search roomy = plan_roomy(how);
	plan_candidates all = { 0 };
	plan_candidate best;
	plan_proof proof = { 0 };
	bool sweep = how->memory > 0 || how->objective == OBJECTIVE_MEMORY ||
		     g->nnodes <= SMALL_GRAPH;
	for (int i = 0; i < nmade; i++)
		if (!made[i]->error)
			vec_push(d->arena, &all,
				 (plan_candidate){ .search = made[i] });
	if (!plan_gather(d, g, &roomy, sweep, &all) ||
	    !find_best(d, g, &roomy, &all, &best, &proof) ||
	    !plan_make_of(d, g, how, credited(d->arena, &all, &best, &proof),
			  lower, &best.program, r))
		return false;
	r->objective = objectives[how->objective];
	r->proven = proof.proven;
	return true;
}

/* ---- no room ----------------------------------------------------------- */

/* Whether there is room on k devices; for auto, whether the recursive search
 * finds it, or on a small graph any plan. */
static bool fits_on(driver *d, const graph *g, const plan_search *how, int k)
{
	enum { MOST_PLANS = 64 };
	bool best = !strcmp(how->algorithm, PLAN_AUTO);
	plan_search more = plan_roomy(how);
	plan_candidates one = { 0 };
	plan_candidate *c;
	plan_proof proof = { 0 };
	mesh m;
	more.k = k;
	more.most_plans = MOST_PLANS;
	if (!topology_mesh(how->topology, k, &m) ||
	    !plan_is_countable(d, g, k) ||
	    !add(d, g, &more, best ? "tofu" : how->algorithm, &one) ||
	    one.n == 0 || !plan_best(d, g, &more, &one, &c))
		return false;
	more.objective = OBJECTIVE_MEMORY;
	if (best && !program_fits(&c->program, how->memory) &&
	    !plan_bounded(d, g, &more, false, c, &proof))
		return false;
	return program_fits(&c->program, how->memory);
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
		     int64_t nbytes)
{
	int k = enough_devices(d, g, how);
	fputs("enough would be ", stderr);
	if (k)
		fprintf(stderr, "%d devices, or ", k);
	fprintf(stderr, "--memory %" PRId64 "\n", nbytes);
}

#include "config.h"

#include "compiler/portfolio/candidates.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/jobs.h"
#include "compiler/planners/levels.h"
#include "compiler/portfolio/one_planner.h"
#include "compiler/portfolio/price_sweep.h"

/* ---- plans ------------------------------------------------------------- */

static bool same_cuts(const cuts *x, const cuts *y, int n)
{
	return !memcmp(x, y, sizeof(*x) * (size_t)n);
}

bool plan_is_same(const graph *g, const assignment *x, const assignment *y)
{
	return same_cuts(x->tensor_cuts, y->tensor_cuts, g->ntensors) &&
	       same_cuts(x->node_cuts, y->node_cuts, g->nnodes);
}

/* Whether a search found what another one did. */
static bool is_known(const graph *g, const plan_candidates *all,
		     const search_result *s)
{
	for (int i = 0; i < all->n; i++)
		if (plan_is_same(g, &all->at[i].search->assignment,
				 &s->assignment))
			return true;
	return false;
}

static bool is_plain(const search_variant *v)
{
	return !v->sequence_parallel && !v->at_once;
}

void plan_add_found(arena *a, const search_result *s, plan_candidates *all)
{
	for (; s; s = s->whole)
		vec_push(a, all, (plan_candidate){ .search = s });
}

bool plan_add(const plan_request *how, const char *algorithm,
	      plan_candidates *all)
{
	plan_request one = *how;
	search_request q;
	one.algorithm = algorithm;
	if (!plan_search_request(&one, &q))
		return false;
	plan_observe(how, PHASE_SEARCH, algorithm, all->n, 0);
	const search_result *s = search_plan_for(how->arena, how->graph, &q);
	if (!s->error &&
	    (is_plain(&q.variant) || !is_known(how->graph, all, s)))
		plan_add_found(how->arena, s, all);
	return true;
}

static bool found_by(const plan_candidates *all, const char *algorithm,
		     const search_variant *v)
{
	for (int i = 0; i < all->n; i++) {
		const search_result *s = all->at[i].search;
		if (!strcmp(s->algorithm, algorithm) &&
		    s->variant.sequence_parallel == v->sequence_parallel &&
		    s->variant.at_once == v->at_once)
			return true;
	}
	return false;
}

/* Adds the plans of all variants of the i-th planner that are not there; of the
 * plain one for many prices if it takes prices. */
static bool add_variants(const plan_request *how, int i, plan_candidates *all)
{
	plan_request one = *how;
	const char *name = search_algorithm(i, NULL);
	for (int j = 0; search_variant_of(i, j, &one.variant); j++) {
		bool priced = j == 0 && search_is_priced(i);
		if (!priced && found_by(all, name, &one.variant))
			continue;
		if (priced ? !plan_sweep(&one, name, all)
			   : !plan_add(&one, name, all))
			return false;
	}
	return true;
}

/* The same; variants have their tables in common. */
static bool add_planner(const plan_request *how, int i, plan_candidates *all)
{
	plan_request one = *how;
	search_request q;
	bool tabled = planner_at(i)->tabled;
	if (tabled && !plan_search_request(how, &q))
		return false;
	arena *tmp = arena_new();
	one.tables = tabled ? level_tables_new(tmp, &q) : NULL;
	bool ok = add_variants(&one, i, all);
	arena_free(tmp);
	return ok;
}

/* ---- planners at the same time ------------------------------------------ */

/* The searches of one planner, its variants. */
typedef struct planner_job {
	arena *arena; /* of the results */
	const planner *planner;
	VEC(search_request) requests;
	VEC(const search_result *) found;
} planner_job;

typedef struct gathering {
	const plan_request *how;
	planner_job *jobs;
	atomic_int nfound;
} gathering;

static void tell_of(void *arg, int i)
{
	gathering *x = arg;
	plan_observe(x->how, PHASE_SEARCH, x->jobs[i].planner->name,
		     atomic_load(&x->nfound), 0);
}

/* All but the graph and the machine, which nobody changes, is the planner's
 * own. */
static void run_planner(void *arg, int i)
{
	gathering *x = arg;
	planner_job *j = &x->jobs[i];
	arena *tmp = arena_new();
	struct level_tables *tables = NULL;
	j->arena = arena_new();
	if (j->planner->tabled)
		tables = level_tables_new(tmp, &j->requests.at[0]);
	for (int k = 0; k < j->requests.n; k++) {
		search_request *q = &j->requests.at[k];
		q->tables = tables;
		vec_push(j->arena, &j->found,
			 search_plan_for(j->arena, x->how->graph, q));
		atomic_fetch_add(&x->nfound, 1);
	}
	arena_free(tmp);
}

/* Adds the requests to a planner, of the variants whose plans are not there.
 * False when errors were added. */
static bool prepare(const plan_request *how, arena *a, int i,
		    const plan_candidates *all, planner_job *j)
{
	plan_request one = *how;
	search_request q;
	one.algorithm = search_algorithm(i, NULL);
	j->planner = planner_at(i);
	for (int k = 0; search_variant_of(i, k, &one.variant); k++) {
		if (found_by(all, one.algorithm, &one.variant))
			continue;
		if (!plan_search_request(&one, &q))
			return false;
		vec_push(a, &j->requests, q);
	}
	return true;
}

/* Adds what a planner has found, as plan_add() does. */
static void take_found(const plan_request *how, planner_job *j,
		       plan_candidates *all)
{
	for (int k = 0; k < j->found.n; k++) {
		const search_result *s = j->found.at[k];
		if (!s->error && (is_plain(&j->requests.at[k].variant) ||
				  !is_known(how->graph, all, s)))
			plan_add_found(how->arena, s, all);
	}
	arena_join(how->arena, j->arena);
}

/* One plan of each variant of all planners, by as many threads as there are. */
static bool gather_at_once(const plan_request *how, plan_candidates *all)
{
	arena *tmp = arena_new();
	int n = 0, nplanners = 0;
	while (search_algorithm(nplanners, NULL))
		nplanners++;
	gathering x = { .how = how,
			.jobs = ARENA_ARRAY(tmp, planner_job, nplanners) };
	bool ok = true;
	for (int i = 0; i < nplanners && ok; i++)
		if (!search_on_request(i)) {
			ok = prepare(how, tmp, i, all, &x.jobs[n]);
			n += x.jobs[n].requests.n > 0;
		}
	const job_set j = { n, run_planner, tell_of, &x };
	if (ok)
		jobs_run(&j, how->threads);
	for (int i = 0; i < n && ok; i++)
		take_found(how, &x.jobs[i], all);
	arena_free(tmp);
	return ok;
}

bool plan_gather(const plan_request *how, bool sweep, plan_candidates *all)
{
	if (!sweep)
		return gather_at_once(how, all);
	for (int i = 0; search_algorithm(i, NULL); i++)
		if (!search_on_request(i) && !add_planner(how, i, all))
			return false;
	return true;
}

/* ---- the best ---------------------------------------------------------- */

static bool is_better(const plan_request *how, const plan_program *p,
		      const plan_program *q)
{
	bool fits = program_fits(p, how->memory);
	if (fits != program_fits(q, how->memory))
		return fits;
	return program_compare(p, q, fits ? how->objective
					  : OBJECTIVE_MEMORY) < 0;
}

/* Makes p the best if it is better, and within the limit.  Returns whether
 * there is a best one then; `known`: whether there was. */
static bool take_better(const plan_request *how, const plan_program *p,
			bool known, plan_program *best)
{
	if (!program_fits(p, how->memory))
		return known;
	if (!known || program_compare(p, best, how->objective) < 0)
		*best = *p;
	return true;
}

/* The best of the programs that exist already, among the usual ones, which
 * program_best() makes of every plan.  False if none is within the limit. */
static bool best_known(const plan_request *how, const plan_candidates *all,
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

static int by_bytes(const void *x, const void *y)
{
	const plan_candidate *a = *(plan_candidate *const *)x;
	const plan_candidate *b = *(plan_candidate *const *)y;
	if (a->search->total != b->search->total)
		return a->search->total < b->search->total ? -1 : 1;
	return (a > b) - (a < b);
}

/* The candidates, those that move the least bytes first: the sooner a good
 * program is known, the fewer are made of others. */
static plan_candidate **in_order(arena *a, plan_candidates *all)
{
	plan_candidate **c = ARENA_ARRAY(a, plan_candidate *, all->n);
	for (int i = 0; i < all->n; i++)
		c[i] = &all->at[i];
	qsort(c, (size_t)all->n, sizeof(plan_candidate *), by_bytes);
	return c;
}

static bool measure(const plan_request *how, plan_candidate *const *c, int n,
		    const plan_candidates *all)
{
	plan_program beat;
	bool known = best_known(how, all, &beat);
	for (int i = 0; i < n; i++) {
		plan_observe(how, PHASE_COMPARE, c[i]->search->algorithm, i, n);
		if (!program_best(how, &c[i]->search->assignment,
				  &c[i]->programs, known ? &beat : NULL,
				  &c[i]->program))
			return false;
		known = take_better(how, &c[i]->program, known, &beat);
	}
	return true;
}

bool plan_best(const plan_request *how, plan_candidates *all,
	       plan_candidate **best)
{
	arena *tmp = arena_new();
	bool ok = measure(how, in_order(tmp, all), all->n, all);
	*best = NULL;
	for (int i = 0; i < all->n && ok; i++) {
		plan_candidate *c = &all->at[i];
		if (!*best || is_better(how, &c->program, &(*best)->program))
			*best = c;
	}
	arena_free(tmp);
	return ok;
}

plan_request plan_roomy(const plan_request *how)
{
	plan_request roomy = *how;
	bool time = how->objective == OBJECTIVE_TIME;
	roomy.room = time && how->topology->memory > 0 ? how->topology->memory
						       : PLAN_MAX_BYTES;
	return roomy;
}

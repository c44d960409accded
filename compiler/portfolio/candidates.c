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

/* Whether a search found the same as another one. */
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

/* ---- planners at the same time ------------------------------------------ */

/* The searches of one planner and its variants. */
typedef struct planner_job {
	arena *arena; /* for the results */
	const planner *planner;
	VEC(search_request) requests;
	VEC(const search_result *) found;
	bool sweeps; /* the first of them is for many prices: */
	plan_candidates swept;
	bool failed; /* failed with errors that were not reported */
} planner_job;

typedef struct gathering {
	const plan_request *how;
	planner_job **jobs; /* in the order in which they begin */
	atomic_int nfound;
} gathering;

static void tell_of(void *arg, int i)
{
	gathering *x = arg;
	plan_observe(x->how, PHASE_SEARCH, x->jobs[i]->planner->name,
		     atomic_load(&x->nfound), 0);
}

/* Makes the planner's plans for many prices. */
static bool sweep_alone(const plan_request *how, struct level_tables *tables,
			planner_job *j)
{
	plan_request own = *how;
	own.arena = j->arena;
	own.sink = diag_sink_beside(j->arena, how->sink);
	own.observer = NULL;
	own.threads = 1;
	own.tables = tables;
	own.variant = j->requests.at[0].variant;
	return plan_sweep(&own, j->planner->name, &j->swept);
}

/* Runs a planner's searches.  It uses only its own data, apart from the graph
 * and the machine, which nobody changes. */
static void run_planner(void *arg, int i)
{
	gathering *x = arg;
	planner_job *j = x->jobs[i];
	arena *tmp = arena_new();
	struct level_tables *tables = NULL;
	j->arena = arena_new();
	if (j->planner->tabled)
		tables = level_tables_new(tmp, &j->requests.at[0]);
	if (j->sweeps)
		j->failed = !sweep_alone(x->how, tables, j);
	for (int k = j->sweeps; k < j->requests.n && !j->failed; k++) {
		search_request *q = &j->requests.at[k];
		q->tables = tables;
		vec_push(j->arena, &j->found,
			 search_plan_for(j->arena, x->how->graph, q));
		atomic_fetch_add(&x->nfound, 1);
	}
	arena_free(tmp);
}

/* Prepares the requests to a planner for the variants whose plans are missing,
 * or are for many prices.  Returns false when errors were added. */
static bool prepare(const plan_request *how, arena *a, int i, bool sweep,
		    const plan_candidates *all, planner_job *j)
{
	plan_request one = *how;
	search_request q;
	one.algorithm = search_algorithm(i, NULL);
	j->planner = planner_at(i);
	j->sweeps = sweep && search_is_priced(i);
	for (int k = 0; search_variant_of(i, k, &one.variant); k++) {
		bool priced = k == 0 && j->sweeps;
		if (!priced && found_by(all, one.algorithm, &one.variant))
			continue;
		if (!plan_search_request(&one, &q))
			return false;
		vec_push(a, &j->requests, q);
	}
	return true;
}

/* Adds what a planner has found, like plan_add(). */
static void take_found(const plan_request *how, planner_job *j,
		       plan_candidates *all)
{
	for (int i = 0; i < j->swept.n; i++)
		vec_push(how->arena, all, j->swept.at[i]);
	for (int i = 0; i < j->found.n; i++) {
		const search_result *s = j->found.at[i];
		const search_variant *v =
			&j->requests.at[i + j->sweeps].variant;
		if (!s->error &&
		    (is_plain(v) || !is_known(how->graph, all, s)))
			plan_add_found(how->arena, s, all);
	}
	arena_join(how->arena, j->arena);
}

/* Repeats a failed sweep to report its errors. */
static bool add_errors(const plan_request *how, planner_job *j)
{
	plan_candidates none = { 0 };
	return !j->failed || plan_sweep(how, j->planner->name, &none);
}

static int by_effort(const void *x, const void *y)
{
	const planner_job *a = *(planner_job *const *)x;
	const planner_job *b = *(planner_job *const *)y;
	if (a->sweeps != b->sweeps)
		return a->sweeps ? -1 : 1;
	if (a->planner->effort != b->planner->effort)
		return a->planner->effort > b->planner->effort ? -1 : 1;
	return (a > b) - (a < b);
}

/* The jobs with the longest first, so that the last to end has begun early. */
static planner_job **longest_first(arena *a, planner_job *jobs, int n)
{
	planner_job **by = ARENA_ARRAY(a, planner_job *, n);
	for (int i = 0; i < n; i++)
		by[i] = &jobs[i];
	qsort(by, (size_t)n, sizeof(planner_job *), by_effort);
	return by;
}

bool plan_gather(const plan_request *how, bool sweep, plan_candidates *all)
{
	arena *tmp = arena_new();
	int n = 0, nplanners = 0;
	while (search_algorithm(nplanners, NULL))
		nplanners++;
	planner_job *jobs = ARENA_ARRAY(tmp, planner_job, nplanners);
	bool ok = true;
	for (int i = 0; i < nplanners && ok; i++)
		if (!search_on_request(i)) {
			ok = prepare(how, tmp, i, sweep, all, &jobs[n]);
			n += jobs[n].requests.n > 0;
		}
	gathering x = { .how = how, .jobs = longest_first(tmp, jobs, n) };
	const job_set j = { n, run_planner, tell_of, &x };
	if (ok)
		jobs_run(&j, how->threads);
	for (int i = 0; i < n && ok; i++) {
		take_found(how, &jobs[i], all);
		ok = add_errors(how, &jobs[i]);
	}
	arena_free(tmp);
	return ok;
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

/* The best known program, if there is one. */
typedef struct champion {
	bool known;
	plan_program program;
} champion;

/* Makes p the best if it is better and within the limit.  Returns whether it
 * did. */
static bool take_better(const plan_request *how, const plan_program *p,
			champion *best)
{
	if (!program_fits(p, how->memory) ||
	    (best->known &&
	     program_compare(p, &best->program, how->objective) >= 0))
		return false;
	*best = (champion){ true, *p };
	return true;
}

static const plan_program *to_beat(const champion *best)
{
	return best->known ? &best->program : NULL;
}

/* The best of the existing programs, among the usual ones that program_best()
 * makes of every plan. */
static champion best_known(const plan_request *how, const plan_candidates *all)
{
	champion best = { 0 };
	if (how->objective == OBJECTIVE_MEMORY)
		return best;
	for (int i = 0; i < all->n; i++)
		for (int j = 0; j < all->at[i].programs.n; j++) {
			const plan_program *p = &all->at[i].programs.at[j];
			if (program_is_usual(p))
				take_better(how, p, &best);
		}
	return best;
}

static int by_bytes(const void *x, const void *y)
{
	const plan_candidate *a = *(plan_candidate *const *)x;
	const plan_candidate *b = *(plan_candidate *const *)y;
	if (a->search->total != b->search->total)
		return a->search->total < b->search->total ? -1 : 1;
	return (a > b) - (a < b);
}

/* The candidates, those that move the fewest bytes first: the sooner a good
 * program is known, the fewer programs are made of others. */
static plan_candidate **in_order(arena *a, plan_candidates *all)
{
	plan_candidate **c = ARENA_ARRAY(a, plan_candidate *, all->n);
	for (int i = 0; i < all->n; i++)
		c[i] = &all->at[i];
	qsort(c, (size_t)all->n, sizeof(plan_candidate *), by_bytes);
	return c;
}

/* ---- their programs ----------------------------------------------------- */

/* The search for a candidate's best program, which has to be better than the
 * best one of earlier candidates.  Several trials run at the same time, each as
 * if none of the others were better.  When one is, those after it are repeated,
 * with the programs they have already made.  So the result is the same as that
 * of trials one after the other. */
typedef struct trial {
	const plan_candidate *of;
	arena *arena; /* for what is found */
	plan_programs programs;
	plan_program program;
	bool ok;
} trial;

typedef struct measuring {
	const plan_request *how;
	plan_candidate *const *all;
	int n, done;
	champion best; /* to be beaten */
	trial *trials; /* of all[done] and those after it */
	/* by candidate: the programs made before a repetition, in tmp */
	plan_programs *before;
	arena *tmp;
} measuring;

static void tell_of_trial(void *arg, int i)
{
	const measuring *x = arg;
	plan_observe(x->how, PHASE_COMPARE,
		     x->trials[i].of->search->algorithm, x->done + i, x->n);
}

/* Runs a trial.  It uses only its own data, apart from the graph and the
 * machine, which nobody changes. */
static void run_trial(void *arg, int i)
{
	const measuring *x = arg;
	trial *t = &x->trials[i];
	const plan_programs *had = &t->of->programs;
	t->arena = arena_new();
	plan_request own = *x->how;
	own.arena = t->arena;
	own.sink = diag_sink_beside(t->arena, x->how->sink);
	for (int k = 0; k < had->n; k++)
		vec_push(t->arena, &t->programs, had->at[k]);
	t->ok = program_best_again(&own, &t->of->search->assignment,
				   &t->programs, &x->before[x->done + i],
				   to_beat(&x->best), &t->program);
}

static bool measure_one(measuring *x)
{
	plan_candidate *c = x->all[x->done];
	plan_observe(x->how, PHASE_COMPARE, c->search->algorithm, x->done,
		     x->n);
	if (!program_best_again(x->how, &c->search->assignment, &c->programs,
				&x->before[x->done], to_beat(&x->best),
				&c->program))
		return false;
	take_better(x->how, &c->program, &x->best);
	x->done++;
	return true;
}

/* Adds what a trial has found.  Returns whether that is the best now. */
static bool take_trial(measuring *x, trial *t)
{
	plan_candidate *c = x->all[x->done++];
	arena_join(x->how->arena, t->arena);
	c->programs = t->programs;
	c->program = t->program;
	return take_better(x->how, &c->program, &x->best);
}

/* Keeps the programs of a trial that will be repeated. */
static void drop_trial(measuring *x, int i)
{
	const plan_programs *made = &x->trials[i].programs;
	plan_programs *to = &x->before[x->done + i];
	to->n = 0;
	for (int k = x->trials[i].of->programs.n; k < made->n; k++)
		vec_push(x->tmp, to, made->at[k]);
	arena_free(x->trials[i].arena);
}

/* Measures `width' candidates at the same time.  Returns how many of them need
 * not be measured again. */
static int measure_some(measuring *x, int width)
{
	int kept = 0;
	bool changed = false;
	x->trials = ARENA_ARRAY(x->tmp, trial, width);
	for (int i = 0; i < width; i++)
		x->trials[i].of = x->all[x->done + i];
	const job_set j = { width, run_trial, tell_of_trial, x };
	jobs_run(&j, x->how->threads);
	while (kept < width && !changed && x->trials[kept].ok)
		changed = take_trial(x, &x->trials[kept++]);
	x->trials += kept;
	for (int i = 0; i < width - kept; i++)
		drop_trial(x, i);
	return kept;
}

/* The number of candidates in a round with `width' new ones.  Those that were
 * tried before take almost no time. */
static int round_of(const measuring *x, int width)
{
	int i = x->done;
	for (; i < x->n; i++) {
		bool anew = x->before[i].n == 0;
		if (anew && width == 0)
			break;
		width -= anew;
	}
	return i - x->done;
}

/* Rounds have more candidates the longer none of them was better. */
static bool measure(const plan_request *how, plan_candidate *const *c, int n,
		    const plan_candidates *all)
{
	arena *tmp = arena_new();
	measuring x = { .how = how, .all = c, .n = n, .tmp = tmp,
			.best = best_known(how, all),
			.before = ARENA_ARRAY(tmp, plan_programs, n) };
	bool ok = true;
	for (int width = how->threads; x.done < n && ok;) {
		int some = round_of(&x, width);
		int kept = some > 1 ? measure_some(&x, some) : 0;
		width = kept == some ? 2 * width : how->threads;
		if (kept == 0)
			ok = measure_one(&x);
	}
	arena_free(tmp);
	return ok;
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

#include "config.h"

#include "compiler/driver/plan_auto.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "compiler/driver/plan_bounded.h"
#include "compiler/search/levels.h"
#include "plan/peak.h"

enum {
	MOST_PRICES = 12, /* that rise by a factor of four */
	HALVINGS = 6,	  /* between two of them */
};

/* ---- what is found ----------------------------------------------------- */

/* Plans without source or checksums: most are thrown away. */
static bool add(driver *d, const graph *g, const plan_search *how,
		const char *algorithm, plan_reports *all)
{
	plan_search one = *how;
	const lower_options lower = { .algorithm = algorithm,
				      .memory = how->memory };
	plan_report r;
	one.algorithm = algorithm;
	if (!plan_make(d, g, &one, &lower, &r))
		return false;
	vec_push(d->arena, all, r);
	return true;
}

static bool found_by(const plan_reports *all, const char *algorithm)
{
	for (int i = 0; i < all->n; i++)
		if (!strcmp(all->at[i].search->algorithm, algorithm))
			return true;
	return false;
}

static bool passes(const plan_report *r, int64_t limit)
{
	return limit > 0 && r->plan && r->plan->arena_bytes > limit;
}

/* ---- prices of memory -------------------------------------------------- */

/* A planner that takes prices, and what was in use when most was, in the plans
 * that it made so far: by tensor where it is stored, by node what only it
 * needs. */
typedef struct sweep {
	driver *d;
	const graph *g;
	plan_search how;
	const char *algorithm;
	plan_reports *all;
	int npeaks;
	double *tensors, *nodes;
} sweep;

static void add_peak(sweep *s, const plan *p)
{
	arena *tmp = arena_new();
	plan_peak peak = plan_find_peak(tmp, p);
	for (int i = 0; i < peak.n; i++) {
		const plan_buffer *b = &p->buffers[peak.uses[i].buffer];
		if (b->region == PLAN_STORED)
			s->tensors[b->tensor]++;
		else
			s->nodes[b->node]++;
	}
	s->npeaks++;
	arena_free(tmp);
}

/* Plans with a byte in use at that price; *r is what it found. */
static bool try_price(sweep *s, double price, const plan_report **r)
{
	const graph *g = s->g;
	arena *tmp = arena_new();
	double *tensors = ARENA_ARRAY(tmp, double, g->ntensors);
	double *nodes = ARENA_ARRAY(tmp, double, g->nnodes);
	double part = s->npeaks ? price / s->npeaks : 0;
	for (int t = 0; t < g->ntensors; t++)
		tensors[t] = part * s->tensors[t];
	for (int n = 0; n < g->nnodes; n++)
		nodes[n] = part * s->nodes[n];
	const timed_prices prices = { tensors, nodes };
	plan_search how = s->how;
	how.byte_price = price;
	how.prices = &prices;
	bool ok = add(s->d, g, &how, s->algorithm, s->all);
	*r = &s->all->at[s->all->n - 1];
	if (ok && (*r)->plan && passes(*r, how.memory))
		add_peak(s, (*r)->plan);
	arena_free(tmp);
	return ok;
}

/* Prices between two, of which the greater alone gives a plan within the
 * limit. */
static bool halve_prices(sweep *s, double low, double high)
{
	const plan_report *r;
	for (int i = 0; i < HALVINGS; i++) {
		double price = low > 0 ? sqrt(low * high) : high / 4;
		if (!try_price(s, price, &r))
			return false;
		if (passes(r, s->how.memory))
			low = price;
		else
			high = price;
	}
	return true;
}

/* A byte is worth what it takes in a run without a price, more or less. */
static bool try_prices(sweep *s, bool wide)
{
	const plan_report *r;
	if (!try_price(s, 0, &r))
		return false;
	if (!r->plan || r->plan->arena_bytes == 0 ||
	    (!wide && !passes(r, s->how.memory)))
		return true;
	double unit = r->seconds / (double)r->plan->arena_bytes;
	double before = 0, price = unit / 64;
	bool fits = !passes(r, s->how.memory);
	if (fits)
		add_peak(s, r->plan);
	for (int i = 0; i < MOST_PRICES && (wide || !fits); i++) {
		if (!try_price(s, price, &r))
			return false;
		if (!fits && !passes(r, s->how.memory)) {
			fits = true;
			if (!halve_prices(s, before, price))
				return false;
		}
		before = price;
		price *= 4;
	}
	return true;
}

/* Plans with the i-th planner for several prices. */
static bool add_prices(driver *d, const graph *g, const plan_search *how,
		       int i, bool wide, plan_reports *all)
{
	arena *tmp = arena_new();
	sweep s = { .d = d, .g = g, .how = *how,
		    .algorithm = search_algorithm(i, NULL), .all = all,
		    .tensors = ARENA_ARRAY(tmp, double, g->ntensors),
		    .nodes = ARENA_ARRAY(tmp, double, g->nnodes) };
	search_request q;
	bool ok = plan_request(d, g, how, &q);
	if (ok && !strcmp(s.algorithm, "levels"))
		s.how.tables = level_tables_new(tmp, g, &q);
	ok = ok && try_prices(&s, wide);
	arena_free(tmp);
	return ok;
}

bool plan_gather(driver *d, const graph *g, const plan_search *how, bool wide,
		 plan_reports *all)
{
	const char *name;
	for (int i = 0; (name = search_algorithm(i, NULL)); i++) {
		bool priced = search_is_priced(i);
		if (search_on_request(i) || (!priced && found_by(all, name)))
			continue;
		if (priced ? !add_prices(d, g, how, i, wide, all) :
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
		if (!passes(r, how->memory) &&
		    (!best || compare_reports(r, best, how->objective) < 0))
			best = r;
	}
	return best ? best : least;
}

plan_reports plan_frontier(arena *a, const plan_reports *all)
{
	plan_reports f = { 0 };
	int64_t held = INT64_MAX;
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
	s->seconds = 0;
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
	if (!passes(best, how->memory) || how->objective == OBJECTIVE_MEMORY)
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
	for (int i = 0; made && i < made->n; i++)
		vec_push(d->arena, &all, made->at[i]);
	if (!plan_gather(d, g, how, false, &all) ||
	    !find_best(d, g, how, &all, r, &proof))
		return false;
	if (!r->plan)
		return true;
	r->search = credited(d->arena, &all, r, &proof);
	r->objective = objectives[how->objective];
	r->plan = plan_lower(d, g, &r->search->assignment, lower);
	return r->plan != NULL;
}

/* ---- the frontier ------------------------------------------------------ */

static json_t *frontier_json(const graph *g, const plan_reports *f, int k)
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
	return json_pack("{s:s, s:i, s:o}", "model", g->name, "devices", k,
			 "frontier", list);
}

cli_status plan_print_frontier(driver *d, const graph *g,
			       const plan_search *how, bool json)
{
	plan_reports all = { 0 };
	if (!plan_gather(d, g, how, true, &all))
		return CLI_OK;
	plan_reports f = plan_frontier(d->arena, &all);
	if (json)
		return driver_print_json(d, frontier_json(g, &f, how->k));
	printf("%s on %d devices, for '%s': %d of %d plans\n\n", g->name,
	       how->k, how->topology->name, f.n, all.n);
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

/* The least number of devices above k for which the recursive search finds room
 * among those that double, and fit the machine; 0 if there is none. */
static int enough_devices(driver *d, const graph *g, const plan_search *how)
{
	plan_search more = *how;
	mesh m;
	more.algorithm = "tofu";
	for (int64_t k = 2 * (int64_t)how->k; k <= 1024; k *= 2) {
		plan_reports one = { 0 };
		more.k = (int)k;
		if (!topology_mesh(how->topology, (int)k, &m) ||
		    !plan_is_countable(d, g, k) ||
		    !add(d, g, &more, more.algorithm, &one))
			return 0;
		if (one.at[0].plan && !passes(&one.at[0], how->memory))
			return (int)k;
	}
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

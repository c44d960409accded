/* tdlc compare: every planner on one model. */
#include "config.h"

#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "compiler/driver/compare.h"
#include "compiler/driver/place.h"
#include "compiler/driver/plan_print.h"
#include "compiler/driver/progress.h"
#include "compiler/portfolio/auto.h"
#include "compiler/portfolio/one_planner.h"
#include "libtdl/plan_input.h"

typedef VEC(plan_result) plan_results;

typedef struct compare_options {
	int64_t devices;
	plan_model model;
	cli_words algorithms, with;
	bool score;	  /* a plan out of the pins comes first: */
	pin_texts pins; /* else the planners' plans have them */
	const char *topology;
	double seconds; /* of each search; 0: no limit */
	bool json;
} compare_options;

static bool read_options(driver *d, int argc, char **argv, compare_options *o,
			 const char **model, cli_status *status)
{
	const cli_option options[] = {
		PLAN_OPTION_DEVICES(&o->devices),
		{ CLI_REPEAT, 0, "algorithm", "A",
		  "compare A only; may be repeated", &o->algorithms },
		{ CLI_REPEAT, 0, "with", "A",
		  "also compare A, which needs another program (ilp)",
		  &o->with },
		PLAN_OPTION_TIME_LIMIT(&o->seconds),
		PLAN_OPTION_TOPOLOGY(&o->topology),
		PLAN_OPTIONS_PINS(&o->pins),
		PLAN_OPTIONS_MODEL(&o->model),
		DRIVER_OPTION_JSON(&o->json),
		DRIVER_OPTION_LOAD(d),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      status);
	if (first < 0)
		return false;
	*status = CLI_USAGE;
	if (!plan_is_asked_for(d, argc - first, o->devices))
		return false;
	if (o->score && !pins_are_given(&o->pins))
		cli_usage(&d->program, "--pins FILE is missing");
	else
		*status = CLI_OK;
	for (int i = 0; i < o->algorithms.n && *status == CLI_OK; i++)
		if (!plan_is_algorithm(d, o->algorithms.at[i]))
			*status = CLI_USAGE;
	for (int i = 0; i < o->with.n && *status == CLI_OK; i++)
		if (!plan_is_algorithm(d, o->with.at[i]))
			*status = CLI_USAGE;
	*model = argv[first];
	return *status == CLI_OK;
}

static bool among(const cli_words *words, const char *name)
{
	for (int i = 0; i < words->n; i++)
		if (!strcmp(words->at[i], name))
			return true;
	return false;
}

static plan_request request_of(driver *d, const graph *g,
			       const compare_options *o, const topology *t,
			       const char *algorithm)
{
	return (plan_request){ .arena = d->arena, .sink = d->sink, .graph = g,
			       .algorithm = algorithm, .seconds = o->seconds,
			       .k = (int)o->devices, .topology = t,
			       .pins = o->pins };
}

/* Adds the plan of the user's pins; tofu decides the rest. */
static bool plan_pinned(driver *d, const graph *g, const compare_options *o,
			const topology *t, plan_results *all)
{
	const lower_options lower = { .algorithm = "pins" };
	const plan_request how = request_of(d, g, o, t, "tofu");
	plan_result r;
	if (!plan_by_planner(&how, &lower, &r))
		return false;
	search_result *s = ARENA_COPY(d->arena, r.search, 1);
	s->algorithm = "pins";
	r.search = s;
	vec_push(d->arena, all, r);
	return true;
}

/* Plans with all planners that are wanted, in the order of their table.  False
 * when errors were added. */
static bool plan_all(driver *d, const graph *g, const compare_options *o,
		     const topology *t, plan_results *all)
{
	const pin_texts none = { 0 };
	const char *name;
	for (int i = 0; (name = search_algorithm(i, NULL)); i++) {
		bool wanted = among(&o->algorithms, name) ||
			      among(&o->with, name) ||
			      (o->algorithms.n == 0 &&
			       !search_on_request(i));
		const lower_options lower = { .algorithm = name };
		plan_request how = request_of(d, g, o, t, name);
		plan_result r;
		if (!wanted)
			continue;
		if (o->score)
			how.pins = none;
		how.observer = progress_begin(d->arena);
		bool ok = plan_by_planner(&how, &lower, &r);
		progress_end(&how.observer);
		if (!ok)
			return false;
		vec_push(d->arena, all, r);
	}
	return true;
}

/* The best of all planners, of which some were looked at; there is one. */
static bool add_best(driver *d, const graph *g, const compare_options *o,
		     const topology *t, plan_results *all)
{
	const lower_options lower = { .algorithm = PLAN_AUTO };
	plan_request how = request_of(d, g, o, t, PLAN_AUTO);
	plan_result r;
	if (o->score || (o->algorithms.n > 0 &&
			 !among(&o->algorithms, PLAN_AUTO)))
		return true;
	const search_result **made = ARENA_ARRAY(d->arena,
						 const search_result *, all->n);
	for (int i = 0; i < all->n; i++)
		made[i] = all->at[i].search;
	how.observer = progress_begin(d->arena);
	bool ok = plan_auto(&how, &lower, made, all->n, &r);
	progress_end(&how.observer);
	if (!ok)
		return false;
	vec_push(d->arena, all, r);
	return true;
}

/* The greatest bound that is proven for all plans that cut every tensor; -1
 * if there is none. */
static int64_t proven_bound(const plan_results *all)
{
	int64_t bound = -1;
	for (int i = 0; i < all->n; i++) {
		const search_result *s = all->at[i].search;
		if (!s->error && s->lower_bound > bound &&
		    search_cuts_all(all->at[i].graph, &s->assignment))
			bound = s->lower_bound;
	}
	return bound;
}

/* The excess of a plan over the bound, as a part of the bound; -1 if that is
 * meaningless, since the plan replicates tensors that could be cut. */
static double gap(const plan_result *r, int64_t bound)
{
	const search_result *s = r->search;
	if (!search_cuts_all(r->graph, &s->assignment))
		return -1;
	if (s->total == 0)
		return 0;
	if (bound <= 0 || s->total < bound)
		return -1;
	return (double)(s->total - bound) / (double)bound;
}

static json_t *entry_json(const plan_result *r, int64_t bound)
{
	const search_result *s = r->search;
	if (s->error)
		return json_pack("{s:s,s:s}", "algorithm", s->algorithm,
				 "error", s->error);
	double over = gap(r, bound);
	json_t *j = plan_report_json(r);
	json_object_set_new(j, "gap", over < 0 ? json_null()
					       : json_real(over));
	return j;
}

static json_t *compare_json(const graph *g, const compare_options *o,
			    const plan_results *all)
{
	int64_t bound = proven_bound(all);
	json_t *list = json_array();
	json_t *j = json_pack("{s:s,s:I}", "model", g->name, "devices",
			      (json_int_t)o->devices);
	if (o->score)
		json_object_set_new(j, "pinned",
				    entry_json(&all->at[0], bound));
	for (int i = o->score; i < all->n; i++)
		json_array_append_new(list, entry_json(&all->at[i], bound));
	json_object_set_new(j, "planners", list);
	return j;
}

static void print_row(arena *a, const plan_result *r, int64_t bound)
{
	const search_result *s = r->search;
	if (s->error) {
		printf("%-13s  %s\n", s->algorithm, s->error);
		return;
	}
	double over = gap(r, bound);
	printf("%-13s  %10s  %8s  %9s  %9s  %s  %s\n",
	       s->algorithm, plan_bytes_text(a, s->total),
	       over < 0 ? "-" : arena_printf(a, "%.1f %%", 100 * over),
	       plan_bytes_text(a, r->plan->communication_bytes),
	       plan_bytes_text(a, r->plan->arena_bytes),
	       units_right(units_seconds(r->seconds), 9).text,
	       units_right(units_seconds(s->seconds), 8).text);
}

static void print_text(arena *a, const graph *g, const compare_options *o,
		       const topology *t, const plan_results *all)
{
	int64_t bound = proven_bound(all);
	text_wrap(stdout, arena_printf(
		a, "%s on %d device%s, for '%s': bytes received by all "
		"devices, memory of each\n", g->name, (int)o->devices,
		o->devices == 1 ? "" : "s", t->name), 0, 2);
	printf("%-13s  %10s  %8s  %9s  %9s  %9s  %8s\n", "planner",
	       "byte model", "gap", "moved", "memory", "predicted", "search");
	for (int i = 0; i < all->n; i++)
		print_row(a, &all->at[i], bound);
	if (bound >= 0)
		printf("\nBy the byte model no plan that cuts every tensor "
		       "moves less than %s.\n",
		       plan_bytes_text(a, bound));
}

cli_status compare_planners(driver *d, int argc, char **argv, bool score)
{
	compare_options o = { .model = PLAN_MODEL, .score = score };
	plan_results all = { 0 };
	const char *path;
	cli_status status;
	if (!read_options(d, argc, argv, &o, &path, &status))
		return status;
	graph *g = plan_read_model(d, path, &o.model, &status);
	const topology *t = g ? plan_topology(d, o.topology, o.devices) : NULL;
	if (!t || !plan_is_countable(d->sink, g, o.devices) ||
	    (score && !plan_pinned(d, g, &o, t, &all)) ||
	    !plan_all(d, g, &o, t, &all) || !add_best(d, g, &o, t, &all))
		return status;
	if (o.json)
		return driver_print_json(d, compare_json(g, &o, &all));
	print_text(d->arena, g, &o, t, &all);
	return CLI_OK;
}

cli_status command_compare(driver *d, int argc, char **argv)
{
	return place_is_meant(argc, argv) ? place_compare(d, argc, argv) :
					    compare_planners(d, argc, argv,
							     false);
}

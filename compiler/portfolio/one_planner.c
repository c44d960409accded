#include "config.h"

#include "compiler/portfolio/request.h"

#include <string.h>

#include "compiler/portfolio/programs.h"
#include "compiler/graph/canonical.h"
#include "compiler/onnx/onnx.h"

graph *plan_read_model(driver *d, const char *path, const plan_model *m,
		       cli_status *status)
{
	model_options o = { .model = m->name };
	*status = driver_model_options(d, path, &m->defines, &m->shapes, &o);
	if (*status == CLI_OK)
		*status = driver_train_options(d, &m->train, &o);
	if (*status != CLI_OK)
		return NULL;
	tdl_modules *all = driver_load_needed(d, path);
	graph *g = all ? model_import(d->arena, all, d->sink, path, &o) : NULL;
	if (!g)
		return NULL;
	*status = driver_check_used(d, &o);
	if (*status == CLI_OK)
		*status = driver_check_freeze(d, &o);
	return *status == CLI_OK ? graph_canonical(d->arena, g) : NULL;
}

bool plan_is_countable(driver *d, const graph *g, int64_t k)
{
	if (graph_traffic(g) <= INT64_MAX / 4 / k)
		return true;
	diag_error_in(d->sink, DIAG_MODEL_TOO_LARGE, g->name,
		      "what %d devices would move may be more than 2^61 bytes",
		      (int)k);
	return false;
}

bool plan_is_asked_for(driver *d, int nmodels, int64_t devices)
{
	if (nmodels != 1)
		cli_usage(&d->program, "one model is expected");
	else if (devices == 0)
		cli_usage(&d->program, "-k N is missing");
	return nmodels == 1 && devices > 0;
}

bool plan_is_algorithm(driver *d, const char *name)
{
	const char *known;
	if (!strcmp(name, PLAN_AUTO))
		return true;
	for (int i = 0; (known = search_algorithm(i, NULL)); i++)
		if (!strcmp(known, name))
			return true;
	cli_usage(&d->program, "there is no algorithm '%s'", name);
	return false;
}

const char *plan_algorithms(arena *a)
{
	enum { COLUMNS = 36 };
	const char *text = "", *name;
	size_t column = strlen("plan with A:  (default)");
	bool more = true;
	for (int i = 0; more; i++) {
		more = (name = search_algorithm(i, NULL)) != NULL;
		if (!more)
			name = PLAN_AUTO;
		bool wrap = column + strlen(name) > COLUMNS;
		const char *gap = wrap ? ",\n" : ", ";
		column = wrap ? strlen(name) : column + strlen(name) + 2;
		text = arena_printf(a, "%s%s%s%s", text, i ? gap : "", name,
				    i ? "" : " (default)");
	}
	return text;
}

const topology *plan_topology(driver *d, const char *name, int64_t k)
{
	mesh m;
	const topology *t = name ? topology_read(d->arena, d->sink, name)
				 : topology_preset(0);
	if (t && t->nkinds > 0) {
		diag_error_in(d->sink, DIAG_BAD_TOPOLOGY, name,
			      "'devices' that differ are for tdlc place: a "
			      "plan cuts tensors into equal parts");
		return NULL;
	}
	if (!t || topology_mesh(t, (int)k, &m))
		return t;
	diag_error_in(d->sink, DIAG_TOPOLOGY_SIZE, t->name,
		      "%d devices do not fit: %s", (int)k,
		      topology_sizes(d->arena, t));
	return NULL;
}

/* Fills in the figures of a report's plan on a machine, and on one device of
 * it. */
static void predict(arena *a, plan_report *r, const topology *t)
{
	const plan *one = plan_one_device(a, r->plan);
	lower_times x = lower_time(r->plan, t);
	r->one_device_bytes = one->arena_bytes;
	r->one_device_seconds = lower_seconds(one, t);
	r->seconds = x.run;
	r->computation = x.computation;
	r->communication = x.communication;
}

bool plan_request(driver *d, const graph *g, const plan_search *search,
		  search_request *q)
{
	*q = (search_request){ .algorithm = search->algorithm,
			       .seconds = search->seconds,
			       .topology = search->topology,
			       .prices = search->prices,
			       .tables = search->tables };
	topology_mesh(search->topology, search->k, &q->mesh);
	if (pins_are_given(&search->pins))
		q->pins = pins_resolve(d, &search->pins, g, &q->mesh);
	return q->pins || !pins_are_given(&search->pins);
}

bool plan_make_of(driver *d, const graph *g, const plan_search *search,
		  const search_result *s, const lower_options *lower,
		  const plan_program *program, plan_report *r)
{
	const topology *t = search->topology;
	lower_options how = *lower;
	how.memory = program->room;
	how.schedule = program->schedule;
	how.separate = search->separate;
	*r = (plan_report){ .graph = g, .search = s, .machine = t->name,
			    .machine_memory = t->memory,
			    .objective = "bytes",
			    .proven = s->lower_bound == s->total };
	if (s->error)
		return true;
	r->plan = lower_plan(d->arena, g, &s->assignment, &how, d->sink);
	if (!r->plan)
		return false;
	predict(d->arena, r, t);
	return true;
}

bool plan_make(driver *d, const graph *g, const plan_search *search,
	       const lower_options *lower, plan_report *r)
{
	plan_search how = *search;
	plan_program best = { 0 }; /* the one made without a limit */
	search_request q;
	if (!plan_request(d, g, search, &q))
		return false;
	const search_result *s = search_plan_for(d->arena, g, &q);
	how.room = how.memory;
	bool choose = !s->error && how.memory > 0;
	return (!choose || program_best(d, g, &s->assignment, &how, NULL, NULL,
					&best)) &&
	       plan_make_of(d, g, search, s, lower, &best, r);
}

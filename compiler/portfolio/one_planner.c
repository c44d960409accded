#include "config.h"

#include "compiler/portfolio/one_planner.h"

#include "compiler/cost/partial_values.h"
#include "compiler/lower/cost.h"
#include "compiler/portfolio/bucketed.h"
#include "plan/gemm.h"

bool plan_is_countable(diag_sink *sink, const graph *g, int64_t k)
{
	if (graph_is_countable(g, k))
		return true;
	diag_error_in(sink, DIAG_MODEL_TOO_LARGE, g->name,
		      "%d devices might move more than 2^61 bytes",
		      (int)k);
	return false;
}

/* Fills in the predicted figures of a result's plan on a machine.  without: the
 * program without buckets; only reductions have these.  Also predicts the
 * program on one device.  f: the classes of its layouts. */
static void predict(arena *a, plan_result *r, const plan *without,
		    layout_classes *f, const topology *t)
{
	const plan *one = plan_one_device(a, without);
	lower_times x = lower_time_with(instr_times_new(a, f, t), r->plan);
	r->one_device_bytes = one->arena_bytes;
	r->one_device_seconds = lower_seconds(one, topology_of(a, t, 1));
	r->seconds = x.run;
	r->computation = x.computation;
	r->communication = x.communication;
}

bool plan_search_request(const plan_request *how, search_request *q)
{
	bool pinned = pins_are_given(&how->pins);
	*q = (search_request){ .algorithm = how->algorithm,
			       .seconds = how->seconds,
			       .topology = how->topology,
			       .prices = how->prices,
			       .tables = how->tables,
			       .variant = how->variant };
	topology_mesh(how->topology, how->k, &q->mesh);
	if (pinned)
		q->pins = pins_resolve(how->arena, how->sink, &how->pins,
				       how->graph, &q->mesh);
	return q->pins || !pinned;
}

/* The bytes of a device that remain beside a plan's arena, within the limit and
 * the machine's memory. */
static int64_t room_beside(const plan *p, int64_t limit, int64_t machine)
{
	int64_t most = PLAN_MAX_BYTES;
	if (limit > 0 && limit < most)
		most = limit;
	if (machine > 0 && machine < most)
		most = machine;
	return most > p->arena_bytes ? most - p->arena_bytes : 0;
}

/* The plans among which a search's bound is valid.  They include plans with
 * partial values only if the search found one. */
static const char *proof_of(const plan_request *how, const search_result *s)
{
	bool at_once = !s->whole && partial_values_of(how->arena, how->graph,
						      PARTIAL_ALL)->any;
	return arena_printf(how->arena, "%s%s%s, by the byte model",
			    s->whole ? s->among : "that cut every tensor",
			    at_once ? " and combine partial results at once"
				    : "",
			    s->pinned ? " with these pins" : "");
}

search_result *search_credited(arena *a, const search_result *of,
			       const char *note)
{
	search_result *s = arena_memdup(a, of, sizeof(*s));
	s->algorithm = PLAN_AUTO;
	s->few_samples = 0;
	s->note = note;
	s->proves = SEARCH_PROVES_NOTHING;
	for (int i = 0; i < MAX_AXES; i++) {
		s->optimal_by_step[i] = false;
		s->least_by_step[i] = -1;
	}
	return s;
}

bool plan_lowered(const plan_request *how, const search_result *s,
		  const lower_options *lower, const plan_program *program,
		  plan_result *r)
{
	const topology *t = how->topology;
	layout_classes *classes;
	lower_options o = *lower;
	o.classes = &classes;
	o.memory = program->room;
	o.schedule = program->schedule;
	o.separate = how->separate;
	const graph *g = how->graph, *whole = g->whole ? g->whole : g;
	*r = (plan_result){ .graph = whole,
			    .search = s,
			    .machine = t->name,
			    .topology = t,
			    .machine_memory = t->memory,
			    .objective = "bytes",
			    .proven = !g->turns && s->lower_bound == s->total };
	if (r->proven)
		r->proof = proof_of(how, s);
	if (s->error)
		return true;
	plan *made = lower_plan(how->arena, how->graph, &s->assignment, &o,
				how->sink);
	if (!made)
		return false;
	plan *p = plan_in_buckets(how, made, classes);
	p->copies_bytes = gemm_plan_bytes(p, room_beside(p, how->memory,
							 t->memory));
	r->plan = p;
	predict(how->arena, r, made, classes, t);
	return true;
}

bool plan_by_planner(const plan_request *how, const lower_options *lower,
		     plan_result *r)
{
	plan_request roomy = *how;
	plan_program best = { 0 }; /* the program made without a limit */
	search_request q;
	if (!plan_search_request(how, &q))
		return false;
	plan_observe(how, PHASE_SEARCH, how->algorithm, 0, 0);
	const search_result *s = search_plan_for(how->arena, how->graph, &q);
	roomy.room = how->memory;
	bool choose = !s->error && how->memory > 0;
	return (!choose || program_best(&roomy, &s->assignment, NULL, NULL,
					&best)) &&
	       plan_lowered(how, s, lower, &best, r);
}

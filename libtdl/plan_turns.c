#include "config.h"

#include "libtdl/plan_turns.h"

#include "compiler/portfolio/one_planner.h"

/* The search for a number of micro-batches. */
typedef struct chooser {
	job *job;
	const plan_request *how;
	const plan_options *options;
	const lower_options *lower;
	int64_t limit;	/* bytes of a device; 0: no limit */
	plan_request best; /* request of .. */
	plan_result found; /* .. the best plan so far */
} chooser;

static bool fits(const chooser *c, const plan_result *r)
{
	return c->limit == 0 || r->plan->arena_bytes <= c->limit;
}

/* The figure that is minimised. */
static double figure(const chooser *c, const plan_result *r)
{
	if (!fits(c, r) || c->how->objective == OBJECTIVE_MEMORY)
		return (double)r->plan->arena_bytes;
	return c->how->objective == OBJECTIVE_BYTES
		       ? (double)r->plan->communication_bytes
		       : r->seconds;
}

static bool is_better(const chooser *c, const plan_result *r)
{
	const plan_result *best = &c->found;
	if (!best->search || best->search->error)
		return true;
	if (fits(c, r) != fits(c, best))
		return fits(c, r);
	return figure(c, r) < figure(c, best);
}

/* Plans a graph with this number of turns.  Returns false when errors were
 * added. */
static bool try_turns(chooser *c, const graph *g, int turns)
{
	plan_request how = *c->how;
	plan_result r;
	how.graph = g;
	if (c->found.search && !graph_is_countable(g, how.k))
		return true;
	if (!plan_is_countable(c->job->sink, g, how.k) ||
	    !plan_search_once(&how, c->lower, &r))
		return false;
	if (r.search->error && c->found.search)
		return true;
	r.batch = c->found.batch;
	r.tried = c->found.tried;
	if (!r.search->error)
		vec_push(c->job->arena, &r.tried,
			 ((plan_try){ turns, r.seconds,
				      r.plan->communication_bytes,
				      r.plan->arena_bytes }));
	c->found.tried = r.tried;
	if (!r.search->error && !is_better(c, &r))
		return true;
	c->best = how;
	c->found = r;
	return true;
}

bool plan_any_turns(job *d, plan_request *how, const plan_options *o,
		    const lower_options *lower, plan_result *r)
{
	const graph *g = how->graph;
	turns_options t = plan_turns_options(o, 1);
	chooser c = { .job = d, .how = how, .options = o, .lower = lower,
		      .limit = how->memory ? how->memory
					   : how->topology->memory };
	int64_t n = c.found.batch = graph_batch(g, &t, d->sink);
	if (n == 0 || !try_turns(&c, g, 1))
		return false;
	int most = n < PLAN_MAX_TURNS ? (int)n : PLAN_MAX_TURNS;
	for (t.turns = 2; t.turns <= most; t.turns++) {
		if (n % t.turns != 0)
			continue;
		int before = diag_errors(d->sink);
		const graph *one = graph_in_turns(d->arena, g, &t, d->sink);
		if (!one) {
			diag_forgive(d->sink, before);
			break;
		}
		if (!try_turns(&c, one, t.turns))
			return false;
	}
	*r = c.found;
	*how = c.best;
	return true;
}

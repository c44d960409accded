#include "config.h"

#include "compiler/planners/search.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "compiler/planners/partial_assignment.h"
#include "compiler/planners/planner.h"

const char *search_algorithm(int i, const char **about)
{
	const planner *p = planner_at(i);
	if (p && about)
		*about = p->about;
	return p ? p->name : NULL;
}

/* ---- time -------------------------------------------------------------- */

/* Tables of at most 512 MiB; no limit on time. */
static const solve_limits only_time = {
	.cells = (int64_t)1 << 26,
	.work = (int64_t)1 << 36,
	.steps = INT64_MAX,
};

bool search_is_over(const search *s)
{
	return deadline_is_over(s->deadline);
}

solve_limits search_limits(const search *s, int nproblems)
{
	const double least = 1e-6;
	if (s->deadline.at == 0)
		return solve_defaults();
	solve_limits l = only_time;
	l.seconds = (s->deadline.at - clock_seconds()) / nproblems;
	if (l.seconds < least)
		l.seconds = least;
	return l;
}

/* ---- axis after axis --------------------------------------------------- */

/* Stores the solver's choices for the last axis, and their cost. */
static void keep(search_result *r, const formulation *f, const solution *best)
{
	const graph *g = f->step->g;
	int axis = step_axis(f->step);
	for (tensor_id t = 0; t < g->ntensors; t++)
		r->assignment.tensor_cuts[t].dim[axis] =
			(signed char)formulation_dim(f, t, best->value);
	for (node_id n = 0; n < g->nnodes; n++) {
		int64_t *bytes = r->node_bytes[n];
		r->assignment.node_cuts[n].dim[axis] =
			(signed char)formulation_strategy(f, n, best->value);
		bytes[axis] = formulation_node_bytes(f, n, best->value);
		for (int a = 0; a < axis; a++)
			bytes[axis] -= bytes[a];
	}
	r->by_step[axis] = best->cost - r->total;
	r->least_by_step[axis] = best->lower_bound - r->total;
	r->total = best->cost;
	r->optimal_by_step[axis] = best->optimal;
	r->lower_bound = best->lower_bound;
}

/* The choices of one step as a problem, in a. */
static formulation formulate_step(arena *a, const step *s, const rules *all)
{
	const graph *g = s->g;
	choices *dims = ARENA_ARRAY(a, choices, g->ntensors);
	choices *vars = ARENA_ARRAY(a, choices, g->nnodes);
	for (tensor_id t = 0; t < g->ntensors; t++)
		dims[t] = rules_dims(all, s, t);
	for (node_id n = 0; n < g->nnodes; n++)
		vars[n] = rules_vars(all, s, n);
	return formulate(a, s, dims, vars);
}

/* Rules restricted by pins. */
typedef struct pinned {
	rules rules;
	const partial_assignment *pins;
} pinned;

static choices pinned_dims(const void *state, const step *s, tensor_id t)
{
	const pinned *p = state;
	return p->pins->tensor_set[t]
		       ? choices_one(p->pins->tensors[t].dim[step_axis(s)])
		       : rules_dims(&p->rules, s, t);
}

static choices pinned_vars(const void *state, const step *s, node_id n)
{
	const pinned *p = state;
	return p->pins->node_set[n]
		       ? choices_one(p->pins->nodes[n].dim[step_axis(s)])
		       : rules_vars(&p->rules, s, n);
}

rules search_pinned(const search *s, const rules *r)
{
	rules with = *r;
	if (!s->pins)
		return with;
	pinned *p = ARENA_NEW(s->arena, pinned);
	*p = (pinned){ *r, s->pins };
	with.dims = pinned_dims;
	with.vars = pinned_vars;
	with.state = p;
	with.complete = false;
	with.uniform = false;
	with.partial = NULL; /* they are already in p->rules */
	return with;
}

/* Whether the rules allow partial values. */
static bool may_be_partial(const rules *r)
{
	const pinned *p = r->state;
	return r->partial || (r->dims == pinned_dims && p->rules.partial);
}

/* The same rules without partial values, in a. */
static rules without_partial(arena *a, const rules *r)
{
	rules whole = *r;
	whole.partial = NULL;
	if (r->dims == pinned_dims) {
		pinned *p = arena_memdup(a, r->state, sizeof(*p));
		p->rules.partial = NULL;
		whole.state = p;
	}
	return whole;
}

/* Decides the last axis of the mesh.  nleft: the number of steps that are left,
 * this one included.  A solver that runs out of time may find no plan in which
 * all partial values fit. */
static void search_step(search *s, const rules *all, int nleft)
{
	arena *tmp = arena_new();
	step at = { s->graph, &s->result->assignment };
	formulation f = formulate_step(tmp, &at, all);
	solve_limits limits = search_limits(s, nleft);
	solution best = all->solve ? all->solve(all->solver, tmp, &f, &limits)
				   : solve(tmp, f.problem, &limits);
	bool possible = best.cost < COST_MAX;
	if (possible || !may_be_partial(all))
		keep(s->result, &f, &best);
	arena_free(tmp);
	if (!possible && may_be_partial(all)) {
		const rules whole = without_partial(s->arena, all);
		search_step(s, &whole, nleft);
	}
}

/* Keeps the lower bound only if it is valid: for a single step that leaves out
 * no choice.  A lower bound of 0 needs no proof. */
static void settle_bound(search_result *r, bool complete)
{
	bool proven = complete && r->assignment.mesh.naxes == 1;
	if (!proven && r->total > 0)
		r->lower_bound = -1;
}

void search_by_step(search *s, const rules *r)
{
	const rules with = search_pinned(s, r), *all = &with;
	int naxes = s->mesh.naxes;
	mesh *m = &s->result->assignment.mesh;
	while (m->naxes < naxes) {
		m->size[m->naxes] = s->mesh.size[m->naxes];
		m->naxes++;
		search_step(s, all, naxes - m->naxes + 1);
	}
	settle_bound(s->result, all->complete);
}

/* ---- all axes at once -------------------------------------------------- */

static choices tensor_as_it_is(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return choices_one(s->as->tensor_cuts[t].dim[step_axis(s)]);
}

static choices node_as_it_is(const void *state, const step *s, node_id n)
{
	(void)state;
	return choices_one(s->as->node_cuts[n].dim[step_axis(s)]);
}

void search_cost(search *s)
{
	const rules as_it_is = { .dims = tensor_as_it_is,
				 .vars = node_as_it_is };
	search_result *r = s->result;
	mesh *m = &r->assignment.mesh;
	int naxes = m->naxes;
	bool optimal[MAX_AXES];
	int64_t bound = r->lower_bound;
	memcpy(optimal, r->optimal_by_step, sizeof(optimal));
	r->total = 0;
	for (m->naxes = 1; m->naxes <= naxes; m->naxes++)
		search_step(s, &as_it_is, naxes - m->naxes + 1);
	m->naxes = naxes;
	for (int a = 0; a < naxes; a++)
		r->least_by_step[a] = -1;
	memcpy(r->optimal_by_step, optimal, sizeof(optimal));
	r->lower_bound = bound;
}

/* ---- results ----------------------------------------------------------- */

static search_result *new_result(arena *a, const graph *g, const char *name)
{
	search_result *r = ARENA_NEW(a, search_result);
	r->algorithm = name;
	r->assignment = assignment_undivided(a, g, &(mesh){ 0 });
	r->node_bytes = arena_calloc(a, (size_t)g->nnodes,
				     sizeof(*r->node_bytes));
	return r;
}

search_result *search_result_copy(arena *a, const graph *g,
				  const search_result *r)
{
	search_result *c = ARENA_COPY(a, r, 1);
	assignment *to = &c->assignment;
	to->tensor_cuts = ARENA_COPY(a, to->tensor_cuts, g->ntensors);
	to->node_cuts = ARENA_COPY(a, to->node_cuts, g->nnodes);
	c->node_bytes = ARENA_COPY(a, c->node_bytes, g->nnodes);
	return c;
}

/* Drops claims about bytes if the solver minimised something else. */
static void settle_claims(search_result *r, const planner *pl, bool pins)
{
	r->proves = pl->proves;
	r->among = r->among ? r->among : pl->among;
	r->pinned = pins;
	for (int i = 0; i < MAX_AXES && !pl->proves; i++) {
		r->optimal_by_step[i] = false;
		r->least_by_step[i] = -1;
	}
}

/* The request's variant, reduced to the options that the planner supports. */
static search_variant variant_of(const planner *pl, const search_variant *v)
{
	search_variant own = pl->nvariants > 0 ? *v : (search_variant){ 0 };
	own.sharded = pl->shards && v->sharded;
	return own;
}

search_result *search_plan_for(arena *a, const graph *g,
			       const search_request *q)
{
	const planner *pl = planner_find(q->algorithm);
	int k = mesh_workers(&q->mesh);
	assert(pl && k >= 1 && k <= MESH_MAX_WORKERS);
	search s = { .arena = a, .graph = g, .k = k, .mesh = q->mesh,
		     .result = new_result(a, g, pl->name),
		     .pins = q->pins, .topology = q->topology,
		     .prices = q->prices,
		     .tables = q->tables,
		     .variant = variant_of(pl, &q->variant) };
	double begin = clock_seconds();
	s.deadline = deadline_in(q->seconds);
	s.result->variant = s.variant;
	pl->plan(&s);
	for (search_result *r = s.result; r; r = r->whole) {
		settle_claims(r, pl, q->pins != NULL);
		r->seconds = clock_seconds() - begin;
	}
	return s.result;
}

search_result *search_evaluate(arena *a, const graph *g, const assignment *as,
			       const char *algorithm)
{
	search s = { .arena = a, .graph = g, .k = mesh_workers(&as->mesh),
		     .mesh = as->mesh,
		     .result = new_result(a, g, algorithm) };
	assignment *to = &s.result->assignment;
	to->mesh = as->mesh;
	memcpy(to->tensor_cuts, as->tensor_cuts,
	       sizeof(cuts) * (size_t)g->ntensors);
	memcpy(to->node_cuts, as->node_cuts, sizeof(cuts) * (size_t)g->nnodes);
	s.result->lower_bound = -1;
	search_cost(&s);
	for (int i = 0; i < MAX_AXES; i++)
		s.result->optimal_by_step[i] = false;
	return s.result;
}

search_result *search_plan(arena *a, const graph *g, int k,
			   const char *algorithm)
{
	const search_request q = { .mesh = mesh_of_equals(k),
				   .algorithm = algorithm };
	return search_plan_for(a, g, &q);
}

/* The strategy of the solver.  A problem along the flow of data is first
 * reduced by a few passes, a glance.  Variables of degree 0, 1 and 2 are
 * eliminated where that is little work.  Then each component of the rest is
 * eliminated in an order found beforehand.  If that is much work, or no order
 * is within the limits, the component is reduced first (message_passing.h),
 * which often solves it.  The rest is tried by a few nodes of branch and bound
 * (branch.h), then goes the same way again, and finally to full branch and
 * bound. */
#include "config.h"

#include "compiler/solver/solve.h"

#include <assert.h>
#include <string.h>

#include "base/clock.h"
#include "compiler/solver/branch.h"
#include "compiler/solver/conditioning.h"
#include "compiler/solver/eliminate.h"
#include "compiler/solver/elimination_order.h"
#include "compiler/solver/message_passing.h"

enum {
	/* costs per table from which on reducing is less work than
	 * eliminating */
	LARGE_TABLE = 900,
	MAY_FOLD = 64,	   /* multiple of the costs of a variable's tables */
	/* additions per cost of a component up to which eliminating it is less
	 * work than reducing it */
	CHEAP = 100,
	CHEAP_ALWAYS = 10000, /* additions that are always acceptable */
	CHEAPER = 200,	   /* as CHEAP after reduction: up to this many .. */
	/* .. or this many, eliminating is less work than splitting */
	CHEAPER_ALWAYS = 400000,
	EFFORT = 1 << 22, /* the effort that an order is worth, .. */
	EFFORT_PER_CELL = 64, /* .. plus so much for each cost of a component */
	FEW_NODES = 40,	   /* of branch and bound, tried before anything else */
	STEPS_PER_CELL = 20,  /* of a split */
	MAX_DEPTH = 1000,     /* of splits */
	MAX_SPLIT_CELLS = 1 << 26, /* in all problems that are split */
};

/* Whether, and how, a problem was reduced already. */
typedef enum reduced {
	AS_GIVEN,
	GLANCED_AT, /* by the first few passes */
	REDUCED,
} reduced;

/* The remaining limits, and the state of the problem. */
typedef struct budget {
	solve_limits left;
	deadline deadline;
	reduced reduced;
	int depth; /* number of splits above it */
} budget;

static solution solve_reduced(arena *a, const problem *p, budget *b,
			      reduced how);

solve_limits solve_defaults(void)
{
	return (solve_limits){ .cells = (int64_t)1 << 23,
			       .work = (int64_t)1 << 29,
			       .steps = (int64_t)1 << 26 };
}

/* Whether folding v, of degree at most 2, is within the limits and, before a
 * reduction, no more work than reading its tables a few times; charges it. */
static bool may_fold(eliminator *s, budget *b, int v)
{
	int64_t cells = 1, own = 0;
	for (int i = 0; i < s->at[v].n; i++) {
		const cost_factor *f = s->at[v].at[i];
		if (!f->dead) {
			cells *= s->nvalues[cost_factor_other(f, v)];
			own += s->nvalues[cost_factor_other(f, v)];
		}
	}
	int64_t work = cost_mul(cells, s->nvalues[v]);
	if (s->nlive[v] == 0)
		return true;
	if (cells > b->left.cells || work > b->left.work)
		return false;
	if (b->reduced < REDUCED && s->nlive[v] == 2 &&
	    work > MAY_FOLD * own * s->nvalues[v])
		return false;
	b->left.cells -= cells;
	b->left.work -= work;
	return true;
}

/* Variables to look at.  Those of degree 2 wait until there are no others,
 * since their degree may decrease. */
typedef struct fold_queue {
	int_vec of[2];
	int head[2];
} fold_queue;

static void fold_later(eliminator *s, fold_queue *q, int v)
{
	if (!s->done[v] && s->nlive[v] <= 2)
		vec_push(s->tmp, &q->of[s->nlive[v] == 2], v);
}

/* The next variable whose degree is unchanged; -1 after the last. */
static int fold_next(const eliminator *s, fold_queue *q)
{
	for (int two = 0; two < 2; two++)
		while (q->head[two] < q->of[two].n) {
			int v = q->of[two].at[q->head[two]++];
			if (!s->done[v] && (s->nlive[v] == 2) == two)
				return v;
		}
	return -1;
}

/* Eliminates variables of degree 0, 1 and 2 until there are none.  All factors
 * have two variables, before and after, one factor per pair. */
static void fold(eliminator *s, budget *b)
{
	fold_queue q = { 0 };
	for (int v = 0; v < s->n; v++)
		fold_later(s, &q, v);
	for (int v; (v = fold_next(s, &q)) >= 0;) {
		if (!may_fold(s, b, v))
			continue;
		eliminator_eliminate(s, v);
		const cost_factors *had = &s->stack.at[s->stack.n - 1].factors;
		for (int i = 0; i < had->n; i++)
			fold_later(s, &q, cost_factor_other(had->at[i], v));
	}
}

/* Labels the remaining variables connected to v. */
static void label_from(eliminator *s, int v, int label, int *labels)
{
	int_vec all = { 0 };
	vec_push(s->tmp, &all, v);
	labels[v] = label;
	for (int i = 0; i < all.n; i++) {
		const cost_factors *at = &s->at[all.at[i]];
		for (int j = 0; j < at->n; j++) {
			const cost_factor *f = at->at[j];
			int u = cost_factor_other(f, all.at[i]);
			if (f->dead || labels[u] >= 0)
				continue;
			labels[u] = label;
			vec_push(s->tmp, &all, u);
		}
	}
}

/* Finds the components of the rest, each in ascending order; index[] is a
 * variable's place in its component.  Returns their number. */
static int find_components(eliminator *s, int_vec **all, int *index)
{
	int n = 0, *labels = ARENA_ARRAY(s->tmp, int, s->n);
	for (int v = 0; v < s->n; v++)
		labels[v] = -1;
	for (int v = 0; v < s->n; v++)
		if (!s->done[v] && labels[v] < 0)
			label_from(s, v, n++, labels);
	*all = ARENA_ARRAY(s->tmp, int_vec, n);
	for (int v = 0; v < s->n; v++) {
		if (labels[v] < 0)
			continue;
		index[v] = (*all)[labels[v]].n;
		vec_push(s->tmp, &(*all)[labels[v]], v);
	}
	return n;
}

static meet meet_of(eliminator *s, const int_vec *vars, const int *index)
{
	int *nvalues = ARENA_ARRAY(s->tmp, int, vars->n);
	meet m = { vars->n, nvalues, ARENA_ARRAY(s->tmp, int_vec, vars->n) };
	for (int i = 0; i < vars->n; i++) {
		const cost_factors *at = &s->at[vars->at[i]];
		nvalues[i] = s->nvalues[vars->at[i]];
		for (int j = 0; j < at->n; j++) {
			const cost_factor *f = at->at[j];
			int u = cost_factor_other(f, vars->at[i]);
			if (!f->dead)
				vec_push(s->tmp, &m.adjacent[i], index[u]);
		}
	}
	return m;
}

/* A component as a problem of its own.  If it is the only one, the cost so far
 * moves into it, so that its cost is that of the whole problem. */
static problem *problem_of(eliminator *s, const int_vec *vars, const int *index)
{
	problem *p = problem_new(s->tmp);
	p->top = s->p->top;
	p->along_flow = s->p->along_flow;
	if (vars->n == s->nleft) {
		p->unit = s->p->unit;
		p->constant = s->least;
		s->least = 0;
	}
	for (int i = 0; i < vars->n; i++) {
		int v = vars->at[i];
		problem_add_var(p, s->nvalues[v]);
		for (int k = 0; k < s->nvalues[v]; k++)
			problem_add_cost(p, i, k, s->unary[v][k]);
	}
	for (int i = 0; i < vars->n; i++) {
		const cost_factors *at = &s->at[vars->at[i]];
		for (int j = 0; j < at->n; j++) {
			const cost_factor *f = at->at[j];
			if (!f->dead && f->vars[0] == vars->at[i])
				problem_add_table(p, i, index[f->vars[1]],
						  f->cost);
		}
	}
	return p;
}

/* Keeps what was found for a component. */
static void keep_values(eliminator *s, const int_vec *vars,
			const solution *found)
{
	for (int i = 0; i < vars->n; i++) {
		s->value[vars->at[i]] = found->value[i];
		s->done[vars->at[i]] = true;
	}
	s->least = cost_add(s->least, found->lower_bound);
}

static int64_t table_cells(const problem *p)
{
	int64_t cells = 0;
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		cells += (int64_t)p->vars.at[t->x].nvalues *
			 p->vars.at[t->y].nvalues;
	}
	return cells;
}

static bool is_spent(const budget *b)
{
	return b->left.steps <= 0 || deadline_is_over(b->deadline);
}

/* Replaces the solution by a part's if that is better.  The part's values of
 * the variable that was split begin at `first', without `skip'. */
static void take_better(solution *all, const problem *p, const condition *at,
			const solution *part, bool with)
{
	if (part->lower_bound < all->lower_bound)
		all->lower_bound = part->lower_bound;
	if (part->cost >= all->cost)
		return;
	memcpy(all->value, part->value, (size_t)p->vars.n * sizeof(int));
	int *v = &all->value[at->var];
	*v = with ? at->value : *v + (*v >= at->value);
	all->cost = part->cost;
}

/* Branch and bound for problems that are too large for branch.h, or fall apart:
 * solves p in two parts, the more promising one first; the other must improve
 * on its result.  When the budget ends, p is left as it is, bounded by its
 * constant. */
static solution solve_split(arena *a, const problem *p, budget *b)
{
	solution all = { ARENA_ARRAY(a, int, p->vars.n), p->top, p->top };
	int64_t cells = table_cells(p) + 100;
	b->left.steps -= STEPS_PER_CELL * cells;
	if (is_spent(b) || b->depth > MAX_DEPTH ||
	    b->depth > MAX_SPLIT_CELLS / cells) {
		all.lower_bound = p->constant;
		all.cost = problem_cost(p, all.value);
		return all;
	}
	condition at = condition_choose(p);
	for (int i = 0; i < 2; i++) {
		arena *tmp = arena_new();
		budget inner = *b;
		inner.depth++;
		problem *q = i == 0 ? condition_with(tmp, p, &at) :
				      condition_without(tmp, p, &at);
		q->top = all.cost;
		solution s = solve_reduced(tmp, q, &inner, REDUCED);
		b->left.steps = inner.left.steps -
				(b->left.work - inner.left.work);
		take_better(&all, p, &at, &s, i == 0);
		arena_free(tmp);
	}
	all.cost = problem_cost(p, all.value);
	if (all.lower_bound > all.cost)
		all.lower_bound = all.cost;
	all.optimal = all.lower_bound == all.cost;
	return all;
}

/* Whether branch and bound solves p, with no more steps than eliminating its
 * variables would take, if that is possible. */
static bool split_instead(eliminator *s, const problem *p, const elimination *e,
			  budget *b, solution *found)
{
	budget inner = *b;
	if (e->order && inner.left.steps > e->work / 4)
		inner.left.steps = e->work / 4;
	int64_t steps = inner.left.steps;
	if (branch_fits(p))
		*found = branch(s->tmp, p, &inner.left.steps, b->deadline);
	else
		*found = solve_split(s->tmp, p, &inner);
	b->left.steps -= steps - inner.left.steps;
	return !e->order || found->lower_bound >= p->top || found->optimal;
}

/* Whether a few nodes of branch and bound solve the reduced p. */
static bool branch_a_little(eliminator *s, const problem *p, budget *b,
			    solution *found)
{
	int64_t few = table_cells(p) * FEW_NODES, steps = few;
	if (b->reduced < REDUCED || !branch_fits(p) || b->left.steps < few)
		return false;
	*found = branch(s->tmp, p, &steps, b->deadline);
	b->left.steps -= few - steps;
	return found->optimal || found->lower_bound >= p->top;
}

/* The order in which to eliminate a component.  None is searched for if p is to
 * be reduced first and has large tables; only a cheap one if p is to be reduced
 * first, or is a part of a split. */
static elimination order_for(eliminator *s, const problem *p,
			     const int_vec *vars, const int *index,
			     const budget *b, int64_t cheap)
{
	int64_t cells = table_cells(p);
	if (b->reduced < REDUCED && cells > (int64_t)LARGE_TABLE * p->tables.n)
		return (elimination){ 0 };
	elimination_limits most = { b->left.cells, b->left.work,
				    EFFORT + EFFORT_PER_CELL * cells };
	if (b->depth > 0 || b->reduced < REDUCED) {
		most.work = cheap < most.work ? cheap : most.work;
		most.effort = cheap / CHEAP;
	}
	meet m = meet_of(s, vars, index);
	return elimination_order(s->tmp, &m, &most);
}

/* The additions up to which eliminating p is less work than anything else. */
static int64_t cheap_work(const problem *p, const budget *b)
{
	int64_t cells = table_cells(p);
	return b->reduced == REDUCED ? CHEAPER * cells + CHEAPER_ALWAYS :
				       CHEAP * cells + CHEAP_ALWAYS;
}

static void solve_component(eliminator *s, const int_vec *vars,
			    const int *index, budget *b)
{
	const problem *p = problem_of(s, vars, index);
	int64_t work = cheap_work(p, b);
	solution found;
	if (branch_a_little(s, p, b, &found)) {
		keep_values(s, vars, &found);
		return;
	}
	elimination e = order_for(s, p, vars, index, b, work);
	bool cheap = e.order && e.work < work;
	if (!cheap && b->reduced < REDUCED) {
		found = solve_reduced(s->tmp, p, b, REDUCED);
		keep_values(s, vars, &found);
	} else if (!cheap && split_instead(s, p, &e, b, &found)) {
		keep_values(s, vars, &found);
	} else {
		b->left.cells -= e.cells;
		b->left.work -= e.work;
		s->least = cost_add(s->least, p->constant);
		for (int i = 0; i < vars->n; i++)
			eliminator_eliminate(s, vars->at[e.order[i]]);
	}
}

static solution solution_of(const problem *p, int *value, int64_t bound)
{
	solution r = { value, problem_cost(p, value), bound };
	r.optimal = r.cost == r.lower_bound;
	assert(r.lower_bound <= r.cost);
	return r;
}

/* Solves by elimination, as far as possible. */
static solution solve_tables(arena *a, const problem *p, budget *b)
{
	arena *tmp = arena_new();
	eliminator s = eliminator_new(a, tmp, p);
	int *index = ARENA_ARRAY(tmp, int, s.n);
	fold(&s, b);
	for (int v = 0; v < s.n; v++)
		s.nleft += !s.done[v];
	int_vec *components;
	int n = find_components(&s, &components, index);
	for (int i = 0; i < n; i++)
		solve_component(&s, &components[i], index, b);
	eliminator_read_back(&s);
	solution r = solution_of(p, s.value, s.least);
	arena_free(tmp);
	return r;
}

/* Reduces p, solves the rest, and returns the better of both results. */
static solution solve_reduced(arena *a, const problem *p, budget *b,
			      reduced how)
{
	arena *tmp = arena_new();
	reduction r = message_passing(tmp, p, b->deadline, how == GLANCED_AT);
	int *value = ARENA_COPY(a, r.best, p->vars.n);
	int64_t bound = r.best_cost;
	if (r.bound < r.best_cost) {
		const problem *rest = r.rest ? r.rest : p;
		budget inner = *b;
		inner.reduced = how;
		solution s = solve_tables(tmp, rest, &inner);
		b->left = inner.left;
		bool better = s.cost < rest->top;
		for (int v = 0; better && v < p->vars.n; v++)
			value[v] = r.rest ? r.values[v][s.value[v]]
					  : s.value[v];
		int64_t left = ((s.lower_bound - 1) >> r.shift) + 1;
		if (s.lower_bound < rest->top && left < bound)
			bound = left;
		bound = r.bound > bound ? r.bound : bound;
	}
	solution found = solution_of(p, value, bound);
	arena_free(tmp);
	return found;
}

/* Converts a time limit into a limit of work: additions that every machine can
 * do in that time. */
static void limit_work(budget *b)
{
	const double per_second = 3e8;
	if (b->left.seconds <= 0)
		return;
	b->deadline = deadline_in(b->left.seconds);
	if (b->left.seconds * per_second < (double)b->left.work)
		b->left.work = (int64_t)(b->left.seconds * per_second);
}

/* Whether to reduce first: tables are large, and few variables have only one
 * table, which are less work to eliminate. */
static bool reduce_first(const problem *p)
{
	if (table_cells(p) <= (int64_t)LARGE_TABLE * p->tables.n)
		return false;
	arena *tmp = arena_new();
	int *degree = ARENA_ARRAY(tmp, int, p->vars.n), nleaves = 0;
	for (int i = 0; i < p->tables.n; i++) {
		degree[p->tables.at[i].x]++;
		degree[p->tables.at[i].y]++;
	}
	for (int v = 0; v < p->vars.n; v++)
		nleaves += degree[v] < 2;
	arena_free(tmp);
	return nleaves < p->vars.n / 5 * 2;
}

/* Eliminates variables of degree 0 and 1 until there are none. */
static void strip(eliminator *s)
{
	int_vec q = { 0 };
	for (int v = 0; v < s->n; v++)
		if (s->nlive[v] <= 1)
			vec_push(s->tmp, &q, v);
	for (int i = 0; i < q.n; i++) {
		int v = q.at[i];
		if (s->done[v])
			continue;
		eliminator_eliminate(s, v);
		const cost_factors *had = &s->stack.at[s->stack.n - 1].factors;
		for (int k = 0; k < had->n; k++) {
			int u = cost_factor_other(had->at[k], v);
			if (!s->done[u] && s->nlive[u] <= 1)
				vec_push(s->tmp, &q, u);
		}
	}
}

/* A glance at p without its leaves, which is less work and gives a higher
 * bound. */
static glance_outlook outlook_of(const problem *p, const budget *b)
{
	arena *tmp = arena_new();
	eliminator s = eliminator_new(tmp, tmp, p);
	int *index = ARENA_ARRAY(tmp, int, s.n);
	int_vec left = { 0 };
	strip(&s);
	for (int v = 0; v < s.n; v++) {
		index[v] = left.n;
		if (!s.done[v])
			vec_push(tmp, &left, v);
	}
	s.nleft = left.n;
	glance_outlook o = left.n == 0 ? GLANCE_OPEN :
		message_glance(problem_of(&s, &left, index), b->deadline);
	arena_free(tmp);
	return o;
}

/* Along the flow of data a few passes are often enough, whatever the tables:
 * above all if nothing is below the cost to beat, or to see that much more work
 * would be needed. */
static solution solve_along_flow(arena *a, const problem *p, budget *b)
{
	glance_outlook o = p->top < COST_MAX ? outlook_of(p, b) : GLANCE_OPEN;
	if (o == GLANCE_NOTHING)
		return solution_of(p, ARENA_ARRAY(a, int, p->vars.n), p->top);
	if (o == GLANCE_OPEN)
		return solve_reduced(a, p, b, GLANCED_AT);
	if (b->left.hopeful)
		return solution_of(p, ARENA_ARRAY(a, int, p->vars.n),
				   p->constant);
	b->reduced = GLANCED_AT;
	return solve_tables(a, p, b);
}

solution solve(arena *a, const problem *p, const solve_limits *limits)
{
	budget b = { .left = *limits };
	limit_work(&b);
	if (p->along_flow)
		return solve_along_flow(a, p, &b);
	if (reduce_first(p))
		return solve_reduced(a, p, &b, GLANCED_AT);
	return solve_tables(a, p, &b);
}

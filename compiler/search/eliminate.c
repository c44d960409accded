#include "config.h"

#include "compiler/search/eliminate.h"

#include <string.h>

#include "compiler/search/minplus.h"
#include "compiler/search/order.h"

static int64_t factor_cells(const solver *s, const factor *f)
{
	int64_t n = 1;
	for (int i = 0; i < f->n; i++)
		n *= s->nvalues[f->vars[i]];
	return n;
}

/* How far apart neighbouring values of v are in f; 0 where v is not in it. */
static int64_t stride_of(const solver *s, const factor *f, int v)
{
	int64_t stride = 1;
	for (int i = f->n - 1; i >= 0; i--) {
		if (f->vars[i] == v)
			return stride;
		stride *= s->nvalues[f->vars[i]];
	}
	return 0;
}

static factor *new_factor(solver *s, int n, const int *vars,
			  const int64_t *cost, int64_t *own)
{
	factor *f = ARENA_NEW(s->tmp, factor);
	*f = (factor){ n, ARENA_COPY(s->tmp, vars, n), cost, own, false };
	for (int i = 0; i < n; i++) {
		vec_push(s->tmp, &s->at[vars[i]], f);
		s->nlive[vars[i]]++;
	}
	return f;
}

static void kill_factor(solver *s, factor *f)
{
	f->dead = true;
	for (int i = 0; i < f->n; i++)
		s->nlive[f->vars[i]]--;
}

/* Forgets the dead factors of v, when they are many. */
static void sweep(solver *s, int v)
{
	factor_vec *at = &s->at[v];
	int kept = 0;
	if (at->n < 2 * s->nlive[v] + 8)
		return;
	for (int i = 0; i < at->n; i++)
		if (!at->at[i]->dead)
			at->at[kept++] = at->at[i];
	at->n = kept;
}

static factor *find_pair(solver *s, int x, int y)
{
	sweep(s, x);
	sweep(s, y);
	int v = s->at[x].n <= s->at[y].n ? x : y, u = v == x ? y : x;
	for (int i = 0; i < s->at[v].n; i++) {
		factor *f = s->at[v].at[i];
		if (!f->dead && f->n == 2 && factor_other(f, v) == u)
			return f;
	}
	return NULL;
}

/* Adds a table over x and y to what there is for the pair. */
static void add_pair(solver *s, int x, int y, const int64_t *cost,
		     int64_t *own)
{
	factor *f = find_pair(s, x, y);
	if (!f) {
		new_factor(s, 2, (int[]){ x, y }, cost, own);
		return;
	}
	if (!f->own) {
		f->own = ARENA_COPY(s->tmp, f->cost, factor_cells(s, f));
		f->cost = f->own;
	}
	int64_t sx = stride_of(s, f, x), sy = stride_of(s, f, y);
	for (int i = 0; i < s->nvalues[x]; i++)
		for (int j = 0; j < s->nvalues[y]; j++) {
			int64_t *c = &f->own[i * sx + j * sy];
			*c = cost_add(*c, *cost++);
		}
}

/* A variable with one value has no say: its row is the other one's cost. */
static void add_table(solver *s, const problem_table *t)
{
	int nx = s->nvalues[t->x], ny = s->nvalues[t->y];
	if (nx > 1 && ny > 1) {
		add_pair(s, t->x, t->y, t->cost, NULL);
		return;
	}
	int64_t *to = s->unary[ny > 1 ? t->y : t->x];
	for (int i = 0; i < nx * ny; i++)
		to[i] = cost_add(to[i], t->cost[i]);
}

solver solver_new(arena *a, arena *tmp, const problem *p)
{
	solver s = { .tmp = tmp, .p = p, .n = p->vars.n,
		     .least = p->constant };
	s.nvalues = ARENA_ARRAY(tmp, int, s.n);
	s.unary = ARENA_ARRAY(tmp, int64_t *, s.n);
	s.at = ARENA_ARRAY(tmp, factor_vec, s.n);
	s.nlive = ARENA_ARRAY(tmp, int, s.n);
	s.done = ARENA_ARRAY(tmp, bool, s.n);
	s.value = ARENA_ARRAY(a, int, s.n);
	for (int v = 0; v < s.n; v++) {
		const problem_var *x = &p->vars.at[v];
		s.nvalues[v] = x->nvalues;
		s.unary[v] = ARENA_COPY(tmp, x->cost, x->nvalues);
	}
	for (int i = 0; i < p->tables.n; i++)
		add_table(&s, &p->tables.at[i]);
	return s;
}

/* ---- eliminating ------------------------------------------------------- */

/* The variables that meet x; scope[0..n). */
static int scope_of(solver *s, int x, int_vec *scope)
{
	for (int i = 0; i < s->at[x].n; i++) {
		const factor *f = s->at[x].at[i];
		for (int j = 0; !f->dead && j < f->n; j++) {
			int v = f->vars[j], k = 0;
			while (k < scope->n && scope->at[k] != v)
				k++;
			if (v != x && k == scope->n)
				vec_push(s->tmp, scope, v);
		}
	}
	return scope->n;
}

/* A factor as the sum over x sees it: where its values lie for given values of
 * the scope's variables and x.  The scope's last variable has stride 1, or is
 * not in it. */
typedef struct view {
	const int64_t *cost;
	int64_t stride_x;
	int64_t *stride; /* per variable of the scope but the last */
	int64_t offset;	 /* of the values at hand */
} view;

/* f with its variable y last. */
static const int64_t *turned(solver *s, factor *f, int y)
{
	int64_t step = stride_of(s, f, y), rows = s->nvalues[y];
	int64_t blocks = factor_cells(s, f) / (step * rows);
	int64_t *to = ARENA_ARRAY(s->tmp, int64_t, blocks * step * rows);
	int64_t *at = to;
	for (int64_t b = 0; b < blocks; b++)
		for (int64_t i = 0; i < step; i++)
			for (int64_t r = 0; r < rows; r++)
				*at++ = f->cost[(b * rows + r) * step + i];
	int i = 0;
	while (f->vars[i] != y)
		i++;
	memmove(&f->vars[i], &f->vars[i + 1],
		(size_t)(f->n - 1 - i) * sizeof(*f->vars));
	f->vars[f->n - 1] = y;
	f->cost = f->own = to;
	return to;
}

static view view_of(solver *s, factor *f, int x, const int_vec *scope)
{
	int last = scope->at[scope->n - 1];
	view w = { .cost = f->cost };
	if (stride_of(s, f, last) > 1)
		w.cost = turned(s, f, last);
	w.stride_x = stride_of(s, f, x);
	w.stride = ARENA_ARRAY(s->tmp, int64_t, scope->n);
	for (int i = 0; i + 1 < scope->n; i++)
		w.stride[i] = stride_of(s, f, scope->at[i]);
	return w;
}

/* to[y] = min(to[y], c + sum of the rows [y]), for ny values. */
static void min_rows(int64_t *restrict to, int64_t *restrict sum, int64_t c,
		     const view *rows, int nrows, int x, int ny)
{
	const int64_t *r = rows[0].cost + rows[0].offset + x * rows[0].stride_x;
	if (nrows == 1) {
		minplus_row(to, r, c, ny);
		return;
	}
	for (int y = 0; y < ny; y++)
		sum[y] = cost_clamp(c + r[y]);
	for (int i = 1; i < nrows; i++) {
		r = rows[i].cost + rows[i].offset + x * rows[i].stride_x;
		for (int y = 0; y < ny; y++)
			sum[y] = cost_clamp(sum[y] + r[y]);
	}
	for (int y = 0; y < ny; y++)
		to[y] = sum[y] < to[y] ? sum[y] : to[y];
}

/* Goes on to the next values of the scope's variables but the last. */
static bool advance(const solver *s, const int_vec *scope, int *value,
		    view *views, int nviews)
{
	for (int i = scope->n - 2; i >= 0; i--) {
		bool more = ++value[i] < s->nvalues[scope->at[i]];
		int64_t by = more ? 1 : 1 - value[i];
		for (int k = 0; k < nviews; k++)
			views[k].offset += by * views[k].stride[i];
		if (more)
			return true;
		value[i] = 0;
	}
	return false;
}

/* The least, over the values of x, of the sum of its factors, for all values
 * of the scope's variables. rows are the views with the last variable. */
static void min_sum(solver *s, int x, const int_vec *scope, view *views,
		    int nviews, int nrows, int64_t *to)
{
	int ny = s->nvalues[scope->at[scope->n - 1]];
	int *value = ARENA_ARRAY(s->tmp, int, scope->n);
	int64_t *sum = ARENA_ARRAY(s->tmp, int64_t, ny);
	do {
		for (int y = 0; y < ny; y++)
			to[y] = COST_MAX;
		for (int i = 0; i < s->nvalues[x]; i++) {
			int64_t c = s->unary[x][i];
			for (int k = nrows; k < nviews; k++)
				c = cost_add(c, views[k].cost[
					views[k].offset +
					i * views[k].stride_x]);
			min_rows(to, sum, c, views, nrows, i, ny);
		}
		to += ny;
	} while (advance(s, scope, value, views, nviews));
}

/* Puts the variable with the most values last, where the loops are long. */
static void longest_last(const solver *s, int_vec *scope)
{
	int longest = 0, last = scope->n - 1;
	for (int i = 1; i <= last; i++)
		if (s->nvalues[scope->at[i]] >= s->nvalues[scope->at[longest]])
			longest = i;
	int v = scope->at[longest];
	scope->at[longest] = scope->at[last];
	scope->at[last] = v;
}

static void add_result(solver *s, const int_vec *scope, int64_t *cost,
		       int64_t ncells)
{
	int64_t *to = s->unary[scope->at[0]];
	if (scope->n == 1)
		for (int64_t i = 0; i < ncells; i++)
			to[i] = cost_add(to[i], cost[i]);
	else if (scope->n == 2)
		add_pair(s, scope->at[0], scope->at[1], cost, cost);
	else
		new_factor(s, scope->n, scope->at, cost, cost);
}

/* Collects the factors of x, those with the variable `last` first; returns how
 * many these are. */
static int collect(solver *s, int x, int last, factor_vec *factors)
{
	int nrows = 0;
	for (int rows = 1; rows >= 0; rows--) {
		for (int i = 0; i < s->at[x].n; i++) {
			factor *f = s->at[x].at[i];
			if (!f->dead && (stride_of(s, f, last) > 0) == rows)
				vec_push(s->tmp, factors, f);
		}
		nrows = rows ? factors->n : nrows;
	}
	return nrows;
}

static int64_t least_cost(const solver *s, int x)
{
	int64_t least = COST_MAX;
	for (int i = 0; i < s->nvalues[x]; i++)
		if (s->unary[x][i] < least)
			least = s->unary[x][i];
	return least;
}

/* A variable that meets one other only: adds to that one's costs, and reads the
 * table where it lies. */
static void eliminate_leaf(solver *s, int x, int y, factor *f)
{
	const minplus_scale as_is = { COST_MAX, 0 };
	int64_t *to = ARENA_ARRAY(s->tmp, int64_t, s->nvalues[y]);
	if (f->vars[0] == x)
		minplus_columns(to, f->cost, s->nvalues[x], s->nvalues[y],
				s->unary[x], as_is);
	else
		minplus_rows(to, f->cost, s->nvalues[y], s->nvalues[x],
			     s->unary[x], as_is);
	for (int i = 0; i < s->nvalues[y]; i++)
		s->unary[y][i] = cost_add(s->unary[y][i], cost_clamp(to[i]));
	kill_factor(s, f);
}

void solver_eliminate(solver *s, int x)
{
	int_vec scope = { 0 };
	gone g = { .var = x };
	s->done[x] = true;
	if (!scope_of(s, x, &scope)) {
		s->least = cost_add(s->least, least_cost(s, x));
		vec_push(s->tmp, &s->stack, g);
		return;
	}
	if (scope.n == 1 && s->nlive[x] == 1) {
		collect(s, x, scope.at[0], &g.factors);
		vec_push(s->tmp, &s->stack, g);
		eliminate_leaf(s, x, scope.at[0], g.factors.at[0]);
		return;
	}
	longest_last(s, &scope);
	int nrows = collect(s, x, scope.at[scope.n - 1], &g.factors);
	view *views = ARENA_ARRAY(s->tmp, view, g.factors.n);
	for (int i = 0; i < g.factors.n; i++)
		views[i] = view_of(s, g.factors.at[i], x, &scope);
	int64_t ncells = 1;
	for (int i = 0; i < scope.n; i++)
		ncells *= s->nvalues[scope.at[i]];
	int64_t *to = ARENA_ARRAY(s->tmp, int64_t, ncells);
	min_sum(s, x, &scope, views, g.factors.n, nrows, to);
	for (int i = 0; i < g.factors.n; i++)
		kill_factor(s, g.factors.at[i]);
	vec_push(s->tmp, &s->stack, g);
	add_result(s, &scope, to, ncells);
}

void solver_read_back(solver *s)
{
	for (int k = s->stack.n - 1; k >= 0; k--) {
		const gone *g = &s->stack.at[k];
		int64_t least = INT64_MAX;
		int best = 0;
		for (int i = 0; i < s->nvalues[g->var]; i++) {
			int64_t c = s->unary[g->var][i];
			s->value[g->var] = i;
			for (int j = 0; j < g->factors.n; j++) {
				const factor *f = g->factors.at[j];
				int64_t at = 0;
				for (int d = 0; d < f->n; d++)
					at = at * s->nvalues[f->vars[d]] +
					     s->value[f->vars[d]];
				c = cost_add(c, f->cost[at]);
			}
			if (c < least) {
				least = c;
				best = i;
			}
		}
		s->value[g->var] = best;
	}
}

#include "config.h"

#include "compiler/solver/eliminate.h"

#include <string.h>

#include "compiler/solver/elimination_order.h"
#include "compiler/solver/minplus.h"

static int64_t factor_cells(const eliminator *s, const cost_factor *f)
{
	int64_t n = 1;
	for (int i = 0; i < f->n; i++)
		n *= s->nvalues[f->vars[i]];
	return n;
}

/* The distance of adjacent values of v in f; 0 if v is not in it. */
static int64_t stride_of(const eliminator *s, const cost_factor *f, int v)
{
	int64_t stride = 1;
	for (int i = f->n - 1; i >= 0; i--) {
		if (f->vars[i] == v)
			return stride;
		stride *= s->nvalues[f->vars[i]];
	}
	return 0;
}

static cost_factor *new_factor(eliminator *s, int n, const int *vars,
			       const int64_t *cost, int64_t *own)
{
	cost_factor *f = ARENA_NEW(s->tmp, cost_factor);
	*f = (cost_factor){ n, ARENA_COPY(s->tmp, vars, n), cost, own, false };
	for (int i = 0; i < n; i++) {
		vec_push(s->tmp, &s->at[vars[i]], f);
		s->nlive[vars[i]]++;
	}
	return f;
}

static void kill_factor(eliminator *s, cost_factor *f)
{
	f->dead = true;
	for (int i = 0; i < f->n; i++)
		s->nlive[f->vars[i]]--;
}

/* Drops dead factors of v from its list, if there are many. */
static void sweep(eliminator *s, int v)
{
	cost_factors *at = &s->at[v];
	int kept = 0;
	if (at->n < 2 * s->nlive[v] + 8)
		return;
	for (int i = 0; i < at->n; i++)
		if (!at->at[i]->dead)
			at->at[kept++] = at->at[i];
	at->n = kept;
}

static cost_factor *find_pair(eliminator *s, int x, int y)
{
	sweep(s, x);
	sweep(s, y);
	int v = s->at[x].n <= s->at[y].n ? x : y, u = v == x ? y : x;
	for (int i = 0; i < s->at[v].n; i++) {
		cost_factor *f = s->at[v].at[i];
		if (!f->dead && f->n == 2 && cost_factor_other(f, v) == u)
			return f;
	}
	return NULL;
}

/* The sum of a pair's factor and a table over x and y, both of which must not
 * change from now on. */
static const int64_t *stored_sum(eliminator *s, const cost_factor *f, int x,
				 int y, const int64_t *cost)
{
	int64_t sx = stride_of(s, f, x), sy = stride_of(s, f, y);
	int nx = s->nvalues[x], ny = s->nvalues[y];
	const table_recipe of = { .x = f->cost, .x_turned = f->vars[0] != x,
				  .y = cost, .n = { nx, ny, 0 } };
	uint64_t hash;
	const int64_t *known = table_store_find(&s->made, &of, &hash);
	if (known)
		return known;
	int64_t *sum = ARENA_COPY(s->tmp, f->cost, factor_cells(s, f));
	for (int i = 0; i < nx; i++)
		for (int j = 0; j < ny; j++) {
			int64_t *c = &sum[i * sx + j * sy];
			*c = cost_add(*c, *cost++);
		}
	table_store_add(s->tmp, &s->made, &of, hash, sum);
	return sum;
}

/* Adds a table over x and y to a pair's factor. */
static void add_to_pair(eliminator *s, cost_factor *f, int x, int y,
			const int64_t *cost)
{
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

/* Adds a table over x and y, to the pair's factor if there is one; own: NULL if
 * the table must not be modified. */
static void add_pair(eliminator *s, int x, int y, const int64_t *cost,
		     int64_t *own)
{
	cost_factor *f = find_pair(s, x, y);
	if (!f)
		new_factor(s, 2, (int[]){ x, y }, cost, own);
	else if (!f->own && !own)
		f->cost = stored_sum(s, f, x, y, cost);
	else
		add_to_pair(s, f, x, y, cost);
}

/* Adds a table.  If one variable has a single value, the table's only row, or
 * column, is added to the other variable's costs. */
static void add_table(eliminator *s, const problem_table *t)
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

eliminator eliminator_new(arena *a, arena *tmp, const problem *p)
{
	eliminator s = { .tmp = tmp, .p = p, .n = p->vars.n,
			 .least = p->constant };
	s.nvalues = ARENA_ARRAY(tmp, int, s.n);
	s.unary = ARENA_ARRAY(tmp, int64_t *, s.n);
	s.at = ARENA_ARRAY(tmp, cost_factors, s.n);
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

/* Lists the variables that share a factor with x: scope[0..n). */
static int scope_of(eliminator *s, int x, int_vec *scope)
{
	for (int i = 0; i < s->at[x].n; i++) {
		const cost_factor *f = s->at[x].at[i];
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

/* A factor in the sum over x: the strides of x, of the scope's second to last
 * variable (`row'), of its last one (`column'), and of the others; 0 for a
 * variable that it does not have. */
typedef struct view {
	const int64_t *cost;
	int64_t x, row, column;
	int64_t *stride; /* by variable of the scope, except the last two */
	int64_t offset;	 /* for the current values of these */
} view;

/* The minimum over x of a sum of factors, for all values of a scope.  Its last
 * two variables are done together, as a min-plus product of two tables: the sum
 * of the factors that have the last one, [x][column], and the sum of those that
 * have the other, [x][row].  Factors that have both are added in between. */
typedef struct min_sum {
	eliminator *s;
	int var; /* x */
	const int_vec *scope;
	int64_t nx, nrows, ncolumns;
	view *views;
	int nviews;
	int64_t *rows, *columns, *both;
} min_sum;

/* f transposed so that its variable y is last. */
static const int64_t *turned(eliminator *s, cost_factor *f, int y)
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

static view view_of(eliminator *s, cost_factor *f, int x, const int_vec *scope)
{
	int last = scope->n - 1;
	int64_t row = stride_of(s, f, scope->at[last - 1]);
	int64_t column = stride_of(s, f, scope->at[last]);
	if (row && column > 1)
		turned(s, f, scope->at[last]);
	view w = { .cost = f->cost, .x = stride_of(s, f, x) };
	w.row = stride_of(s, f, scope->at[last - 1]);
	w.column = stride_of(s, f, scope->at[last]);
	w.stride = ARENA_ARRAY(s->tmp, int64_t, scope->n);
	for (int i = 0; i + 2 < scope->n; i++)
		w.stride[i] = stride_of(s, f, scope->at[i]);
	return w;
}

/* Computes the sums for the current values of the other variables. */
static void add_views(min_sum *m)
{
	const int64_t *own = m->s->unary[m->var];
	int64_t width = minplus_padded(m->nrows);
	for (int64_t x = 0; x < m->nx; x++)
		for (int64_t r = 0; r < m->nrows; r++)
			m->rows[x * width + r] = own[x];
	memset(m->columns, 0, (size_t)(m->nx * minplus_padded(m->ncolumns)) *
				      sizeof(*m->columns));
	for (int i = 0; i < m->nviews; i++) {
		const view *v = &m->views[i];
		const int64_t *cost = v->cost + v->offset;
		if (!v->column)
			minplus_add(m->rows, cost, m->nx, v->x, m->nrows,
				    v->row, COST_MAX);
		else if (!v->row)
			minplus_add(m->columns, cost, m->nx, v->x, m->ncolumns,
				    v->column, COST_MAX);
	}
}

/* Computes one row of the result if some factors have both variables. */
static void sum_row(min_sum *m, int64_t r, int64_t *to)
{
	const view *first = NULL;
	const int64_t *rows = NULL;
	int64_t stride = 0;
	for (int i = 0; i < m->nviews; i++) {
		const view *v = &m->views[i];
		if (!v->row || !v->column)
			continue;
		const int64_t *cost = v->cost + v->offset + r * v->row;
		if (!first) {
			first = v;
			rows = cost;
			stride = v->x;
			continue;
		}
		int64_t width = minplus_padded(m->ncolumns);
		for (int64_t x = 0; x < m->nx; x++)
			for (int64_t y = 0; y < m->ncolumns; y++)
				m->both[x * width + y] = cost_clamp(
					rows[x * stride + y] +
					cost[x * v->x + y]);
		rows = m->both;
		stride = width;
	}
	minplus_rows_sum(to, m->rows + r, minplus_padded(m->nrows), rows,
			 stride, m->columns, m->ncolumns, m->nx);
	for (int64_t y = 0; y < m->ncolumns; y++)
		to[y] = cost_clamp(to[y]);
}

/* Advances the values of the scope's variables except the last two. */
static bool advance(const min_sum *m, int *value)
{
	for (int i = m->scope->n - 3; i >= 0; i--) {
		bool more = ++value[i] < m->s->nvalues[m->scope->at[i]];
		int64_t by = more ? 1 : 1 - value[i];
		for (int k = 0; k < m->nviews; k++)
			m->views[k].offset += by * m->views[k].stride[i];
		if (more)
			return true;
		value[i] = 0;
	}
	return false;
}

/* Room for n costs, aligned to 64 bytes, valid until the next call. */
static int64_t *work_space(eliminator *s, int64_t n)
{
	enum { ALIGN = MINPLUS_LANES * sizeof(int64_t) };
	if (n > s->nwork) {
		s->nwork = 2 * n;
		char *at = (char *)ARENA_ARRAY(s->tmp, int64_t,
					       s->nwork + MINPLUS_LANES);
		s->work = (int64_t *)(at + (-(uintptr_t)at & (ALIGN - 1)));
	}
	return s->work;
}

static void find_min_sum(min_sum *m, bool both, int64_t *to)
{
	arena *tmp = m->s->tmp;
	int *value = ARENA_ARRAY(tmp, int, m->scope->n);
	int64_t ncells = m->nrows * m->ncolumns;
	int64_t width = minplus_padded(m->ncolumns);
	m->rows = work_space(m->s, m->nx * (minplus_padded(m->nrows) +
					    (both ? 2 : 1) * width));
	m->columns = m->rows + m->nx * minplus_padded(m->nrows);
	m->both = m->columns + m->nx * width;
	do {
		add_views(m);
		if (!both)
			minplus_product(to, m->rows, m->nrows, m->columns,
					m->ncolumns, m->nx, COST_MAX);
		for (int64_t r = 0; both && r < m->nrows; r++)
			sum_row(m, r, to + r * m->ncolumns);
		to += ncells;
	} while (advance(m, value));
}

static bool meet_in_factor(const eliminator *s, int x, int v, int u)
{
	for (int i = 0; i < s->at[x].n; i++) {
		const cost_factor *f = s->at[x].at[i];
		if (!f->dead && stride_of(s, f, v) && stride_of(s, f, u))
			return true;
	}
	return false;
}

static void move_to(int_vec *scope, int from, int to)
{
	int v = scope->at[from];
	scope->at[from] = scope->at[to];
	scope->at[to] = v;
}

/* Puts the variable with the most values last, where the loops are long; before
 * it, the one with the most values among those that share no factor with it and
 * x.  Returns whether there is no such variable. */
static bool arrange(const eliminator *s, int x, int_vec *scope)
{
	int longest = 0, last = scope->n - 1, best = -1;
	for (int i = 1; i <= last; i++)
		if (s->nvalues[scope->at[i]] >= s->nvalues[scope->at[longest]])
			longest = i;
	move_to(scope, longest, last);
	for (int i = 0; i < last; i++)
		if ((best < 0 || s->nvalues[scope->at[i]] >=
					 s->nvalues[scope->at[best]]) &&
		    !meet_in_factor(s, x, scope->at[i], scope->at[last]))
			best = i;
	if (best >= 0)
		move_to(scope, best, last - 1);
	return best < 0;
}

static int64_t scope_cells(const eliminator *s, const int_vec *scope)
{
	int64_t n = 1;
	for (int i = 0; i < scope->n; i++)
		n *= s->nvalues[scope->at[i]];
	return n;
}

static void add_result(eliminator *s, const int_vec *scope, int64_t *cost,
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

static int64_t least_cost(const eliminator *s, int x)
{
	int64_t least = COST_MAX;
	for (int i = 0; i < s->nvalues[x]; i++)
		if (s->unary[x][i] < least)
			least = s->unary[x][i];
	return least;
}

/* Eliminates a variable with one neighbour: adds to the neighbour's costs,
 * reading the table in place. */
static void eliminate_leaf(eliminator *s, int x, int y, cost_factor *f)
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

static void kill_factors(eliminator *s, const cost_factors *factors)
{
	for (int i = 0; i < factors->n; i++)
		kill_factor(s, factors->at[i]);
}

/* The table over an arranged scope that replaces x and its factors; both: some
 * factors have both of the scope's last variables. */
static int64_t *min_sum_of(eliminator *s, int x, const int_vec *scope,
			   const cost_factors *factors, bool both)
{
	min_sum m = { .s = s, .var = x, .scope = scope, .nviews = factors->n,
		      .nx = s->nvalues[x],
		      .nrows = s->nvalues[scope->at[scope->n - 2]],
		      .ncolumns = s->nvalues[scope->at[scope->n - 1]] };
	m.views = ARENA_ARRAY(s->tmp, view, m.nviews);
	for (int i = 0; i < m.nviews; i++)
		m.views[i] = view_of(s, factors->at[i], x, scope);
	int64_t *to = ARENA_ARRAY(s->tmp, int64_t,
				  scope_cells(s, scope) + MINPLUS_LANES);
	find_min_sum(&m, both, to);
	return to;
}

/* Eliminates a variable with several neighbours: makes a table over these. */
static void eliminate_between(eliminator *s, int x, int_vec *scope,
			      const cost_factors *factors)
{
	bool both = arrange(s, x, scope);
	int64_t *to = min_sum_of(s, x, scope, factors, both);
	kill_factors(s, factors);
	add_result(s, scope, to, scope_cells(s, scope));
}

/* Eliminates a variable that has two neighbours and a table with each: as
 * eliminate_between(), but reuses the result for equal tables.  Returns false
 * if that is not worth while. */
static bool eliminate_pair(eliminator *s, int x, int_vec *scope,
			   const cost_factors *factors)
{
	cost_factor *f = factors->at[0], *g = factors->at[1];
	if (factors->n != 2 || f->n != 2 || g->n != 2 || f->own || g->own)
		return false;
	arrange(s, x, scope);
	int row = scope->at[0], column = scope->at[1];
	if (cost_factor_other(f, x) != row) {
		f = factors->at[1];
		g = factors->at[0];
	}
	const table_recipe of = {
		f->cost, g->cost, f->vars[0] != x, g->vars[0] != x,
		{ s->nvalues[x], s->nvalues[row], s->nvalues[column] },
		s->unary[x] };
	uint64_t hash;
	const int64_t *to = table_store_find(&s->made, &of, &hash);
	if (!to) {
		to = min_sum_of(s, x, scope, factors, false);
		table_store_add(s->tmp, &s->made, &of, hash, to);
	}
	kill_factors(s, factors);
	add_pair(s, row, column, to, NULL);
	return true;
}

void eliminator_eliminate(eliminator *s, int x)
{
	int_vec scope = { 0 };
	gone g = { .var = x };
	s->done[x] = true;
	if (!scope_of(s, x, &scope)) {
		s->least = cost_add(s->least, least_cost(s, x));
		vec_push(s->tmp, &s->stack, g);
		return;
	}
	for (int i = 0; i < s->at[x].n; i++)
		if (!s->at[x].at[i]->dead)
			vec_push(s->tmp, &g.factors, s->at[x].at[i]);
	vec_push(s->tmp, &s->stack, g);
	if (scope.n == 1)
		eliminate_leaf(s, x, scope.at[0], g.factors.at[0]);
	else if (scope.n > 2 || !eliminate_pair(s, x, &scope, &g.factors))
		eliminate_between(s, x, &scope, &g.factors);
}

/* Adds to sum[i] the cost of f with value i of v, given the values of its other
 * variables. */
static void add_given(const eliminator *s, const cost_factor *f, int v,
		      int64_t *sum)
{
	int64_t at = 0, stride = 0, step = 1;
	for (int d = f->n - 1; d >= 0; d--) {
		if (f->vars[d] == v)
			stride = step;
		else
			at += s->value[f->vars[d]] * step;
		step *= s->nvalues[f->vars[d]];
	}
	for (int i = 0; i < s->nvalues[v]; i++)
		sum[i] = cost_add(sum[i], f->cost[at + i * stride]);
}

void eliminator_read_back(eliminator *s)
{
	for (int k = s->stack.n - 1; k >= 0; k--) {
		const gone *g = &s->stack.at[k];
		int64_t *sum = s->unary[g->var];
		int best = 0;
		for (int j = 0; j < g->factors.n; j++)
			add_given(s, g->factors.at[j], g->var, sum);
		for (int i = 1; i < s->nvalues[g->var]; i++)
			if (sum[i] < sum[best])
				best = i;
		s->value[g->var] = best;
	}
}

#include "config.h"

#include "compiler/solver/mini_bucket.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

mini_bucket *mini_bucket_new(arena *a, int nvars, const int *nvalues)
{
	mini_bucket *x = ARENA_NEW(a, mini_bucket);
	*x = (mini_bucket){.arena = a,
			   .nvars = nvars,
			   .nvalues = nvalues,
			   .tables = ARENA_ARRAY(a, mini_bucket_tables, nvars)};
	return x;
}

/* The table of one variable, or of two, lo < hi; lo is -1 for one variable. */
static mini_bucket_table *table_of(mini_bucket *x, int lo, int hi)
{
	mini_bucket_tables *all = &x->tables[hi];
	mini_bucket_table t = { .n = lo < 0 ? 1 : 2, .var = { hi } };
	int n = x->nvalues[hi] * (lo < 0 ? 1 : x->nvalues[lo]);
	if (lo >= 0)
		t = (mini_bucket_table){ .n = 2, .var = { lo, hi } };
	for (int i = 0; i < all->n; i++)
		if (all->at[i].n == t.n && all->at[i].var[0] == t.var[0])
			return &all->at[i];
	t.cost = ARENA_ARRAY(x->arena, double, n);
	vec_push(x->arena, all, t);
	return &all->at[all->n - 1];
}

void mini_bucket_add(mini_bucket *x, int var, const double *cost, double times)
{
	mini_bucket_table *t = table_of(x, -1, var);
	for (int i = 0; i < x->nvalues[var]; i++)
		t->cost[i] += times * cost[i];
}

void mini_bucket_add_pair(mini_bucket *x, int u, int v, const double *cost,
			  double times)
{
	int nu = x->nvalues[u], nv = x->nvalues[v];
	mini_bucket_table *t = u < v ? table_of(x, u, v) : table_of(x, v, u);
	for (int i = 0; i < nu; i++)
		for (int j = 0; j < nv; j++)
			t->cost[u < v ? i * nv + j : j * nu + i] +=
				times * cost[i * nv + j];
}

/* The table of three ascending variables. */
static mini_bucket_table *table_of_three(mini_bucket *x, const int *var)
{
	mini_bucket_tables *all = &x->tables[var[2]];
	mini_bucket_table t = { .n = 3, .var = { var[0], var[1], var[2] } };
	for (int i = 0; i < all->n; i++)
		if (all->at[i].n == 3 && all->at[i].var[0] == var[0] &&
		    all->at[i].var[1] == var[1])
			return &all->at[i];
	t.cost = ARENA_ARRAY(x->arena, double, x->nvalues[var[0]] *
			     x->nvalues[var[1]] * x->nvalues[var[2]]);
	vec_push(x->arena, all, t);
	return &all->at[all->n - 1];
}

void mini_bucket_add_three(mini_bucket *x, const int *vars, const double *cost,
			   double times)
{
	/* by element of vars: its place in the table */
	int var[3], stride[3], at = 0;
	for (int i = 0; i < 3; i++) {
		int place = 0;
		for (int j = 0; j < 3; j++)
			place += vars[j] < vars[i];
		var[place] = vars[i];
	}
	for (int i = 0; i < 3; i++)
		stride[i] = vars[i] == var[2]   ? 1
			    : vars[i] == var[1] ? x->nvalues[var[2]]
						: x->nvalues[var[2]] *
							  x->nvalues[var[1]];
	mini_bucket_table *t = table_of_three(x, var);
	for (int i = 0; i < x->nvalues[vars[0]]; i++)
		for (int j = 0; j < x->nvalues[vars[1]]; j++)
			for (int k = 0; k < x->nvalues[vars[2]]; k++)
				t->cost[i * stride[0] + j * stride[1] +
					k * stride[2]] += times * cost[at++];
}

static double table_at(const mini_bucket *x, const mini_bucket_table *t,
		       const int *value)
{
	int at = 0;
	for (int i = 0; i < t->n; i++)
		at = at * x->nvalues[t->var[i]] + value[t->var[i]];
	return t->cost[at];
}

static double sum_at(const mini_bucket *x, const mini_bucket_tables *all,
		     const int *value)
{
	double sum = 0;
	for (int i = 0; i < all->n; i++)
		sum += table_at(x, &all->at[i], value);
	return sum;
}

/* ---- elimination ------------------------------------------------------- */

/* Tables that are added before their last variable is minimised out. */
typedef struct bucket {
	mini_bucket_tables tables;
	/* the variables of all tables, ascending */
	int n, var[MINI_BUCKET_MOST_VARS + 1];
} bucket;

/* Adds a table to a bucket, unless the sum becomes too large. */
static bool bucket_take(const mini_bucket *x, arena *a, bucket *b,
			const mini_bucket_table *t)
{
	int var[2 * MINI_BUCKET_MOST_VARS + 1], n = 0, i = 0, j = 0;
	double cells = 1;
	while (i < b->n || j < t->n) {
		int v = j == t->n || (i < b->n && b->var[i] < t->var[j])
				? b->var[i] : t->var[j];
		i += i < b->n && b->var[i] == v;
		j += j < t->n && t->var[j] == v;
		cells *= x->nvalues[v];
		var[n++] = v;
	}
	if (b->tables.n > 0 &&
	    (n > MINI_BUCKET_MOST_VARS || cells > MINI_BUCKET_MOST_CELLS))
		return false;
	memcpy(b->var, var, sizeof(*var) * (size_t)n);
	b->n = n;
	vec_push(a, &b->tables, *t);
	return true;
}

/* The next values of n variables, the last varying fastest; false after the
 * last. */
static bool next_values(const mini_bucket *x, const int *var, int n, int *value)
{
	for (int i = n; i-- > 0;) {
		if (++value[var[i]] < x->nvalues[var[i]])
			return true;
		value[var[i]] = 0;
	}
	return false;
}

/* The table of a bucket after minimising out its last variable. */
static mini_bucket_table minimum(const mini_bucket *x, arena *a,
				 const bucket *b, int *value)
{
	mini_bucket_table t = { .n = b->n - 1 };
	int last = b->var[b->n - 1], at = 0;
	int64_t cells = 1;
	for (int i = 0; i < t.n; i++) {
		t.var[i] = b->var[i];
		cells *= x->nvalues[b->var[i]];
		value[b->var[i]] = 0;
	}
	double *cost = ARENA_ARRAY(a, double, cells);
	do {
		double least = INFINITY;
		for (value[last] = 0; value[last] < x->nvalues[last];
		     value[last]++)
			least = fmin(least, sum_at(x, &b->tables, value));
		cost[at++] = least;
	} while (next_values(x, t.var, t.n, value));
	t.cost = cost;
	return t;
}

static void send(mini_bucket *x, arena *a, int var, int *value)
{
	VEC(bucket) all = { 0 };
	mini_bucket_tables *mine[] = { &x->tables[var], &x->received[var] };
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < mine[i]->n; j++) {
			int at = 0;
			while (at < all.n && !bucket_take(x, a, &all.at[at],
							  &mine[i]->at[j]))
				at++;
			if (at < all.n)
				continue;
			bucket fresh = { 0 };
			bucket_take(x, a, &fresh, &mine[i]->at[j]);
			vec_push(a, &all, fresh);
		}
	for (int i = 0; i < all.n; i++) {
		mini_bucket_table t = minimum(x, a, &all.at[i], value);
		vec_push(a, &x->sent[var], t);
		if (t.n > 0)
			vec_push(a, &x->received[t.var[t.n - 1]], t);
		else
			x->least += t.cost[0];
	}
}

void mini_bucket_solve(mini_bucket *x, arena *a)
{
	int *value = ARENA_ARRAY(a, int, x->nvars);
	x->sent = ARENA_ARRAY(a, mini_bucket_tables, x->nvars);
	x->received = ARENA_ARRAY(a, mini_bucket_tables, x->nvars);
	x->least = x->constant;
	for (int var = x->nvars; var-- > 0;)
		send(x, a, var, value);
}

double mini_bucket_step(const mini_bucket *x, int var, const int *value,
			double before)
{
	return before + sum_at(x, &x->tables[var], value) +
	       sum_at(x, &x->received[var], value) -
	       sum_at(x, &x->sent[var], value);
}

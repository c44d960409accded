/* Writes a strategy problem as a 0-1 program. */
#include "config.h"

#include <inttypes.h>

#include "base/checked.h"
#include "compiler/solver/ilp.h"

static int values(const problem *p, int var)
{
	return p->vars.at[var].nvalues;
}

static int64_t divisor(const problem *p)
{
	int64_t g = 0;
	for (int v = 0; v < p->vars.n; v++)
		for (int i = 0; i < values(p, v); i++)
			g = common_divisor(g, p->vars.at[v].cost[i]);
	for (int t = 0; t < p->tables.n; t++) {
		const problem_table *x = &p->tables.at[t];
		int n = values(p, x->x) * values(p, x->y);
		for (int i = 0; i < n; i++)
			if (x->cost[i] < COST_MAX)
				g = common_divisor(g, x->cost[i]);
	}
	return g ? g : 1;
}

int64_t ilp_columns(const problem *p)
{
	int64_t n = 0;
	for (int v = 0; v < p->vars.n; v++)
		n += values(p, v);
	for (int t = 0; t < p->tables.n; t++)
		n += (int64_t)values(p, p->tables.at[t].x) *
		     values(p, p->tables.at[t].y);
	return n;
}

/* The rows: each variable has one value; for a table, the entries of a value
 * sum to its column.  The latter is omitted where the other variable has a
 * single value. */
static void write_rows(const problem *p, FILE *f)
{
	fputs("ROWS\n N cost\n", f);
	for (int v = 0; v < p->vars.n; v++)
		fprintf(f, " E v%d\n", v);
	for (int t = 0; t < p->tables.n; t++) {
		const problem_table *x = &p->tables.at[t];
		for (int i = 0; i < values(p, x->x); i++)
			fprintf(f, " E r%d_%d\n", t, i);
		for (int j = 0; j < values(p, x->y); j++)
			fprintf(f, " E c%d_%d\n", t, j);
	}
}

static void write_cost(FILE *f, const char *column, int64_t cost)
{
	if (cost)
		fprintf(f, " %s cost %" PRId64 "\n", column, cost);
}

/* Writes the columns of a variable's values, in the rows of its tables
 * at[0..n). */
static void write_variable(const problem *p, FILE *f, int v, const int *at,
			   int n, int64_t unit)
{
	for (int i = 0; i < values(p, v); i++) {
		char name[40];
		snprintf(name, sizeof(name), "x%d_%d", v, i);
		write_cost(f, name, p->vars.at[v].cost[i] / unit);
		fprintf(f, " %s v%d 1\n", name, v);
		for (int t = 0; t < n; t++) {
			bool row = p->tables.at[at[t]].x == v;
			fprintf(f, " %s %c%d_%d -1\n", name, row ? 'r' : 'c',
				at[t], i);
		}
	}
}

/* Impossible pairs have no column, as if it were fixed to 0. */
static void write_table(const problem *p, FILE *f, int t, int64_t unit)
{
	const problem_table *x = &p->tables.at[t];
	int n = values(p, x->y);
	for (int i = 0; i < values(p, x->x); i++)
		for (int j = 0; j < n; j++) {
			char name[60];
			if (x->cost[i * n + j] == COST_MAX)
				continue;
			snprintf(name, sizeof(name), "y%d_%d_%d", t, i, j);
			write_cost(f, name, x->cost[i * n + j] / unit);
			fprintf(f, " %s r%d_%d 1\n %s c%d_%d 1\n", name, t, i,
				name, t, j);
		}
}

/* Lists the tables of each variable; those of v are from first[v] to first[v +
 * 1]. */
static int *tables_of(arena *a, const problem *p, int *first)
{
	int *at = ARENA_ARRAY(a, int, 2 * (size_t)p->tables.n + 1);
	int *next = ARENA_ARRAY(a, int, p->vars.n + 1);
	for (int t = 0; t < p->tables.n; t++) {
		first[p->tables.at[t].x + 1]++;
		first[p->tables.at[t].y + 1]++;
	}
	for (int v = 0; v < p->vars.n; v++) {
		first[v + 1] += first[v];
		next[v] = first[v];
	}
	for (int t = 0; t < p->tables.n; t++) {
		at[next[p->tables.at[t].x]++] = t;
		at[next[p->tables.at[t].y]++] = t;
	}
	return at;
}

void ilp_write(const problem *p, FILE *f)
{
	arena *tmp = arena_new();
	int *first = ARENA_ARRAY(tmp, int, p->vars.n + 1);
	const int *at = tables_of(tmp, p, first);
	int64_t unit = divisor(p);
	fputs("NAME strategy\n", f);
	write_rows(p, f);
	fputs("COLUMNS\n m1 'MARKER' 'INTORG'\n", f);
	for (int v = 0; v < p->vars.n; v++)
		write_variable(p, f, v, at + first[v],
			       first[v + 1] - first[v], unit);
	fputs(" m2 'MARKER' 'INTEND'\n", f);
	for (int t = 0; t < p->tables.n; t++)
		write_table(p, f, t, unit);
	fputs("RHS\n", f);
	for (int v = 0; v < p->vars.n; v++)
		fprintf(f, " one v%d 1\n", v);
	fputs("BOUNDS\n", f);
	for (int v = 0; v < p->vars.n; v++)
		for (int i = 0; i < values(p, v); i++)
			fprintf(f, " BV b x%d_%d\n", v, i);
	fputs("ENDATA\n", f);
	arena_free(tmp);
}

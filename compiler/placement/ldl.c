#include "config.h"

#include "compiler/placement/ldl.h"

#include <stdbool.h>

#include "base/vec.h"

struct ldl {
	int n;
	int *at;    /* by row: its place in the order */
	/* of the upper triangle in this order: column k has entries first[k] ..
	 * [k + 1] */
	int *first;
	int *row, *source; /* by entry: its row, its number for callers */
	int *parent;	   /* elimination tree; -1 */
	int *begin, *fill; /* by column of L: first entry, number of entries */
	int *index;
	double *value, *d; /* L without its diagonal of ones; D */
	double *work;
	int *mark, *path;
};

/* ---- the order ----------------------------------------------------------- */

typedef VEC(int) ints;

/* The graph of the remaining rows.  Two rows are neighbours if one has the
 * other in `near', or if both are in one element, which is the set of former
 * neighbours of an eliminated row. */
typedef struct quotient {
	arena *a;
	int n;
	ints *near, *elements; /* by row */
	ints *members;	       /* by row of the element */
	/* by element: members not adjacent to the row that is eliminated now */
	int *outside;
	int *stamp, *mark;
	bool *gone, *absorbed;
	int *degree, *head, *next, *back; /* lists of rows by degree */
	int least;
	int64_t work; /* multiplications of the factors, and steps here */
} quotient;

static void unlist(quotient *q, int i)
{
	if (q->back[i] >= 0)
		q->next[q->back[i]] = q->next[i];
	else
		q->head[q->degree[i]] = q->next[i];
	if (q->next[i] >= 0)
		q->back[q->next[i]] = q->back[i];
}

static void list(quotient *q, int i, int degree)
{
	degree = degree < q->n ? degree : q->n - 1;
	q->degree[i] = degree;
	q->back[i] = -1;
	q->next[i] = q->head[degree];
	if (q->next[i] >= 0)
		q->back[q->next[i]] = i;
	q->head[degree] = i;
	q->least = degree < q->least ? degree : q->least;
}

/* Rows with so many entries come last; otherwise they would be visited all the
 * time. */
static int dense(int n)
{
	int root = 1;
	while (root * root < n)
		root++;
	return 16 + 4 * root;
}

static quotient quotient_new(arena *a, int n, const ldl_place *places,
			     int nplaces)
{
	quotient q = { .a = a, .n = n, .near = ARENA_ARRAY(a, ints, n),
		       .elements = ARENA_ARRAY(a, ints, n),
		       .members = ARENA_ARRAY(a, ints, n),
		       .outside = ARENA_ARRAY(a, int, n),
		       .stamp = ARENA_ARRAY(a, int, n),
		       .mark = ARENA_ARRAY(a, int, n),
		       .gone = ARENA_ARRAY(a, bool, n),
		       .absorbed = ARENA_ARRAY(a, bool, n),
		       .degree = ARENA_ARRAY(a, int, n),
		       .head = ARENA_ARRAY(a, int, n),
		       .next = ARENA_ARRAY(a, int, n),
		       .back = ARENA_ARRAY(a, int, n), .least = n,
		       .work = 8 * ((int64_t)n + nplaces) };
	for (int i = 0; i < nplaces; i++) {
		vec_push(a, &q.near[places[i].i], places[i].j);
		vec_push(a, &q.near[places[i].j], places[i].i);
	}
	for (int i = 0; i < n; i++)
		q.head[i] = q.stamp[i] = q.mark[i] = -1;
	for (int i = n; i-- > 0;) {
		q.gone[i] = q.near[i].n > dense(n);
		if (!q.gone[i])
			list(&q, i, q.near[i].n);
	}
	return q;
}

/* Adds rows that remain and are not marked yet. */
static void gather(quotient *q, int p, const ints *rows, ints *to)
{
	for (int i = 0; i < rows->n; i++) {
		int v = rows->at[i];
		if (q->gone[v] || q->mark[v] == p)
			continue;
		q->mark[v] = p;
		vec_push(q->a, to, v);
	}
}

/* The number of remaining members of an element. */
static int count_left(quotient *q, int e)
{
	ints *of = &q->members[e];
	int n = 0;
	q->work += of->n;
	for (int i = 0; i < of->n; i++)
		if (!q->gone[of->at[i]])
			of->at[n++] = of->at[i];
	of->n = n;
	return n;
}

/* Makes the neighbours of p an element.  It replaces the elements that contain
 * p. */
static void make_element(quotient *q, int p)
{
	ints *e = &q->members[p];
	q->gone[p] = true;
	q->mark[p] = p;
	gather(q, p, &q->near[p], e);
	for (int i = 0; i < q->elements[p].n; i++) {
		int old = q->elements[p].at[i];
		gather(q, p, &q->members[old], e);
		q->absorbed[old] = true;
	}
	for (int i = 0; i < e->n; i++) {
		const ints *of = &q->elements[e->at[i]];
		for (int k = 0; k < of->n; k++) {
			int o = of->at[k];
			if (q->stamp[o] != p)
				q->outside[o] = count_left(q, o);
			q->stamp[o] = p;
			q->outside[o]--;
		}
		q->work += of->n;
	}
	q->work += (int64_t)e->n * e->n;
}

/* Row i is in element p now; removes what p implies from elsewhere. */
static void update(quotient *q, int p, int i)
{
	ints *near = &q->near[i], *of = &q->elements[i];
	int n = 0, m = 0, degree = q->members[p].n - 1;
	q->work += near->n + of->n;
	for (int k = 0; k < near->n; k++)
		if (!q->gone[near->at[k]] && q->mark[near->at[k]] != p)
			near->at[n++] = near->at[k];
	near->n = n;
	for (int k = 0; k < of->n; k++) {
		int e = of->at[k];
		q->absorbed[e] |= q->outside[e] == 0;
		if (q->absorbed[e])
			continue;
		degree += q->outside[e];
		of->at[m++] = e;
	}
	of->n = m;
	vec_push(q->a, of, p);
	unlist(q, i);
	list(q, i, degree + n);
}

/* Orders the rows.  Returns whether the factors take at most `most'
 * multiplications. */
static bool order_rows(ldl *f, const ldl_place *places, int nplaces,
		       int64_t most)
{
	arena *a = arena_new();
	quotient q = quotient_new(a, f->n, places, nplaces);
	int k = 0, last = f->n;
	for (int i = 0; i < f->n; i++)
		if (q.gone[i])
			f->at[i] = --last;
	int64_t full = f->n - last;
	q.work += full * full * full;
	for (; k < last && q.work <= most; k++) {
		while (q.head[q.least] < 0)
			q.least++;
		int p = q.head[q.least];
		unlist(&q, p);
		f->at[p] = k;
		make_element(&q, p);
		for (int i = 0; i < q.members[p].n; i++)
			update(&q, p, q.members[p].at[i]);
	}
	arena_free(a);
	return k == last && q.work <= most;
}

/* ---- the pattern --------------------------------------------------------- */

static int column_of(const ldl *f, ldl_place p)
{
	return f->at[p.i] > f->at[p.j] ? f->at[p.i] : f->at[p.j];
}

static void sort_places(ldl *f, arena *a, const ldl_place *places, int n)
{
	f->first = ARENA_ARRAY(a, int, f->n + 2);
	f->row = ARENA_ARRAY(a, int, n);
	f->source = ARENA_ARRAY(a, int, n);
	for (int i = 0; i < n; i++)
		f->first[column_of(f, places[i]) + 2]++;
	for (int k = 0; k < f->n; k++)
		f->first[k + 2] += f->first[k + 1];
	for (int i = 0; i < n; i++) {
		int c = column_of(f, places[i]), to = f->first[c + 1]++;
		f->row[to] = f->at[places[i].i] + f->at[places[i].j] - c;
		f->source[to] = i;
	}
}

/* The columns of L with an entry in row k, children before parents, as path[top
 * .. n).  Sets `parent' where it is not known yet. */
static int list_row(ldl *f, int k)
{
	int top = f->n;
	f->mark[k] = k;
	for (int e = f->first[k]; e < f->first[k + 1]; e++) {
		int n = 0;
		for (int i = f->row[e]; f->mark[i] != k; i = f->parent[i]) {
			if (f->parent[i] < 0)
				f->parent[i] = k;
			f->path[n++] = i;
			f->mark[i] = k;
		}
		while (n > 0)
			f->path[--top] = f->path[--n];
	}
	return top;
}

ldl *ldl_new(arena *a, int n, const ldl_place *places, int nplaces,
	     int64_t most)
{
	ldl *f = ARENA_NEW(a, ldl);
	f->n = n;
	f->at = ARENA_ARRAY(a, int, n);
	if (!order_rows(f, places, nplaces, most))
		return NULL;
	sort_places(f, a, places, nplaces);
	f->parent = ARENA_ARRAY(a, int, n);
	f->begin = ARENA_ARRAY(a, int, n + 1);
	f->fill = ARENA_ARRAY(a, int, n);
	f->mark = ARENA_ARRAY(a, int, n);
	f->path = ARENA_ARRAY(a, int, n);
	for (int k = 0; k < n; k++)
		f->parent[k] = f->mark[k] = -1;
	for (int k = 0; k < n; k++)
		for (int i = list_row(f, k); i < n; i++)
			f->begin[f->path[i] + 1]++;
	for (int k = 0; k < n; k++)
		f->begin[k + 1] += f->begin[k];
	f->index = ARENA_ARRAY(a, int, f->begin[n]);
	f->value = ARENA_ARRAY(a, double, f->begin[n]);
	f->d = ARENA_ARRAY(a, double, n);
	f->work = ARENA_ARRAY(a, double, n);
	return f;
}

/* ---- the factors --------------------------------------------------------- */

/* Computes row k of L and D from row k of the matrix, column by column. */
static void factor_row(ldl *f, int k, double diagonal, const double *value)
{
	double *y = f->work, d = diagonal;
	int top = list_row(f, k);
	for (int e = f->first[k]; e < f->first[k + 1]; e++)
		y[f->row[e]] += value[f->source[e]];
	for (; top < f->n; top++) {
		int i = f->path[top], end = f->begin[i] + f->fill[i]++;
		double yi = y[i], x = yi / f->d[i];
		y[i] = 0;
		for (int p = f->begin[i]; p < end; p++)
			y[f->index[p]] -= f->value[p] * yi;
		d -= x * yi;
		f->index[end] = k;
		f->value[end] = x;
	}
	f->d[k] = d;
}

void ldl_factor(ldl *f, const double *diagonal, const double *value)
{
	for (int k = 0; k < f->n; k++) {
		f->mark[k] = -1;
		f->fill[k] = 0;
	}
	for (int i = 0; i < f->n; i++)
		f->work[f->at[i]] = diagonal[i];
	double *d = f->d;
	for (int k = 0; k < f->n; k++) {
		d[k] = f->work[k];
		f->work[k] = 0;
	}
	for (int k = 0; k < f->n; k++)
		factor_row(f, k, d[k], value);
}

void ldl_solve(const ldl *f, double *x)
{
	double *y = f->work;
	for (int i = 0; i < f->n; i++)
		y[f->at[i]] = x[i];
	for (int k = 0; k < f->n; k++)
		for (int p = f->begin[k]; p < f->begin[k + 1]; p++)
			y[f->index[p]] -= f->value[p] * y[k];
	for (int k = f->n; k-- > 0;) {
		y[k] /= f->d[k];
		for (int p = f->begin[k]; p < f->begin[k + 1]; p++)
			y[k] -= f->value[p] * y[f->index[p]];
	}
	for (int i = 0; i < f->n; i++)
		x[i] = y[f->at[i]];
	for (int k = 0; k < f->n; k++)
		y[k] = 0;
}

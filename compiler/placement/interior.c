#include "config.h"

#include "compiler/placement/interior.h"

#include <math.h>
#include <string.h>

#include "compiler/placement/ldl.h"

enum { MOST_STEPS = 200 };

#define ENOUGH 1e-9 /* accepted gap and residuals */
#define REGULAR 1e-7 /* added to diagonals so that no pivot vanishes */

/* The program with slacks w of rows and z of columns, and multipliers y of
 * rows:
 *	A x - w = bound    A' y + z = cost    w y = 0    x z = 0 */
typedef struct solver {
	const linear_program *p;
	int n, m; /* columns; rows */
	double *x, *z, *y, *w;
	double *dx, *dz, *dy, *dw;
	double *rows, *columns; /* residuals of the first two equations */
	double *wy, *xz;	/* wanted values of w y and x z */
	ldl *factors;		/* for columns, then rows */
	double *diagonal, *right, *left;
} solver;

static solver *solver_new(arena *a, const linear_program *p, int64_t most)
{
	solver *s = ARENA_NEW(a, solver);
	int n = p->ncols, m = p->nrows, k = p->first[m];
	double **of_columns[] = { &s->x, &s->z, &s->dx, &s->dz, &s->columns,
				  &s->xz };
	double **of_rows[] = { &s->y, &s->w, &s->dy, &s->dw, &s->rows, &s->wy };
	ldl_place *places = ARENA_ARRAY(a, ldl_place, k);
	s->p = p;
	s->n = n;
	s->m = m;
	for (int i = 0; i < 6; i++) {
		*of_columns[i] = ARENA_ARRAY(a, double, n);
		*of_rows[i] = ARENA_ARRAY(a, double, m);
	}
	s->diagonal = ARENA_ARRAY(a, double, n + m);
	s->right = ARENA_ARRAY(a, double, n + m);
	s->left = ARENA_ARRAY(a, double, n + m);
	for (int r = 0; r < m; r++)
		for (int e = p->first[r]; e < p->first[r + 1]; e++)
			places[e] = (ldl_place){ n + r, p->column[e] };
	s->factors = ldl_new(a, n + m, places, k, most);
	for (int i = 0; i < n; i++)
		s->x[i] = s->z[i] = 1;
	for (int r = 0; r < m; r++)
		s->y[r] = s->w[r] = 1;
	return s->factors ? s : NULL;
}

/* Computes rows += sign * A x; columns += sign * A' y. */
static void multiply(const linear_program *p, double sign, const double *x,
		     const double *y, double *columns, double *rows)
{
	for (int r = 0; r < p->nrows; r++) {
		double sum = 0;
		for (int e = p->first[r]; e < p->first[r + 1]; e++) {
			sum += p->value[e] * x[p->column[e]];
			columns[p->column[e]] += sign * p->value[e] * y[r];
		}
		rows[r] += sign * sum;
	}
}

static double largest(const double *x, int n)
{
	double most = 0;
	for (int i = 0; i < n; i++)
		most = fabs(x[i]) > most ? fabs(x[i]) : most;
	return most;
}

/* The mean of w y and x z after a step of these lengths. */
static double mean_product(const solver *s, double primal, double dual)
{
	double sum = 0;
	for (int i = 0; i < s->n; i++)
		sum += (s->x[i] + primal * s->dx[i]) *
		       (s->z[i] + dual * s->dz[i]);
	for (int r = 0; r < s->m; r++)
		sum += (s->w[r] + primal * s->dw[r]) *
		       (s->y[r] + dual * s->dy[r]);
	return sum / (s->n + s->m);
}

static void find_residuals(solver *s)
{
	for (int i = 0; i < s->n; i++)
		s->columns[i] = s->p->cost[i] - s->z[i];
	for (int r = 0; r < s->m; r++)
		s->rows[r] = s->p->bound[r] + s->w[r];
	multiply(s->p, -1, s->x, s->y, s->columns, s->rows);
}

static void factor(solver *s)
{
	for (int i = 0; i < s->n; i++)
		s->diagonal[i] = -s->z[i] / s->x[i] - REGULAR;
	for (int r = 0; r < s->m; r++)
		s->diagonal[s->n + r] = s->w[r] / s->y[r] + REGULAR;
	ldl_factor(s->factors, s->diagonal, s->p->value);
}

/* Subtracts the matrix without REGULAR times dx and dy from `left'. */
static void subtract_product(solver *s)
{
	for (int i = 0; i < s->n; i++)
		s->left[i] += s->z[i] / s->x[i] * s->dx[i];
	for (int r = 0; r < s->m; r++)
		s->left[s->n + r] -= s->w[r] / s->y[r] * s->dy[r];
	multiply(s->p, -1, s->dx, s->dy, s->left, s->left + s->n);
}

/* Finds the step that solves the linearised equations:
 *	-(z / x) dx + A' dy = columns - xz / x
 *	A dx + (w / y) dy = rows + wy / y,
 * refined once. */
static void find_step(solver *s)
{
	int n = s->n, m = s->m;
	for (int i = 0; i < n; i++)
		s->right[i] = s->columns[i] - s->xz[i] / s->x[i];
	for (int r = 0; r < m; r++)
		s->right[n + r] = s->rows[r] + s->wy[r] / s->y[r];
	memset(s->dx, 0, sizeof(*s->dx) * (size_t)n);
	memset(s->dy, 0, sizeof(*s->dy) * (size_t)m);
	for (int round = 0; round < 2; round++) {
		memcpy(s->left, s->right, sizeof(double) * (size_t)(n + m));
		if (round > 0)
			subtract_product(s);
		ldl_solve(s->factors, s->left);
		for (int i = 0; i < n; i++)
			s->dx[i] += s->left[i];
		for (int r = 0; r < m; r++)
			s->dy[r] += s->left[n + r];
	}
	for (int i = 0; i < n; i++)
		s->dz[i] = (s->xz[i] - s->z[i] * s->dx[i]) / s->x[i];
	for (int r = 0; r < m; r++)
		s->dw[r] = (s->wy[r] - s->w[r] * s->dy[r]) / s->y[r];
}

/* The fraction of a step, at most `most', that keeps x positive. */
static double length(double most, const double *x, const double *dx, int n)
{
	for (int i = 0; i < n; i++)
		if (dx[i] < 0 && x[i] + most * dx[i] < 0)
			most = -x[i] / dx[i];
	return most;
}

static double primal_length(const solver *s)
{
	return length(length(1, s->x, s->dx, s->n), s->w, s->dw, s->m);
}

static double dual_length(const solver *s)
{
	return length(length(1, s->z, s->dz, s->n), s->y, s->dy, s->m);
}

static void advance(double *x, const double *dx, int n, double length)
{
	for (int i = 0; i < n; i++)
		x[i] += length * dx[i];
}

/* First aims at products of 0.  From how far that would lead, chooses equal
 * products to aim at, with the second-order error corrected. */
static void step(solver *s, double mean)
{
	for (int i = 0; i < s->n; i++)
		s->xz[i] = -s->x[i] * s->z[i];
	for (int r = 0; r < s->m; r++)
		s->wy[r] = -s->w[r] * s->y[r];
	factor(s);
	find_step(s);
	double left = mean_product(s, primal_length(s), dual_length(s)) / mean;
	double target = left * left * left * mean;
	for (int i = 0; i < s->n; i++)
		s->xz[i] += target - s->dx[i] * s->dz[i];
	for (int r = 0; r < s->m; r++)
		s->wy[r] += target - s->dw[r] * s->dy[r];
	find_step(s);
	double primal = 0.995 * primal_length(s);
	double dual = 0.995 * dual_length(s);
	advance(s->x, s->dx, s->n, primal);
	advance(s->w, s->dw, s->m, primal);
	advance(s->z, s->dz, s->n, dual);
	advance(s->y, s->dy, s->m, dual);
}

double *interior_solve(arena *a, const linear_program *p, int64_t most)
{
	arena *work = arena_new();
	solver *s = solver_new(work, p, most);
	double *x = NULL;
	for (int i = 0; s && !x && i < MOST_STEPS; i++) {
		double mean = mean_product(s, 0, 0);
		find_residuals(s);
		double off = fmax(largest(s->rows, s->m),
				  largest(s->columns, s->n));
		if (!isfinite(mean) || !isfinite(off))
			break;
		if (mean * (s->n + s->m) < ENOUGH && off < ENOUGH)
			x = ARENA_COPY(a, s->x, s->n);
		else
			step(s, mean);
	}
	arena_free(work);
	return x;
}

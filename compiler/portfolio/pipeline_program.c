#include "config.h"

#include "compiler/portfolio/pipeline_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Longest times that are tried.  If there would have to be more, nothing is
 * proven. */
enum { MOST_TIMES = 512 };

/* The weight of the longest stage where nothing else counts. */
#define ONLY_LONGEST 1e6

typedef struct range {
	int begin, end;
} range;

typedef struct program {
	arena *tmp;
	const pipeline_problem *p;
	int nstages; /* if micro-batches in flight depend on it; otherwise 0 */
	int most;    /* most stages */
	/* of groups: index of those that begin at group a */
	int nranges, *first_range;
	range *ranges;
	double *between; /* at j (groups + 1) + b */
	double **cost; /* at [behind * nranges + range], by i (n + 1) + j */
	double *sum;   /* at [(behind (n + 1) + i) (groups + 1) + a] */
	double *times; /* sorted */
	int ntimes;
	int left; /* times that may still be tried */
} program;

static int least_of(int x, int y)
{
	return x < y ? x : y;
}

/* The number of times that the longest stage counts besides the sum of all. */
static double weight_of_longest(const program *x)
{
	return x->p->least_longest ? ONLY_LONGEST : x->p->micro_batches - 1;
}

/* ---- tables ------------------------------------------------------------ */

static void find_ranges(program *x)
{
	int n = x->p->ngroups;
	x->first_range = ARENA_ARRAY(x->tmp, int, n + 1);
	x->ranges = ARENA_ARRAY(x->tmp, range, n * (n + 1) / 2 + 1);
	for (int a = 0; a < n; a++) {
		x->first_range[a] = x->nranges;
		int end = x->p->single ? a + 1 : n;
		for (int b = a + 1; b <= end; b++)
			x->ranges[x->nranges++] = (range){ a, b };
	}
	x->first_range[n] = x->nranges;
}

static int in_flight(const program *x, int behind)
{
	int n = x->nstages ? x->nstages : behind + 1;
	return schedule_in_flight(x->p->kind, n - 1 - behind, n, 1,
				  x->p->micro_batches);
}

/* Whether a stage with this many stages after it may have these groups. */
static bool may_be(const program *x, int behind, const range *r)
{
	int left = x->p->ngroups - r->end;
	return behind == 0 ? left == 0
			   : x->p->single ? left == behind : left >= behind;
}

static void fill_costs(program *x)
{
	const pipeline_problem *p = x->p;
	int n = p->nlayers, row = n + 1;
	x->cost = ARENA_ARRAY(x->tmp, double *, x->most * x->nranges);
	for (int s = 0; s < x->most; s++)
		for (int r = 0; r < x->nranges; r++) {
			const range *at = &x->ranges[r];
			if (!may_be(x, s, at))
				continue;
			double *to = ARENA_ARRAY(x->tmp, double,
						 (size_t)row * (size_t)row);
			x->cost[s * x->nranges + r] = to;
			for (int i = 0; i < n; i++)
				for (int j = i + 1; j <= n; j++)
					to[i * row + j] = p->seconds(
						p->of, i, j, at->begin,
						at->end, in_flight(x, s), s);
		}
}

static void fill_between(program *x)
{
	const pipeline_problem *p = x->p;
	int row = p->ngroups + 1;
	x->between = ARENA_ARRAY(x->tmp, double, (p->nlayers + 1) * row);
	for (int j = 1; j < p->nlayers; j++)
		for (int b = 1; b < p->ngroups; b++)
			x->between[j * row + b] = p->between(p->of, j, b);
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

/* Collects the times of all possible stages, each once. */
static void find_times(program *x)
{
	size_t n = 0, m = 0, all = (size_t)(x->p->nlayers + 1);
	int ntables = x->most * x->nranges;
	for (int t = 0; t < ntables; t++)
		n += x->cost[t] ? all * all / 2 + all : 0;
	x->times = ARENA_ARRAY(x->tmp, double, n + 1);
	for (int t = 0; t < ntables; t++)
		for (int i = 0; x->cost[t] && i < x->p->nlayers; i++)
			for (int j = i + 1; j <= x->p->nlayers; j++) {
				double v = x->cost[t][(size_t)i * all +
						      (size_t)j];
				if (v < INFINITY)
					x->times[m++] = v;
			}
	qsort(x->times, m, sizeof(double), by_value);
	for (size_t i = 0; i < m; i++)
		if (x->ntimes == 0 || x->times[i] > x->times[x->ntimes - 1])
			x->times[x->ntimes++] = x->times[i];
}

/* ---- the least sum under a longest time -------------------------------- */

static double *sum_at(const program *x, int behind, int i, int a)
{
	int n = x->p->nlayers + 1, g = x->p->ngroups + 1;
	return &x->sum[((size_t)behind * (size_t)n + (size_t)i) * (size_t)g +
		       (size_t)a];
}

typedef struct step_choice {
	int end, group;
} step_choice;

/* The least sum for layers [i, n) on groups [a, ..) if the first stage has
 * `behind' stages after it.  *to: where that stage ends. */
static double least_sum(const program *x, int behind, int i, int a,
			double longest, step_choice *to)
{
	int n = x->p->nlayers, row = n + 1;
	double best = INFINITY;
	for (int r = x->first_range[a]; r < x->first_range[a + 1]; r++) {
		const double *cost = x->cost[behind * x->nranges + r];
		int b = x->ranges[r].end;
		if (!cost)
			continue;
		for (int j = behind ? i + 1 : n; j <= n - behind; j++) {
			double own = cost[i * row + j];
			if (own > longest)
				continue;
			double all = own;
			if (behind)
				all += x->between[j * (x->p->ngroups + 1) + b] +
				       *sum_at(x, behind - 1, j, b);
			if (all >= best)
				continue;
			best = all;
			*to = (step_choice){ j, b };
		}
	}
	return best;
}

static void fill_sums(const program *x, double longest)
{
	step_choice to;
	for (int s = 0; s < x->most; s++)
		for (int i = 0; i < x->p->nlayers; i++)
			for (int a = 0; a < x->p->ngroups; a++)
				*sum_at(x, s, i, a) = least_sum(
					x, s, i, a, longest, &to);
}

/* ---- the search -------------------------------------------------------- */

static double read_split(arena *a, const program *x, int nstages,
			 double longest, pipeline_split *to)
{
	double most = 0;
	int i = 0, g = 0;
	to->nstages = nstages;
	to->first = ARENA_ARRAY(a, int, nstages + 1);
	to->group = ARENA_ARRAY(a, int, nstages + 1);
	for (int s = nstages; s-- > 0;) {
		step_choice end = { 0 };
		least_sum(x, s, i, g, longest, &end);
		int r = x->first_range[g];
		while (x->ranges[r].end != end.group)
			r++;
		most = fmax(most, x->cost[s * x->nranges + r]
					 [i * (x->p->nlayers + 1) + end.end]);
		i = to->first[nstages - s] = end.end;
		g = to->group[nstages - s] = end.group;
	}
	to->longest = most;
	return most;
}

/* Takes the best split under a longest time if it is better.  Returns the least
 * sum over all numbers of stages. */
static double try_time(arena *a, const program *x, double longest,
		       pipeline_split *best)
{
	double least = INFINITY;
	int from = x->nstages ? x->nstages : x->p->least_stages;
	fill_sums(x, longest);
	for (int s = from; s <= x->most; s++) {
		pipeline_split one = { 0 };
		double sum = *sum_at(x, s - 1, 0, 0);
		least = fmin(least, sum);
		if (sum == INFINITY)
			continue;
		arena *tmp = arena_new();
		double most = read_split(tmp, x, s, longest, &one);
		double all = sum + weight_of_longest(x) * most;
		if (all < best->seconds) {
			bool proven = best->proven;
			read_split(a, x, s, longest, best);
			best->seconds = all;
			best->proven = proven;
		}
		arena_free(tmp);
	}
	return least;
}

/* The index of the first time under which there is a split; ntimes if there is
 * none. */
static int first_possible(arena *a, const program *x, pipeline_split *best)
{
	int low = 0, high = x->ntimes;
	while (low < high) {
		int middle = (low + high) / 2;
		if (try_time(a, x, x->times[middle], best) < INFINITY)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Tries the longest times [lo, hi] that may give something better.  least: the
 * least sum under the last of them, which is a lower bound for the others.
 * Lower bounds for halves of the range exclude most times. */
static void search_range(arena *a, program *x, int lo, int hi, double least,
			 pipeline_split *best)
{
	double more = weight_of_longest(x);
	if (lo >= hi || least + more * x->times[lo] >= best->seconds)
		return;
	if (x->left-- <= 0) {
		best->proven = false;
		return;
	}
	int middle = lo + (hi - lo) / 2;
	double half = try_time(a, x, x->times[middle], best);
	search_range(a, x, lo, middle, half, best);
	search_range(a, x, middle + 1, hi, least, best);
}

static void search_times(arena *a, program *x, pipeline_split *best)
{
	double least = try_time(a, x, INFINITY, best);
	if (least == INFINITY)
		return;
	int first = first_possible(a, x, best);
	x->left = MOST_TIMES;
	search_range(a, x, first, x->ntimes - 1, least, best);
}

/* Makes the tables of a problem, for at most `most' stages.  nstages: as in
 * program. */
static program program_new(const pipeline_problem *p, int nstages, int most)
{
	program x = { .tmp = arena_new(), .p = p, .nstages = nstages,
		      .most = most };
	find_ranges(&x);
	fill_costs(&x);
	fill_between(&x);
	x.sum = ARENA_ARRAY(x.tmp, double,
			    (size_t)most * (size_t)(p->nlayers + 1) *
				    (size_t)(p->ngroups + 1));
	return x;
}

static void solve(arena *a, const pipeline_problem *p, int nstages, int most,
		  pipeline_split *best)
{
	program x = program_new(p, nstages, most);
	find_times(&x);
	search_times(a, &x, best);
	arena_free(x.tmp);
}

static int most_stages(const pipeline_problem *p)
{
	return least_of(p->most_stages, least_of(p->nlayers, p->ngroups));
}

bool pipeline_program_possible(const pipeline_problem *p)
{
	int most = most_stages(p);
	bool found = false;
	if (p->least_stages > most)
		return false;
	program x = program_new(p, 0, most);
	fill_sums(&x, INFINITY);
	for (int s = p->least_stages; s <= most; s++)
		found |= *sum_at(&x, s - 1, 0, 0) < INFINITY;
	arena_free(x.tmp);
	return found;
}

bool pipeline_program_solve(arena *a, const pipeline_problem *p,
			    pipeline_split *best)
{
	int most = most_stages(p);
	*best = (pipeline_split){ .seconds = INFINITY, .proven = true };
	if (p->least_stages > most)
		return false;
	if (p->kind != SCHEDULE_ZB)
		solve(a, p, 0, most, best);
	else
		for (int s = p->least_stages; s <= most; s++)
			solve(a, p, s, s, best);
	return best->seconds < INFINITY;
}

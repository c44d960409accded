#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "compiler/placement/step_boxes.h"

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

double *step_values(arena *a, const double *of, size_t n, double least,
		    double most, int *nvalues)
{
	size_t m = 0;
	int kept = 0;
	for (size_t i = 0; i < n; i++)
		m += of[i] >= least && of[i] <= most;
	double *v = ARENA_ARRAY(a, double, m);
	m = 0;
	for (size_t i = 0; i < n; i++)
		if (of[i] >= least && of[i] <= most)
			v[m++] = of[i];
	if (m > 1)
		qsort(v, m, sizeof(*v), by_value);
	for (size_t i = 0; i < m; i++)
		if (i == 0 || v[i] != v[i - 1])
			v[kept++] = v[i];
	*nvalues = kept;
	return v;
}

/* Ranges of the longest time and of the longest exchange of a stage, as indices
 * of the sorted values. */
typedef struct box {
	int t_lo, t_hi, x_lo, x_hi;
} box;

typedef VEC(box) boxes;

/* Looks into a box, and halves it along the more important side. */
static void look_into(arena *a, const step_boxes *s, box b, boxes *todo)
{
	double t_lo = s->times[b.t_lo], x_lo = s->exchanges[b.x_lo];
	double t_hi = s->times[b.t_hi], x_hi = s->exchanges[b.x_hi];
	double least = s->weight * t_lo + x_lo;
	double sum = s->look(s->of, t_hi, x_hi, *s->step - least);
	if (sum == INFINITY || sum + least > *s->step ||
	    (b.t_lo == b.t_hi && b.x_lo == b.x_hi))
		return;
	box low = b, high = b;
	if (b.x_lo == b.x_hi ||
	    (b.t_lo < b.t_hi && s->weight * (t_hi - t_lo) >= x_hi - x_lo)) {
		low.t_hi = b.t_lo + (b.t_hi - b.t_lo) / 2;
		high.t_lo = low.t_hi + 1;
	} else {
		low.x_hi = b.x_lo + (b.x_hi - b.x_lo) / 2;
		high.x_lo = low.x_hi + 1;
	}
	vec_push(a, todo, high);
	vec_push(a, todo, low);
}

/* With one micro-batch the step is the sum of times, and the longest time needs
 * no range. */
void step_boxes_search(arena *a, const step_boxes *s)
{
	boxes todo = { 0 };
	int nt = s->ntimes, nx = s->nexchanges;
	if (nt > 0 && nx > 0)
		vec_push(a, &todo, ((box){ s->weight == 0 ? nt - 1 : 0, nt - 1,
					   0, nx - 1 }));
	while (todo.n > 0)
		look_into(a, s, todo.at[--todo.n], &todo);
}

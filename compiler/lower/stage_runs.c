/* The order of a stage's segments as runs of repeated tasks. */
#include "config.h"

#include <string.h>

#include "base/vec.h"
#include "compiler/lower/stage_program.h"

typedef struct tasks {
	arena *a;
	const int *at;
	int n;
	VEC(plan_tasks) runs;
} tasks;

/* The number of times that the n tasks at i occur one after the other. */
static int repeats(const tasks *x, int i, int n)
{
	int times = 1;
	while (i + (times + 1) * n <= x->n &&
	       !memcmp(&x->at[i], &x->at[i + times * n],
		       (size_t)n * sizeof(int)))
		times++;
	return times;
}

/* The run at i that saves the most tasks. */
static plan_tasks best_at(const tasks *x, int i)
{
	enum { MOST_TASKS = 512 };
	plan_tasks best = { 1, 1, &x->at[i] };
	for (int n = 1; n <= MOST_TASKS && i + 2 * n <= x->n; n++) {
		int times = repeats(x, i, n);
		if ((times - 1) * n > (best.times - 1) * best.ntasks)
			best = (plan_tasks){ times, n, &x->at[i] };
	}
	return best;
}

/* Adds a run.  Consecutive tasks that are not repeated form one run. */
static void add(tasks *x, plan_tasks run)
{
	plan_tasks *last = x->runs.n > 0 ? &x->runs.at[x->runs.n - 1] : NULL;
	if (run.times == 1 && last && last->times == 1)
		last->ntasks += run.ntasks;
	else
		vec_push(x->a, &x->runs, run);
}

plan_tasks *stage_runs(arena *a, const int *at, int n, int *nruns)
{
	tasks x = { .a = a, .at = ARENA_COPY(a, at, n), .n = n };
	for (int i = 0; i < n;) {
		plan_tasks run = best_at(&x, i);
		add(&x, run);
		i += run.times * run.ntasks;
	}
	*nruns = x.runs.n;
	return x.runs.at;
}

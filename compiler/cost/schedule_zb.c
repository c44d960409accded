/* Zero bubble: backward passes in two parts, so that the gradients of weights
 * fill the bubbles (Qi, Wan, Huang, Lin: Zero Bubble Pipeline Parallelism, ICLR
 * 2024).
 *
 * The handcrafted lists H1 do not depend on times; a greedy rule uses the times
 * but does not look ahead.  Both are planned, and the faster one is taken. */
#include "config.h"

#include <assert.h>

#include "compiler/cost/schedule.h"

static void push(step_list *list, step_kind kind, int m)
{
	list->at[list->n++] = (pipeline_step){ .kind = kind, .micro_batch = m };
}

/* H1's list for device s: S - s forward steps, then B and F in turn, with a W
 * before any F that would be one too many.  After the last F: W after each B,
 * or all B first. */
static step_list handcrafted(arena *a, const pipeline *p, int s, bool late)
{
	int n = p->ndevices, m = p->micro_batches, nf = 0, nb = 0, nw = 0;
	step_list list = { ARENA_ARRAY(a, pipeline_step, 3 * (size_t)m), 0 };
	while (nf < m && nf < n - s)
		push(&list, STEP_F, nf++);
	while (nb < m) {
		push(&list, STEP_B, nb++);
		if (nf == m) {
			if (!late)
				push(&list, STEP_W, nw++);
			continue;
		}
		if (nf - nw >= n)
			push(&list, STEP_W, nw++);
		push(&list, STEP_F, nf++);
	}
	while (nw < m)
		push(&list, STEP_W, nw++);
	return list;
}

/* ---- the greedy rule ---------------------------------------------------- */

typedef struct greedy {
	const pipeline *p;
	int64_t *now;		  /* by device */
	int *nf, *nb, *nw;	  /* done so far, by device */
	int64_t *f_end, *b_end;	  /* by device and micro-batch; -1 */
	step_list *lists;
} greedy;

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t link_of(const greedy *g, int q)
{
	return g->p->link ? g->p->link[q] : 0;
}

/* When the next step of a kind can begin on device s; -1 if it cannot now. */
static int64_t begin_of(const greedy *g, int s, step_kind kind)
{
	int n = g->p->ndevices, m = g->p->micro_batches;
	int64_t at = -1;
	if (kind == STEP_B && g->nb[s] < g->nf[s]) {
		int i = g->nb[s];
		if (s == n - 1)
			at = g->f_end[(int64_t)s * m + i];
		else if (g->b_end[(int64_t)(s + 1) * m + i] >= 0)
			at = g->b_end[(int64_t)(s + 1) * m + i] + link_of(g, s);
	} else if (kind == STEP_F && g->nf[s] < m && g->nf[s] - g->nw[s] < n) {
		int i = g->nf[s];
		if (s == 0)
			at = 0;
		else if (g->f_end[(int64_t)(s - 1) * m + i] >= 0)
			at = g->f_end[(int64_t)(s - 1) * m + i] +
				link_of(g, s - 1);
	} else if (kind == STEP_W && g->nw[s] < g->nb[s]) {
		at = g->now[s];
	}
	return at < 0 ? at : later(at, g->now[s]);
}

/* Chooses B if it can begin at the earliest time at which anything can, else F,
 * else W.  Returns that time; -1 if nothing can begin. */
static int64_t choose(const greedy *g, int s, step_kind *kind)
{
	static const step_kind rank[] = { STEP_B, STEP_F, STEP_W };
	int64_t best = -1;
	for (int i = 0; i < 3; i++) {
		int64_t at = begin_of(g, s, rank[i]);
		if (at >= 0 && (best < 0 || at < best)) {
			best = at;
			*kind = rank[i];
		}
	}
	return best;
}

static void take(greedy *g, int s, step_kind kind, int64_t begin)
{
	int64_t row = (int64_t)s * g->p->micro_batches;
	if (kind == STEP_F) {
		g->now[s] = begin + g->p->forward[s];
		g->f_end[row + g->nf[s]] = g->now[s];
		push(&g->lists[s], kind, g->nf[s]++);
	} else if (kind == STEP_B) {
		g->now[s] = begin + g->p->backward[s];
		g->b_end[row + g->nb[s]] = g->now[s];
		push(&g->lists[s], kind, g->nb[s]++);
	} else {
		g->now[s] = begin + g->p->weight[s];
		push(&g->lists[s], kind, g->nw[s]++);
	}
}

static step_list *greedy_lists(arena *a, const pipeline *p)
{
	int n = p->ndevices, m = p->micro_batches;
	int64_t cells = (int64_t)n * m;
	greedy g = { p, ARENA_ARRAY(a, int64_t, n), ARENA_ARRAY(a, int, n),
		     ARENA_ARRAY(a, int, n), ARENA_ARRAY(a, int, n),
		     ARENA_ARRAY(a, int64_t, cells),
		     ARENA_ARRAY(a, int64_t, cells),
		     ARENA_ARRAY(a, step_list, n) };
	for (int64_t i = 0; i < cells; i++)
		g.f_end[i] = g.b_end[i] = -1;
	for (int s = 0; s < n; s++)
		g.lists[s].at = ARENA_ARRAY(a, pipeline_step, 3 * (size_t)m);
	for (int64_t left = 3 * cells; left > 0; left--) {
		int64_t best = -1;
		int at = -1;
		step_kind what = STEP_F;
		for (int s = 0; s < n; s++) {
			step_kind kind = STEP_F;
			int64_t begin = choose(&g, s, &kind);
			if (begin >= 0 && (best < 0 || begin < best)) {
				best = begin;
				at = s;
				what = kind;
			}
		}
		assert(at >= 0);
		take(&g, at, what, best);
	}
	return g.lists;
}

pipeline_run *pipeline_zero_bubble(arena *a, const pipeline *p)
{
	pipeline_run *best = NULL;
	for (int plan = 0; plan < 3; plan++) {
		step_list *lists;
		if (plan == 2) {
			lists = greedy_lists(a, p);
		} else {
			lists = ARENA_ARRAY(a, step_list, p->ndevices);
			for (int s = 0; s < p->ndevices; s++)
				lists[s] = handcrafted(a, p, s, plan == 1);
		}
		pipeline_run *run = pipeline_run_lists(a, p, lists);
		assert(run && "lists that wait for each other");
		if (!best || run->ns < best->ns)
			best = run;
	}
	return best;
}

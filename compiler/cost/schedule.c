/* Schedules of pipelines: their lists, and their simulation. */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/cost/schedule.h"

const char *schedule_name(pipeline_schedule kind)
{
	static const char *const names[] = {
		[SCHEDULE_GPIPE] = "gpipe",
		[SCHEDULE_1F1B] = "1f1b",
		[SCHEDULE_INTERLEAVED] = "interleaved",
		[SCHEDULE_ZB] = "zb",
	};
	return names[kind];
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

int schedule_in_flight(pipeline_schedule kind, int s, int ndevices, int chunks,
		       int micro_batches)
{
	int64_t n = ndevices, v = chunks, all = (int64_t)micro_batches * v;
	switch (kind) {
	case SCHEDULE_GPIPE:
		return (int)all;
	case SCHEDULE_1F1B:
		return (int)least(all, n - s);
	case SCHEDULE_INTERLEAVED:
		return (int)least(all, 2 * (n - s - 1) + (v - 1) * n + 1);
	case SCHEDULE_ZB:
		return (int)least(all, n);
	}
	assert(!"a kind of schedule");
	return 0;
}

/* ---- limits ------------------------------------------------------------- */

/* Whether the sum of the times of all steps and messages fits 64 bits. */
static bool times_fit(const pipeline *p)
{
	int64_t ns = 0, n = (int64_t)p->ndevices * p->chunks;
	for (int64_t q = 0; q < n; q++) {
		if (!ck_add(ns, p->forward[q], &ns) ||
		    !ck_add(ns, p->backward[q], &ns) ||
		    !ck_add(ns, p->weight[q], &ns))
			return false;
		if (p->link && q + 1 < n &&
		    (!ck_add(ns, p->link[q], &ns) ||
		     !ck_add(ns, p->link[q], &ns)))
			return false;
	}
	return ck_mul(ns, p->micro_batches, &ns);
}

const char *pipeline_refused(arena *a, const pipeline *p)
{
	const int64_t of[] = { p->ndevices, p->chunks, p->micro_batches, 3,
			       p->kind == SCHEDULE_ZB ? p->ndevices : 1 };
	int64_t n;
	if (!ck_product(of, 4, &n) || n > SCHEDULE_MAX_STEPS)
		return arena_printf(a, "%d stages of %d micro-batches have "
				    "more than %d steps", p->ndevices,
				    p->micro_batches, SCHEDULE_MAX_STEPS);
	if (!ck_product(of, 5, &n) || n > SCHEDULE_MAX_CHOICES)
		return arena_printf(a, "%d stages of %d micro-batches leave a "
				    "schedule that splits backward passes more "
				    "than %d choices", p->ndevices,
				    p->micro_batches, SCHEDULE_MAX_CHOICES);
	return times_fit(p) ? NULL :
		arena_printf(a, "the times of %d micro-batches add up to more "
			     "than can be counted", p->micro_batches);
}

/* ---- lists -------------------------------------------------------------- */

/* The k-th forward or backward step of a device: chunk by chunk, S
 * micro-batches of each; the backward pass begins with the last chunk. */
static void add(const pipeline *p, step_list *to, step_kind kind, int k)
{
	int v = p->chunks, chunk, m;
	int round = p->kind == SCHEDULE_INTERLEAVED ? p->ndevices
						     : p->micro_batches;
	chunk = k / round % v;
	m = k / (round * v) * round + k % round;
	if (m < p->micro_batches)
		to->at[to->n++] = (pipeline_step){
			.kind = kind,
			.chunk = kind == STEP_F ? chunk : v - 1 - chunk,
			.micro_batch = m,
		};
}

/* The number of forward steps, out of `all', before the first backward step. */
static int warm_up(const pipeline *p, int s, int all)
{
	int n = p->ndevices, v = p->chunks;
	if (p->kind == SCHEDULE_GPIPE)
		return all;
	if (p->kind == SCHEDULE_1F1B)
		return (int)least(all, n - s - 1);
	return (int)least(all, 2 * (n - s - 1) + (v - 1) * n);
}

/* The number of a device's steps, including those left out. */
static int steps_of(const pipeline *p)
{
	int n = p->ndevices, m = p->micro_batches;
	if (p->kind == SCHEDULE_INTERLEAVED)
		m = (m + n - 1) / n * n;
	return m * p->chunks;
}

static step_list list_of(arena *a, const pipeline *p, int s)
{
	int all = steps_of(p), warm = warm_up(p, s, all);
	step_list list = { ARENA_ARRAY(a, pipeline_step, 2 * (size_t)all), 0 };
	for (int k = 0; k < warm; k++)
		add(p, &list, STEP_F, k);
	for (int k = warm; k < all; k++) {
		add(p, &list, STEP_F, k);
		add(p, &list, STEP_BW, k - warm);
	}
	for (int k = all - warm; k < all; k++)
		add(p, &list, STEP_BW, k);
	return list;
}

/* ---- chunks in flight --------------------------------------------------- */

static bool covers(const int *a, const int *b, int n)
{
	for (int i = 0; i < n; i++)
		if (a[i] < b[i])
			return false;
	return true;
}

/* Adds an instant unless another covers it, replacing those that it covers. */
static void add_instant(chunk_counts *to, int v, int running, const int *now)
{
	int kept = 0;
	for (int k = 0; k < to->n; k++)
		if (to->running[k] == running &&
		    covers(&to->in_flight[k * v], now, v))
			return;
	for (int k = 0; k < to->n; k++) {
		int *of = &to->in_flight[k * v];
		if (to->running[k] == running && covers(now, of, v))
			continue;
		to->running[kept] = to->running[k];
		memmove(&to->in_flight[kept++ * v], of,
			sizeof(int) * (size_t)v);
	}
	to->running[kept] = running;
	memcpy(&to->in_flight[kept * v], now, sizeof(int) * (size_t)v);
	to->n = kept + 1;
}

/* The warm-up takes fewer than (V + 1) S forward steps.  V S pairs of steps
 * later the same micro-batches are in flight again, with numbers greater by S.
 * So four rounds of S micro-batches show everything that more rounds do. */
chunk_counts schedule_chunk_counts(arena *a, int s, int ndevices, int chunks,
				   int micro_batches)
{
	arena *own = arena_new();
	const pipeline p = { .kind = SCHEDULE_INTERLEAVED,
			     .ndevices = ndevices,
			     .chunks = chunks,
			     .micro_batches = (int)least(micro_batches,
							 4 * (int64_t)ndevices)
	};
	step_list list = list_of(own, &p, s);
	int *now = ARENA_ARRAY(own, int, chunks);
	chunk_counts all = { 0, ARENA_ARRAY(own, int, list.n),
			     ARENA_ARRAY(own, int, (size_t)list.n *
					 (size_t)chunks) };
	for (int i = 0; i < list.n; i++) {
		const pipeline_step *t = &list.at[i];
		now[t->chunk] += t->kind == STEP_F;
		add_instant(&all, chunks, t->chunk, now);
		now[t->chunk] -= t->kind != STEP_F;
	}
	all.running = ARENA_COPY(a, all.running, all.n);
	all.in_flight = ARENA_COPY(a, all.in_flight, all.n * chunks);
	arena_free(own);
	return all;
}

/* ---- running lists ------------------------------------------------------ */

typedef struct runner {
	const pipeline *p;
	int nstages; /* virtual stages */
	int64_t *forward_end, *backward_end; /* by stage and micro-batch; -1 */
	int64_t *free_at;		     /* by device */
	int *next, *kept;
	pipeline_run *run;
} runner;

static int64_t *cell(const runner *r, int64_t *of, int q, int m)
{
	return &of[(int64_t)q * r->p->micro_batches + m];
}

/* The time at which the inputs of a step are on its device; -1 if not known
 * yet. */
static int64_t ready(const runner *r, const pipeline_step *t, int q)
{
	int m = t->micro_batch, from;
	int64_t at;
	if (t->kind == STEP_W)
		return *cell(r, r->backward_end, q, m);
	if (t->kind == STEP_F && q == 0)
		return 0;
	if (t->kind != STEP_F && q == r->nstages - 1)
		return *cell(r, r->forward_end, q, m);
	from = t->kind == STEP_F ? q - 1 : q + 1;
	at = *cell(r, t->kind == STEP_F ? r->forward_end : r->backward_end,
		   from, m);
	if (at < 0 || !r->p->link || r->p->ndevices == 1)
		return at;
	return at + r->p->link[from < q ? from : q];
}

static int64_t duration(const pipeline *p, step_kind kind, int q)
{
	switch (kind) {
	case STEP_F:
		return p->forward[q];
	case STEP_B:
		return p->backward[q];
	case STEP_W:
		return p->weight[q];
	case STEP_BW:
		return p->backward[q] + p->weight[q];
	}
	assert(!"a kind of step");
	return 0;
}

/* Does the next step of device s if it can begin. */
static bool advance(runner *r, step_list *list, int s)
{
	pipeline_step *t = &list->at[r->next[s]];
	int q = t->chunk * r->p->ndevices + s;
	int64_t at = ready(r, t, q);
	if (at < 0)
		return false;
	t->begin = at > r->free_at[s] ? at : r->free_at[s];
	t->end = t->begin + duration(r->p, t->kind, q);
	r->free_at[s] = t->end;
	if (t->kind == STEP_F)
		*cell(r, r->forward_end, q, t->micro_batch) = t->end;
	else if (t->kind != STEP_W)
		*cell(r, r->backward_end, q, t->micro_batch) = t->end;
	if (t->kind == STEP_F)
		r->kept[s]++;
	else if (t->kind != STEP_B)
		r->kept[s]--;
	if (r->kept[s] > r->run->in_flight[s])
		r->run->in_flight[s] = r->kept[s];
	r->next[s]++;
	return true;
}

static runner runner_new(arena *a, arena *own, const pipeline *p)
{
	int n = p->ndevices;
	runner r = { .p = p, .nstages = n * p->chunks };
	int64_t cells = (int64_t)r.nstages * p->micro_batches;
	r.forward_end = ARENA_ARRAY(own, int64_t, cells);
	r.backward_end = ARENA_ARRAY(own, int64_t, cells);
	for (int64_t i = 0; i < cells; i++)
		r.forward_end[i] = r.backward_end[i] = -1;
	r.free_at = ARENA_ARRAY(own, int64_t, n);
	r.next = ARENA_ARRAY(own, int, n);
	r.kept = ARENA_ARRAY(own, int, n);
	r.run = ARENA_NEW(a, pipeline_run);
	r.run->in_flight = ARENA_ARRAY(a, int, n);
	r.run->nsteps = ARENA_ARRAY(a, int, n);
	r.run->steps = ARENA_ARRAY(a, pipeline_step *, n);
	return r;
}

static void measure(pipeline_run *run, const pipeline *p, const int64_t *ends)
{
	double work = 0;
	for (int s = 0; s < p->ndevices; s++)
		if (ends[s] > run->ns)
			run->ns = ends[s];
	for (int q = 0; q < p->ndevices * p->chunks; q++)
		work += (double)(p->forward[q] + p->backward[q] + p->weight[q]);
	work *= p->micro_batches;
	run->bubble = run->ns == 0 ? 0 :
		1 - work / ((double)run->ns * p->ndevices);
}

pipeline_run *pipeline_run_lists(arena *a, const pipeline *p, step_list *lists)
{
	arena *own = arena_new();
	runner r = runner_new(a, own, p);
	bool moved = true, all = true;
	while (moved) {
		moved = false;
		for (int s = 0; s < p->ndevices; s++)
			while (r.next[s] < lists[s].n &&
			       advance(&r, &lists[s], s))
				moved = true;
	}
	for (int s = 0; s < p->ndevices; s++) {
		all = all && r.next[s] == lists[s].n;
		r.run->steps[s] = lists[s].at;
		r.run->nsteps[s] = lists[s].n;
	}
	measure(r.run, p, r.free_at);
	arena_free(own);
	return all ? r.run : NULL;
}

/* Gives all steps equal times if none are given. */
static pipeline with_times(arena *a, const pipeline *p)
{
	pipeline q = *p;
	int n = p->ndevices * p->chunks;
	int64_t *one = ARENA_ARRAY(a, int64_t, n);
	for (int i = 0; i < n; i++)
		one[i] = 1;
	if (!p->forward)
		q.forward = q.backward = q.weight = one;
	return q;
}

step_list *pipeline_lists(arena *a, const pipeline *p)
{
	int n = p->ndevices;
	step_list *lists = ARENA_ARRAY(a, step_list, n);
	assert(n >= 1 && p->chunks >= 1 && p->micro_batches >= 1);
	if (p->kind == SCHEDULE_ZB) {
		assert(p->chunks == 1);
		const pipeline timed = with_times(a, p);
		const pipeline_run *run = pipeline_zero_bubble(a, &timed);
		for (int s = 0; s < n; s++)
			lists[s] = (step_list){ run->steps[s],
						run->nsteps[s] };
		return lists;
	}
	assert(p->chunks == 1 || p->kind != SCHEDULE_1F1B);
	for (int s = 0; s < n; s++)
		lists[s] = list_of(a, p, s);
	return lists;
}

const pipeline_run *pipeline_simulate(arena *a, const pipeline *p)
{
	assert(!pipeline_refused(a, p));
	pipeline_run *run = p->kind == SCHEDULE_ZB ?
		pipeline_zero_bubble(a, p) :
		pipeline_run_lists(a, p, pipeline_lists(a, p));
	assert(run && "lists that wait for each other");
	return run;
}

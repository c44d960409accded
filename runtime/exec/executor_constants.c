/* Initial values of constants and states: read from files, or computed from
 * formulas, in both cases by all processors. */
#include "config.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/jobs.h"
#include "base/memory.h"
#include "base/vec.h"
#include "runtime/exec/executor_parts.h"

static bool is_formula(const plan_tensor *t)
{
	return t->constant.kind == PLAN_CONST_FILL ||
	       t->constant.kind == PLAN_CONST_RANDOM;
}

static bool is_loaded(const plan_tensor *t)
{
	return (t->role == PLAN_CONSTANT || t->role == PLAN_STATE) &&
	       t->buffer >= 0;
}

/* A worker's part of a tensor, whose rows several threads compute. */
typedef struct making {
	const plan_tensor *t;
	box part;
	unsigned char *to;
	int n;
} making;

static void make_rows(void *arg, int i)
{
	const making *x = arg;
	box rows = x->part;
	int64_t size = (int64_t)dtype_size(x->t->type);
	int64_t first = rows.lo[0], all = rows.hi[0] - first;
	int64_t each = all > 0 ? box_volume(&rows) / all : 0;
	block(first, rows.hi[0], i, x->n, &rows.lo[0], &rows.hi[0]);
	plan_constant_box(x->t, &rows,
			  x->to + (rows.lo[0] - first) * each * size);
}

static void make_elements(const plan_tensor *t, const region *part, void *to,
			  int nthreads)
{
	/* elements that are worth a thread */
	enum { LEAST_ELEMENTS = 1 << 14 };
	making x = { t, part->at, to, nthreads };
	const job_set rows = { .n = nthreads, .run = make_rows, .arg = &x };
	if (t->ndim > 0 && part->count >= LEAST_ELEMENTS)
		jobs_run(&rows, nthreads);
	else
		plan_constant_box(t, &part->at, to);
}

/* Computes a worker's own elements of a constant in place. */
static void make_part(executor *m, int worker, const plan_tensor *t,
		      int nthreads)
{
	region part = part_region(m, worker, t->buffer);
	part_touch(m, worker, t->buffer, &part);
	make_elements(t, &part, part_place(m, worker, t->buffer), nthreads);
}

/* The same for a device: computes the elements here and copies them there. */
static bool make_constant(executor *m, const plan_tensor *t, int first, int end,
			  failure *f)
{
	int64_t size = (int64_t)dtype_size(t->type);
	bool good = true;
	for (int w = first; good && w < end; w++) {
		region part = part_region(m, w, t->buffer);
		part_touch(m, w, t->buffer, &part);
		void *staged = part_stage(part.count * size, f);
		if (staged)
			make_elements(t, &part, staged, processors(NULL));
		good = staged &&
		       part_put(m, w, t->buffer, staged, part.count * size, f);
		free(staged);
	}
	return good;
}

/* On the host all workers compute their own elements at the same time.  So the
 * thread that uses the memory is the first to touch it. */
static bool make_worker(void *arg, int worker, failure *f)
{
	executor *m = arg;
	const plan *p = part_plan(m, worker);
	int share = processors(NULL) / (m->end - m->first);
	(void)f;
	for (int i = 0; i < p->ntensors; i++)
		if (is_loaded(&p->tensors[i]) && is_formula(&p->tensors[i]))
			make_part(m, worker, &p->tensors[i],
				  share > 1 ? share : 1);
	return true;
}

/* A process with a worker of its own is outside any step here, so no other
 * worker waits for it. */
static bool make_constants(executor *m, failure *f)
{
	if (m->end - m->first == 1)
		return make_worker(m, m->first, f);
	return m->comm->launch(m->link, make_worker, m, f);
}

/* Whether a worker is the only one of its stage and has the whole tensor. */
static bool is_whole(const executor *m, int stage, int worker,
		     const plan_tensor *t)
{
	return executor_is_host(m) &&
	       m->first_of[stage + 1] - m->first_of[stage] == 1 &&
	       part_region(m, worker, t->buffer).count == plan_tensor_nelem(t);
}

/* Loads a constant for workers [first, end) of a stage. */
static bool load_constant(executor *m, const plan *p, int tensor, int first,
			  int end, diag_sink *s, failure *f)
{
	const plan_tensor *t = &p->tensors[tensor];
	if (is_formula(t))
		return executor_is_host(m) ||
		       make_constant(m, t, first, end, f);
	if (is_whole(m, m->stage[first], first, t)) {
		region all = part_region(m, first, t->buffer);
		part_touch(m, first, t->buffer, &all);
		return plan_constant_read(p, tensor,
					  part_place(m, first, t->buffer), s);
	}
	int64_t nbytes = plan_tensor_nbytes(t);
	void *whole = memory_malloc((size_t)nbytes);
	if (!whole)
		return fail_with(f, CLI_MACHINE, "no memory for the %" PRId64
				 " bytes of '%s'", nbytes, t->name);
	bool good = plan_constant_read(p, tensor, whole, s);
	for (int w = first; good && w < end; w++)
		good = part_scatter(m, w, t->buffer, whole, f);
	memory_free(whole);
	return good;
}

/* ---- all of them -------------------------------------------------------- */

/* A tensor of a stage to be loaded for workers [first, end). */
typedef struct loading {
	int stage, tensor, first, end;
} loading;

typedef struct loadings {
	executor *m;
	VEC(loading) all;
	/* the first one that failed; otherwise the number of all */
	atomic_int failed;
	pthread_mutex_t lock;
	failure failure; /* of that one; guarded by lock */
} loadings;

/* Lists what has to be loaded for a stage with workers in this process. */
static void find_loadings(loadings *l, arena *a, int stage)
{
	const executor *m = l->m;
	const plan *p = &m->p->stages[stage];
	int first = m->first_of[stage], end = m->first_of[stage + 1];
	first = first > m->first ? first : m->first;
	end = end < m->end ? end : m->end;
	for (int i = 0; first < end && i < p->ntensors; i++) {
		const loading x = { stage, i, first, end };
		if (is_loaded(&p->tensors[i]))
			vec_push(a, &l->all, x);
	}
}

static void note_failure(loadings *l, int i, const failure *f)
{
	pthread_mutex_lock(&l->lock);
	if (i < atomic_load(&l->failed)) {
		atomic_store(&l->failed, i);
		l->failure = *f;
	}
	pthread_mutex_unlock(&l->lock);
}

/* After a failure none behind it is begun; all before it have begun. */
static void load_one(void *arg, int i)
{
	loadings *l = arg;
	const loading *x = &l->all.at[i];
	failure f = { 0 };
	if (atomic_load(&l->failed) < i)
		return;
	arena *work = arena_new();
	diag_sink *s = diag_sink_new(work);
	bool good = load_constant(l->m, &l->m->p->stages[x->stage], x->tensor,
				  x->first, x->end, s, &f);
	if (!fail_of(&f, s) || !good)
		note_failure(l, i, &f);
	arena_free(work);
}

/* The number of loading threads: the processors of this process's workers.  A
 * device gets one constant after the other. */
static int loading_threads(const executor *m)
{
	int64_t here = m->end - m->first;
	int64_t n = processors(NULL) * here / m->neighbours;
	return executor_is_host(m) && n > 1 ? (int)n : 1;
}

bool executor_load(executor *m, failure *f)
{
	arena *work = arena_new();
	loadings l = { .m = m };
	for (int i = 0; i < m->p->nstages; i++)
		find_loadings(&l, work, i);
	const job_set jobs = { .n = l.all.n, .run = load_one, .arg = &l };
	atomic_init(&l.failed, l.all.n);
	pthread_mutex_init(&l.lock, NULL);
	jobs_run(&jobs, loading_threads(m));
	pthread_mutex_destroy(&l.lock);
	bool good = atomic_load(&l.failed) == l.all.n;
	if (!good && f->status == CLI_OK)
		*f = l.failure;
	arena_free(work);
	return good && (!executor_is_host(m) || make_constants(m, f));
}

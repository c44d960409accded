#include "config.h"

#include "runtime/exec/profiling.h"

#include <math.h>
#include <stdlib.h>

#include "base/vec.h"
#include "runtime/exec/calibrated.h"

enum { WARM = 2, MOST_SAMPLES = 1000 };

/* An instruction on a worker: its seconds by step, then the figures from
 * them. */
typedef struct record {
	VEC(double) seconds;
	profile_time time;
	int64_t nbytes;
} record;

struct profiling {
	arena *a;
	const plan_pipeline *of;
	executor *m;
	int64_t steps, warm;
	double before; /* sum over all steps so far */
	record **records; /* by worker, by instruction of its unrolled plan */
	record step;
};

static int workers_of(const profiling *x)
{
	const plan_pipeline *p = x->of;
	return pipeline_first(p, p->nstages);
}

/* ---- measuring --------------------------------------------------------- */

profiling *profiling_new(arena *a, const plan_pipeline *p, executor *m,
			 int64_t steps)
{
	profiling *x = ARENA_NEW(a, profiling);
	*x = (profiling){ .a = a, .of = p, .m = m,
			  .warm = steps > WARM ? WARM : steps - 1 };
	int nworkers = workers_of(x);
	x->records = ARENA_ARRAY(a, record *, nworkers);
	for (int w = 0; w < nworkers; w++)
		x->records[w] = ARENA_ARRAY(a, record,
					    executor_plan(m, w)->ninstrs);
	executor_measure(m);
	return x;
}

static void note(profiling *x, record *r, double seconds)
{
	if (r->seconds.n < MOST_SAMPLES)
		vec_push(x->a, &r->seconds, seconds);
}

void profiling_note(profiling *x)
{
	double all = executor_seconds(x->m), step = all - x->before;
	int first, end;
	x->before = all;
	if (x->steps++ < x->warm)
		return;
	note(x, &x->step, step);
	executor_here(x->m, &first, &end);
	for (int w = first; w < end; w++) {
		const instr_seconds *t = executor_measured(x->m, w);
		const plan *p = executor_plan(x->m, w);
		for (int i = 0; i < p->ninstrs; i++)
			note(x, &x->records[w][i], t[i].busy);
	}
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x, b = *(const double *)y;
	return (a > b) - (a < b);
}

/* Clocks count nanoseconds. */
static void conclude(record *r)
{
	const double least = 1e-9;
	int n = r->seconds.n;
	double *at = r->seconds.at;
	r->time = (profile_time){ least, 0, 1 };
	if (n == 0)
		return;
	qsort(at, (size_t)n, sizeof(*at), by_value);
	double median = fmax((at[(n - 1) / 2] + at[n / 2]) / 2, least);
	r->time = (profile_time){ median, fmax(at[n - 1 - n / 4] / median - 1,
					       0), n };
}

/* For all processes. */
static void conclude_all(profiling *x)
{
	int nworkers = workers_of(x), first, end;
	executor_here(x->m, &first, &end);
	conclude(&x->step);
	executor_share(x->m, 0, &x->step.time,
		       (int64_t)sizeof(x->step.time));
	for (int w = 0; w < nworkers; w++) {
		int n = executor_plan(x->m, w)->ninstrs;
		profile_time *all = ARENA_ARRAY(x->a, profile_time, n);
		for (int i = 0; i < n && w >= first && w < end; i++) {
			conclude(&x->records[w][i]);
			all[i] = x->records[w][i].time;
		}
		executor_share(x->m, w, all, n * (int64_t)sizeof(*all));
		for (int i = 0; i < n; i++)
			x->records[w][i].time = all[i];
	}
}

/* ---- rows -------------------------------------------------------------- */

static void add_kernel(profiling *x, const plan *p, const plan_instr *in,
		       int local, record *r, profile *to)
{
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	const calibrated c = calibrated_of(p, in, local);
	box part = plan_space(p, in, local);
	profile_kernel row = {
		.structure = c.form.structure, .name = k->name,
		.class = c.form.class, .type = c.form.type,
		.devices = workers_of(x), .nextents = k->nvars,
		.load = c.load, .work = c.work, .time = r->time,
	};
	for (int v = 0; v < k->nvars; v++)
		row.extents[v] = part.hi[v] - part.lo[v];
	r->nbytes = (int64_t)c.work.bytes;
	profile_add_kernel(to, &row);
}

/* Adds the time of a transfer in a plan of one stage, whose workers begin it
 * together.  In other plans it would contain waits. */
static void add_transfer(profiling *x, const plan *p, int i, int local,
			 record *r, profile *to)
{
	const plan_instr *in = &p->program[i];
	const plan_tensor *t = &p->tensors[p->buffers[in->to].tensor];
	region whole = plan_region(p, in->to, local);
	const profile_transfer row = {
		.collective = in->collective,
		.devices = mesh_workers(&p->mesh),
		.received = (int64_t)calibrated_received(p, in, local),
		.written = whole.count * (int64_t)dtype_size(t->type),
		.time = r->time,
	};
	r->nbytes = row.received;
	if (x->of->nstages == 1 && plan_phase_end(p, i) == i + 1)
		profile_add_transfer(to, &row);
}

static void add_rows(profiling *x, int worker, profile *to)
{
	int local;
	const plan *p = executor_plan(x->m, worker);
	pipeline_stage_of(x->of, worker, &local);
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		record *r = &x->records[worker][i];
		if (plan_moves(in))
			add_transfer(x, p, i, local, r, to);
		else if (in->op == PLAN_RUN && !plan_is_idle(p, in))
			add_kernel(x, p, in, local, r, to);
	}
}

/* ---- the run ----------------------------------------------------------- */

/* The figures of instruction i of the stage with workers [first, first + n). */
static profile_instr instr_of(profiling *x, const plan *of, int i, int first,
			      int n)
{
	const plan *p = executor_plan(x->m, first);
	const plan_instr *in = &p->program[i];
	int row = plan_unrolled_row(of, p, i);
	bool in_body = row >= of->loop.begin && row < of->loop.end;
	profile_instr y = {
		.name = plan_instr_name(p, in), .kind = plan_instr_kind(in),
		.instruction = row, .turn = in_body ? in->turn : -1,
		.nworkers = n,
		.workers = ARENA_ARRAY(x->a, profile_time, n),
		.nbytes = ARENA_ARRAY(x->a, int64_t, n),
	};
	for (int w = 0; w < n; w++) {
		y.workers[w] = x->records[first + w][i].time;
		y.nbytes[w] = x->records[first + w][i].nbytes;
	}
	return y;
}

static profile_run run_of(profiling *x)
{
	const plan_pipeline *p = x->of;
	arena *a = x->a;
	VEC(profile_instr) all = { 0 };
	profile_run r = { .model = p->model, .plan = p->digest,
			  .devices = workers_of(x), .warm = (int)x->warm,
			  .step = x->step.time };
	r.workers = ARENA_ARRAY(a, profile_worker, r.devices);
	for (int s = 0; s < p->nstages; s++) {
		int first = pipeline_first(p, s);
		int n = pipeline_first(p, s + 1) - first;
		for (int w = 0; w < n; w++)
			r.workers[first + w] = (profile_worker){
				s, executor_worker_used(x->m, first + w)
			};
		for (int i = 0; i < executor_plan(x->m, first)->ninstrs; i++)
			vec_push(a, &all,
				 instr_of(x, &p->stages[s], i, first, n));
	}
	r.ninstrs = all.n;
	r.instrs = all.at;
	return r;
}

profile_run profiling_end(profiling *x, profile *to)
{
	conclude_all(x);
	for (int w = 0; w < workers_of(x); w++)
		add_rows(x, w, to);
	const profile_run r = run_of(x);
	profile_add_run(to, &r);
	return r;
}

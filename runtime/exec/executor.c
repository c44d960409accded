#include "config.h"

#include "runtime/exec/executor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/memory.h"
#include "runtime/exec/executor_parts.h"

array executor_array(const plan *p, int tensor)
{
	const plan_tensor *t = &p->tensors[tensor];
	array x = { .name = t->name, .type = t->type, .ndim = t->ndim };
	memcpy(x.dims, t->dims, sizeof(x.dims));
	return x;
}

/* ---- opening ----------------------------------------------------------- */

static bool check_workers(executor *m, const char *path, failure *f)
{
	arena *work = arena_new();
	diag_sink *s = diag_sink_new(work);
	bool good = true;
	for (int w = m->first; good && w < m->end; w++)
		good = plan_check_worker(&m->asked->stages[m->stage[w]],
					 m->number[w], s, path);
	good = fail_of(f, s) && good;
	arena_free(work);
	return good;
}

static int by_size(const void *x, const void *y)
{
	int64_t a = *(const int64_t *)x, b = *(const int64_t *)y;
	return (a > b) - (a < b);
}

/* The bytes that a worker's plan takes in memory. */
static int64_t bytes_of(const executor *m, int worker)
{
	const plan *p = part_plan(m, worker);
	return saturated_add(p->arena_bytes, p->kept_bytes);
}

/* The least bytes that the workers on this machine can need; only their number
 * is known, not which they are.  Returns false if the sum overflows. */
static bool least_bytes(const executor *m, int64_t *all)
{
	arena *work = arena_new();
	int64_t *each = ARENA_ARRAY(work, int64_t, m->nworkers);
	bool good = true;
	for (int w = 0; w < m->nworkers; w++)
		each[w] = bytes_of(m, w);
	qsort(each, (size_t)m->nworkers, sizeof(*each), by_size);
	*all = 0;
	for (int i = 0; good && i < m->neighbours; i++)
		good = ck_add(*all, each[i], all);
	arena_free(work);
	return good;
}

static bool check_memory(const executor *m, failure *f)
{
	int64_t all, have = (int64_t)sysconf(_SC_PHYS_PAGES) *
			    (int64_t)sysconf(_SC_PAGESIZE);
	int64_t each = bytes_of(m, m->first);
	if (!executor_is_host(m))
		have = 0;
	if (least_bytes(m, &all) && (have <= 0 || all <= have))
		return true;
	if (m->p->nstages == 1)
		return fail_with(f, CLI_MACHINE, "%d workers need %" PRId64
				 " bytes each, the machine has %" PRId64
				 " bytes of memory", m->neighbours, each, have);
	return fail_with(f, CLI_MACHINE, "%d workers need %" PRId64 " bytes, "
			 "the machine has %" PRId64 " bytes of memory",
			 m->neighbours, all, have);
}

static bool allocate(executor *m, failure *f)
{
	if (!check_memory(m, f))
		return false;
	for (int w = m->first; w < m->end; w++) {
		int64_t each = part_plan(m, w)->arena_bytes;
		m->arenas[w] = m->backend->alloc(m->device, w - m->first, each);
		if (!m->arenas[w])
			return fail_with(f, CLI_MACHINE, "no memory for the %"
					 PRId64 " bytes of worker %d", each, w);
	}
	return true;
}

static bool open_link(executor *m, void *run, failure *f)
{
	int n;
	m->link = m->comm->open(run, m->p, f);
	if (!m->link)
		return false;
	m->comm->here(m->link, &m->first, &n, &m->neighbours);
	m->end = m->first + n;
	return true;
}

/* Opens the device.  Worker 0's process comes first: the others find what it
 * compiles in the cache, as far as they share one. */
static bool open_device(executor *m, const backend_options *o, failure *f)
{
	backend_options own = *o;
	own.nworkers = m->end - m->first;
	own.neighbours = m->neighbours;
	own.first = m->first;
	own.members = m->comm;
	if (m->comm->neighbour)
		own.neighbour = m->comm->neighbour(m->link);
	if (m->first > 0)
		m->comm->barrier(m->link, m->first);
	m->device = m->backend->open(m->p, &own, f);
	if (m->first == 0 && !executor_is_alone(m) && m->device)
		m->comm->barrier(m->link, 0);
	return m->device != NULL;
}

static bool attach(executor *m, failure *f)
{
	if (!executor_is_host(m))
		return m->backend->attach(m->device, m->comm, m->link,
					  m->first, m->arenas + m->first, f);
	m->comm->attach(m->link, m->arenas);
	return true;
}

static void close_guarded(void *m)
{
	executor_close(m);
}

static void find_workers(executor *m)
{
	const plan_pipeline *p = m->p;
	m->stage = ARENA_ARRAY(m->a, int, m->nworkers);
	m->number = ARENA_ARRAY(m->a, int, m->nworkers);
	m->first_of = ARENA_ARRAY(m->a, int, p->nstages + 1);
	for (int s = 0; s < p->nstages; s++) {
		int n = mesh_workers(&p->stages[s].mesh);
		m->first_of[s + 1] = m->first_of[s] + n;
		for (int w = 0; w < n; w++) {
			m->stage[m->first_of[s] + w] = s;
			m->number[m->first_of[s] + w] = w;
		}
	}
}

/* The numbers of a stage's inputs or outputs among those of the pipeline. */
static int *find_numbers(executor *m, const plan *p, const int *tensors, int n,
			 const char *const *names, int nnames)
{
	int *found = ARENA_ARRAY(m->a, int, n);
	for (int i = 0; i < n; i++)
		while (found[i] + 1 < nnames &&
		       strcmp(names[found[i]], p->tensors[tensors[i]].name))
			found[i]++;
	return found;
}

/* Finds the stages of states and folds.  A state is in one stage; what other
 * stages receive of it is no state there.  Several stages may have folds of
 * it. */
static void find_stage(executor *m, int s)
{
	const plan_pipeline *p = m->p;
	const plan *x = &p->stages[s];
	m->inputs_of[s] = find_numbers(m, x, x->inputs, x->ninputs, p->inputs,
				       p->ninputs);
	m->outputs_of[s] = find_numbers(m, x, x->outputs, x->noutputs,
					p->outputs, p->noutputs);
	for (int t = 0; t < x->ntensors; t++) {
		const stage_tensor of = { s, t };
		if (x->tensors[t].role == PLAN_STATE &&
		    (x->tensors[t].buffer >= 0 ||
		     !strmap_get(m->states, x->tensors[t].name)))
			strmap_put(m->states, x->tensors[t].name,
				   ARENA_COPY(m->a, &of, 1));
	}
}

/* The stage and tensor of an output of the pipeline; it is the output of a
 * single stage. */
static stage_tensor find_result(const plan_pipeline *p, const char *name)
{
	stage_tensor found = { 0, 0 };
	for (int s = 0; s < p->nstages; s++) {
		const plan *x = &p->stages[s];
		for (int i = 0; i < x->noutputs; i++)
			if (!strcmp(x->tensors[x->outputs[i]].name, name))
				found = (stage_tensor){ s, x->outputs[i] };
	}
	return found;
}

static void find_tensors(executor *m)
{
	const plan_pipeline *p = m->p;
	m->inputs_of = ARENA_ARRAY(m->a, int *, p->nstages);
	m->outputs_of = ARENA_ARRAY(m->a, int *, p->nstages);
	m->results = ARENA_ARRAY(m->a, stage_tensor, p->noutputs);
	m->states = strmap_new(m->a);
	for (int s = 0; s < p->nstages; s++)
		find_stage(m, s);
	for (int i = 0; i < p->noutputs; i++)
		m->results[i] = find_result(p, p->outputs[i]);
	executor_find_folds(m);
}

executor *executor_open(const plan_pipeline *p, const char *path,
			const backend *b, const communicator *c, void *run,
			const backend_options *o, failure *f)
{
	arena *a = arena_new();
	executor *m = ARENA_NEW(a, executor);
	*m = (executor){ .a = a,
			 .asked = p,
			 .backend = b,
			 .comm = c,
			 .nworkers = pipeline_first(p, p->nstages) };
	m->p = pipeline_unroll(a, p);
	find_workers(m);
	find_tensors(m);
	executor_find_chains(m);
	m->arenas = ARENA_ARRAY(a, unsigned char *, m->nworkers);
	m->used = ARENA_ARRAY(a, _Atomic int64_t, m->nworkers);
	memory_guard g;
	memory_guard_on(&g, close_guarded, m);
	bool good = open_link(m, run, f) && check_workers(m, path, f) &&
		    open_device(m, o, f) && allocate(m, f) &&
		    executor_keep(m, f) &&
		    executor_load(m, f) && attach(m, f);
	if (good)
		executor_prepare(m);
	memory_guard_off(&g);
	if (good)
		return m;
	executor_abandon(m);
	executor_close(m);
	return NULL;
}

void executor_abandon(executor *m)
{
	if (m->device && m->backend->abandon)
		m->backend->abandon(m->device);
}

void executor_close(executor *m)
{
	if (m->device)
		executor_keep_no_more(m);
	for (int w = m->first; m->device && w < m->end; w++)
		m->backend->free(m->device, w - m->first, m->arenas[w],
				 part_plan(m, w)->arena_bytes);
	if (m->device)
		m->backend->close(m->device);
	if (m->link)
		m->comm->close(m->link);
	arena_free(m->a);
}

/* ---- a step ------------------------------------------------------------ */

void machine_disturb(executor *m, const bool *nodes, double noise,
		     uint64_t seed)
{
	m->disturbed = nodes;
	m->noise = noise;
	m->seed = seed;
}

static bool feed_device(executor *m, int worker, failure *f)
{
	const plan *p = part_plan(m, worker);
	for (int i = 0; i < p->ninstrs; i++)
		if (p->program[i].op == PLAN_FEED)
			part_feed(m, worker, i);
	return step_feed(m, worker, f);
}

/* The same with a backend that runs programs, for all workers of this
 * process. */
static bool run_on_device(executor *m, failure *f)
{
	for (int w = m->first; w < m->end; w++)
		if (!feed_device(m, w, f))
			return false;
	if (!m->comm->barrier(m->link, m->first))
		return false;
	double start = clock_seconds();
	bool good = m->backend->step(m->device, f);
	step_note_seconds(m, clock_seconds() - start);
	for (int w = m->first; good && w < m->end; w++)
		for (int i = 0; i < part_plan(m, w)->ninstrs; i++)
			part_hand_out(m, w, i);
	return good;
}

/* An output that is also an input or a constant is read from there, except an
 * input divided over turns. */
bool executor_step(executor *m, const array *inputs, const array *outputs,
		   failure *f)
{
	m->inputs = inputs;
	m->outputs = outputs;
	if (!executor_fold(m, f))
		return false;
	executor_lend(m);
	bool good = executor_is_host(m)
			    ? step_run(m, f)
			    : run_on_device(m, f);
	for (int i = 0; good && i < m->p->noutputs; i++) {
		const stage_tensor of = m->results[i];
		const plan *p = &m->p->stages[of.stage];
		if (!outputs[i].data || p->tensors[of.tensor].buffer < 0)
			continue;
		good = plan_in_turns(p, of.tensor)
			       ? part_spread(m, of, outputs[i].data, f)
			       : part_gather(m, of, outputs[i].data, f);
	}
	executor_take_back(m);
	return good;
}

/* ---- states ------------------------------------------------------------ */

int *plan_states(arena *a, const plan *p, int *n)
{
	int *states = ARENA_ARRAY(a, int, p->ntensors);
	*n = 0;
	for (int t = 0; t < p->ntensors; t++)
		if (p->tensors[t].role == PLAN_STATE)
			states[(*n)++] = t;
	return states;
}

static int state_buffer(const executor *m, const stage_tensor *of)
{
	return m->p->stages[of->stage].tensors[of->tensor].buffer;
}

bool executor_state_get(const executor *m, const array *x, failure *f)
{
	const stage_tensor *of = strmap_get(m->states, x->name);
	return state_buffer(m, of) < 0
		       ? executor_fold_get(m, x->name, x->data, f)
		       : part_gather(m, *of, x->data, f);
}

bool executor_state_set(executor *m, const array *x, failure *f)
{
	const stage_tensor *of = strmap_get(m->states, x->name);
	int buffer = state_buffer(m, of);
	bool good = true;
	kept_spoil_all(m);
	for (int w = m->first; good && buffer >= 0 && w < m->end; w++)
		if (m->stage[w] == of->stage)
			good = part_scatter(m, w, buffer, x->data, f);
	return good && executor_fold_set(m, x->name, x->data, f);
}

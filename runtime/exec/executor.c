#include "config.h"

#include "runtime/exec/executor.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checked.h"
#include "base/clock.h"
#include "base/memory.h"
#include "runtime/exec/executor_parts.h"
#include "runtime/exec/verify.h"

array executor_array(const plan *p, int tensor)
{
	const plan_tensor *t = &p->tensors[tensor];
	array x = { .name = t->name, .type = t->type, .ndim = t->ndim };
	memcpy(x.dims, t->dims, sizeof(x.dims));
	return x;
}

/* ---- opening ----------------------------------------------------------- */

/* Those elements that are a formula, on each worker its own. */
static bool make_constant(executor *m, int tensor, failure *f)
{
	const plan_tensor *t = &m->p->tensors[tensor];
	int64_t size = (int64_t)dtype_size(t->type);
	bool good = true;
	for (int w = m->first; good && w < m->end; w++) {
		region part = plan_region(m->p, t->buffer, w);
		part_touch(m, w, t->buffer, &part);
		if (executor_is_host(m)) {
			plan_constant_box(t, &part.at,
					  part_place(m, w, t->buffer));
			continue;
		}
		void *staged = part_stage(part.count * size, f);
		if (staged)
			plan_constant_box(t, &part.at, staged);
		good = staged &&
		       part_put(m, w, t->buffer, staged, part.count * size, f);
		free(staged);
	}
	return good;
}

static bool load_constant(executor *m, int tensor, diag_sink *s, failure *f)
{
	const plan_tensor *t = &m->p->tensors[tensor];
	if (t->constant.kind == PLAN_CONST_FILL ||
	    t->constant.kind == PLAN_CONST_RANDOM)
		return make_constant(m, tensor, f);
	int64_t nbytes = plan_tensor_nbytes(t);
	void *whole = memory_malloc((size_t)nbytes);
	if (!whole)
		return fail_with(f, CLI_MACHINE, "no memory for the %" PRId64
				 " bytes of '%s'", nbytes, t->name);
	bool good = plan_constant_read(m->p, tensor, whole, s);
	for (int w = m->first; good && w < m->end; w++)
		good = part_scatter(m, w, t->buffer, whole, f);
	memory_free(whole);
	return good;
}

static bool load_constants(executor *m, failure *f)
{
	arena *work = arena_new();
	diag_sink *s = diag_sink_new(work);
	bool good = true;
	for (int i = 0; good && i < m->p->ntensors; i++) {
		const plan_tensor *t = &m->p->tensors[i];
		if ((t->role == PLAN_CONSTANT || t->role == PLAN_STATE) &&
		    t->buffer >= 0)
			good = load_constant(m, i, s, f);
	}
	good = fail_of(f, s) && good;
	arena_free(work);
	return good;
}

static bool check_workers(executor *m, const char *path, failure *f)
{
	arena *work = arena_new();
	diag_sink *s = diag_sink_new(work);
	bool good = true;
	for (int w = m->first; good && w < m->end; w++)
		good = plan_check_worker(m->asked, w, s, path);
	good = fail_of(f, s) && good;
	arena_free(work);
	return good;
}

static bool allocate(executor *m, failure *f)
{
	int64_t all, have = (int64_t)sysconf(_SC_PHYS_PAGES) *
			    (int64_t)sysconf(_SC_PAGESIZE);
	int64_t each = m->p->arena_bytes;
	if (!executor_is_host(m))
		have = 0;
	if (!ck_mul(each, m->neighbours, &all) || (have > 0 && all > have))
		return fail_with(f, CLI_MACHINE, "%d workers need %" PRId64
				 " bytes each, the machine has %" PRId64
				 " bytes of memory", m->neighbours, each, have);
	for (int w = m->first; w < m->end; w++) {
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

/* Worker 0's process comes first: what it compiles the others find in the
 * cache, as far as they share one. */
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

executor *executor_open(const plan *p, const char *path, const backend *b,
			const communicator *c, void *run,
			const backend_options *o, failure *f)
{
	arena *a = arena_new();
	executor *m = ARENA_NEW(a, executor);
	*m = (executor){ .a = a,
			 .asked = p,
			 .p = plan_unroll(a, p, PLAN_MAX_TURNS),
			 .backend = b,
			 .comm = c,
			 .nworkers = mesh_workers(&p->mesh) };
	m->arenas = ARENA_ARRAY(a, unsigned char *, m->nworkers);
	m->used = ARENA_ARRAY(a, int64_t, m->nworkers);
	memory_guard g;
	memory_guard_on(&g, close_guarded, m);
	bool good = open_link(m, run, f) && check_workers(m, path, f) &&
		    open_device(m, o, f) && allocate(m, f) &&
		    load_constants(m, f) && attach(m, f);
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
	for (int w = m->first; m->device && w < m->end; w++)
		m->backend->free(m->device, w - m->first, m->arenas[w],
				 m->p->arena_bytes);
	if (m->device)
		m->backend->close(m->device);
	if (m->link)
		m->comm->close(m->link);
	arena_free(m->a);
}

/* ---- a step ------------------------------------------------------------ */

static view view_of(executor *m, int worker, int buffer)
{
	const plan_buffer *b = &m->p->buffers[buffer];
	region r = plan_region(m->p, buffer, worker);
	part_touch(m, worker, buffer, &r);
	return view_dense(part_place(m, worker, buffer),
			  m->p->tensors[b->tensor].type, &r.at);
}

void machine_disturb(executor *m, const bool *nodes, double noise,
		     uint64_t seed)
{
	m->disturbed = nodes;
	m->noise = noise;
	m->seed = seed;
}

/* One worker has whole tensors, or a turn's part of them. */
static void disturb(executor *m, int worker, const plan_instr *in)
{
	array x = executor_array(m->p, m->p->buffers[in->to].tensor);
	region held = plan_region(m->p, in->to, worker);
	for (int d = 0; d < x.ndim; d++)
		x.dims[d] = held.at.hi[d] - held.at.lo[d];
	x.data = part_place(m, worker, in->to);
	assert(m->nworkers == 1);
	verify_move(&x, m->noise, m->seed++);
}

static bool run_kernel(executor *m, int worker, int instr, failure *f)
{
	const plan_instr *in = &m->p->program[instr];
	const plan_node *n = &m->p->nodes[in->node];
	const kernel *k = m->p->kernels[n->kernel].kernel;
	view inputs[MAX_NINPUTS], out = view_of(m, worker, in->to);
	box space = plan_space(m->p, in, worker);
	kernel_run r = { n->kernel, &space, inputs, &out };
	for (int i = 0; i < k->ninputs; i++)
		inputs[i] = view_of(m, worker, in->inputs[i]);
	if (!plan_is_idle(m->p, in) &&
	    !m->backend->run(m->device, worker - m->first, &r, f))
		return backend_at(m->p, worker, instr, f);
	if (m->disturbed && m->disturbed[in->node])
		disturb(m, worker, in);
	return true;
}

static void touch_transfer(executor *m, int worker, const plan_instr *in)
{
	region from = plan_region(m->p, in->from, worker);
	region to = plan_region(m->p, in->to, worker);
	part_touch(m, worker, in->from, &from);
	part_touch(m, worker, in->to, &to);
}

static bool run_instr(executor *m, int worker, int i, failure *f)
{
	const plan_instr *in = &m->p->program[i];
	memory_poll();
	if (!m->comm->ready(m->link, i, worker))
		return false;
	if (i > 0) /* now the transfer before has ended, if it was one */
		part_hand_out(m, worker, i - 1);
	switch (in->op) {
	case PLAN_RUN:
		return run_kernel(m, worker, i, f);
	case PLAN_MOVE:
		touch_transfer(m, worker, in);
		return m->comm->move(m->link, i, worker);
	case PLAN_COMBINE:
		touch_transfer(m, worker, in);
		return m->comm->combine(m->link, i, worker);
	case PLAN_FEED:
		part_feed(m, worker, i);
		return true;
	case PLAN_SEND:
	case PLAN_RECEIVE:
		assert(!"a message between stages");
	}
	return false;
}

static bool feed_worker(executor *m, int worker, failure *f)
{
	const plan *p = m->p;
	bool good = true;
	for (int i = 0; good && i < p->ninputs; i++) {
		int to = p->tensors[p->inputs[i]].buffer;
		if (to >= 0 && !plan_in_turns(p, p->inputs[i]))
			good = part_scatter(m, worker, to, m->inputs[i].data,
					    f);
	}
	return good;
}

/* One worker's step.  The time is that of worker 0 between two barriers, and
 * so that of the slowest. */
static bool run_program(void *arg, int worker, failure *f)
{
	executor *m = arg;
	const plan *p = m->p;
	double start;
	if (!feed_worker(m, worker, f) || !m->comm->barrier(m->link, worker))
		return false;
	start = clock_seconds();
	for (int i = 0; i < p->ninstrs; i++)
		if (!run_instr(m, worker, i, f))
			return false;
	if (!m->comm->barrier(m->link, worker))
		return false;
	if (p->ninstrs > 0)
		part_hand_out(m, worker, p->ninstrs - 1);
	if (worker == 0)
		m->seconds += clock_seconds() - start;
	return true;
}

static bool feed_device(executor *m, int worker, failure *f)
{
	for (int i = 0; i < m->p->ninstrs; i++)
		if (m->p->program[i].op == PLAN_FEED)
			part_feed(m, worker, i);
	return feed_worker(m, worker, f);
}

/* The same by a backend that runs programs, for all workers here. */
static bool run_on_device(executor *m, failure *f)
{
	for (int w = m->first; w < m->end; w++)
		if (!feed_device(m, w, f))
			return false;
	if (!m->comm->barrier(m->link, m->first))
		return false;
	double start = clock_seconds();
	bool good = m->backend->step(m->device, f);
	m->seconds += clock_seconds() - start;
	for (int w = m->first; good && w < m->end; w++)
		for (int i = 0; i < m->p->ninstrs; i++)
			part_hand_out(m, w, i);
	return good;
}

/* An output that is an input, or a constant, is where that is; but one that is
 * an input in turns. */
bool executor_step(executor *m, const array *inputs, const array *outputs,
		   failure *f)
{
	const plan *p = m->p;
	m->inputs = inputs;
	m->outputs = outputs;
	bool good = executor_is_host(m)
			    ? m->comm->launch(m->link, run_program, m, f)
			    : run_on_device(m, f);
	for (int i = 0; good && i < p->noutputs; i++) {
		const plan_tensor *t = &p->tensors[p->outputs[i]];
		if (!outputs[i].data || t->buffer < 0)
			continue;
		good = plan_in_turns(p, p->outputs[i])
			       ? part_spread(m, t, outputs[i].data, f)
			       : part_gather(m, p->outputs[i], outputs[i].data,
					     f);
	}
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

bool executor_state_get(const executor *m, int tensor, const array *x,
			failure *f)
{
	return part_gather(m, tensor, x->data, f);
}

bool executor_state_set(executor *m, int tensor, const array *x, failure *f)
{
	bool good = true;
	for (int w = m->first; good && w < m->end; w++)
		good = part_scatter(m, w, m->p->tensors[tensor].buffer, x->data,
				    f);
	return good;
}

/* ---- what was measured ------------------------------------------------- */

int executor_agree(const executor *m, int x)
{
	return (int)m->comm->greatest(m->link, x);
}

double executor_seconds(const executor *m)
{
	return m->seconds;
}

int64_t executor_received(const executor *m)
{
	int64_t n = 0;
	for (int i = 0; i < m->p->ninstrs; i++)
		if (plan_moves(&m->p->program[i]))
			n += executor_is_host(m)
				     ? m->comm->received(m->link, i)
				     : m->backend->received(m->device, i);
	return m->comm->sum(m->link, n);
}

void machine_copies(const executor *m, int64_t *planned, int64_t *used)
{
	*planned = *used = 0;
	if (!executor_is_host(m) && m->backend->copies)
		m->backend->copies(m->device, planned, used);
	*used = m->comm->greatest(m->link, *used);
}

int64_t executor_arena_used(const executor *m)
{
	int64_t most = executor_is_host(m) ? 0 : m->backend->used(m->device);
	for (int w = 0; w < m->nworkers; w++)
		if (m->used[w] > most)
			most = m->used[w];
	return m->comm->greatest(m->link, most);
}

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
#include "layout/runs.h"
#include "runtime/exec/verify.h"

struct executor {
	arena *a;
	const plan *p;
	const backend *backend;
	void *device;
	const communicator *comm;
	void *link;
	int nworkers;
	int first, end; /* those that are in this process */
	int neighbours; /* those on this machine */
	unsigned char **arenas;
	int64_t *used; /* by worker: its arena up to the last byte touched */
	const array *inputs;
	double seconds;
	const bool *disturbed; /* nodes; see machine_disturb() */
	double noise;
	uint64_t seed; /* of the next result that is disturbed */
};

array executor_array(const plan *p, int tensor)
{
	const plan_tensor *t = &p->tensors[tensor];
	array x = { .name = t->name, .type = t->type, .ndim = t->ndim };
	memcpy(x.dims, t->dims, sizeof(x.dims));
	return x;
}

/* ---- buffers ----------------------------------------------------------- */

static unsigned char *place(const executor *m, int worker, int buffer)
{
	return m->arenas[worker] + m->p->buffers[buffer].offset;
}

/* Notes that a worker uses a region of a buffer. */
static void touch(executor *m, int worker, int buffer, const region *r)
{
	const plan_buffer *b = &m->p->buffers[buffer];
	int64_t size = (int64_t)dtype_size(m->p->tensors[b->tensor].type);
	int64_t end = b->offset + r->count * size;
	end = round_up(end, PLAN_ALIGN);
	end = end < m->p->arena_bytes ? end : m->p->arena_bytes;
	if (r->count > 0 && end > m->used[worker])
		m->used[worker] = end;
}

static region whole_region(const plan_tensor *t)
{
	region r = { .at = box_whole(t->dims, t->ndim) };
	r.count = box_volume(&r.at);
	return r;
}

static void copy_runs(runs *r, size_t size, char *dst, const char *src)
{
	while (runs_next(r))
		memcpy(dst + (size_t)r->dst * size, src + (size_t)r->src * size,
		       (size_t)r->n * size);
}

/* Whether the host reads and writes the workers' memory itself. */
static bool is_host(const executor *m)
{
	return !m->backend->put;
}

/* Host memory in place of a worker's own. */
static void *stage(int64_t nbytes, failure *f)
{
	void *x = malloc(nbytes > 0 ? (size_t)nbytes : 1);
	if (!x)
		fail_with(f, CLI_MACHINE, "no memory for %" PRId64 " bytes",
			  nbytes);
	return x;
}

/* Copies a worker's part of a tensor, made on the host, to where it lies. */
static bool put(executor *m, int worker, int buffer, const void *part,
		int64_t nbytes, failure *f)
{
	return m->backend->put(m->device, worker - m->first,
			       place(m, worker, buffer), part, nbytes, f);
}

/* Copies the worker's part out of a whole tensor. */
static bool scatter(executor *m, int worker, int tensor, const void *whole,
		    failure *f)
{
	const plan_tensor *t = &m->p->tensors[tensor];
	region part = plan_region(m->p, t->buffer, worker);
	region all = whole_region(t);
	runs r = runs_of(&part.at, &part, &all);
	size_t size = dtype_size(t->type);
	touch(m, worker, t->buffer, &part);
	if (is_host(m)) {
		copy_runs(&r, size, (char *)place(m, worker, t->buffer), whole);
		return true;
	}
	if (part.count == all.count)
		return put(m, worker, t->buffer, whole,
			   part.count * (int64_t)size, f);
	void *staged = stage(part.count * (int64_t)size, f);
	if (staged)
		copy_runs(&r, size, staged, whole);
	bool good = staged && put(m, worker, t->buffer, staged,
				  part.count * (int64_t)size, f);
	free(staged);
	return good;
}

/* Whether other workers that hold the same part of a tensor come before this
 * one. */
static bool is_copy(const executor *m, int worker, const plan_tensor *t)
{
	int coords[MAX_AXES];
	mesh_coords(&m->p->mesh, worker, coords);
	for (int i = 0; i < m->p->mesh.naxes; i++)
		if (t->cuts.dim[i] == CUT_NONE && coords[i] > 0)
			return true;
	return false;
}

/* Whether all workers are in this process. */
static bool is_alone(const executor *m)
{
	return m->end - m->first == m->nworkers;
}

/* A worker's part of a tensor in the host's memory, which `staged` may be. */
static const char *part_of(const executor *m, int worker, int buffer,
			   int64_t nbytes, char *staged, failure *f)
{
	unsigned char *at = place(m, worker, buffer);
	if (is_host(m))
		return (const char *)at;
	return m->backend->get(m->device, worker - m->first, staged, at,
			       nbytes, f) ? staged : NULL;
}

/* Adds one worker's part to a tensor, in every process. */
static bool gather_part(const executor *m, int worker, int tensor, char *staged,
			void *whole, failure *f)
{
	const plan_tensor *t = &m->p->tensors[tensor];
	region all = whole_region(t), part = plan_region(m->p, t->buffer,
							 worker);
	runs r = runs_of(&part.at, &all, &part);
	int64_t size = (int64_t)dtype_size(t->type);
	const char *from = staged;
	if (m->first <= worker && worker < m->end)
		from = part_of(m, worker, t->buffer, part.count * size, staged,
			       f);
	if (!from)
		return false;
	if (!is_alone(m)) {
		if (from != staged && m->first <= worker && worker < m->end)
			memcpy(staged, from, (size_t)(part.count * size));
		m->comm->share(m->link, worker, staged, part.count * size);
		from = staged;
	}
	copy_runs(&r, (size_t)size, whole, from);
	return true;
}

/* Makes a tensor whole out of the workers' parts, in every process. */
static bool gather(const executor *m, int tensor, void *whole, failure *f)
{
	const plan_tensor *t = &m->p->tensors[tensor];
	char *staged = NULL;
	bool good = true;
	if (!is_alone(m) || !is_host(m)) {
		staged = stage(plan_tensor_nbytes(t), f);
		good = staged != NULL;
	}
	for (int w = 0; good && w < m->nworkers; w++)
		if (!is_copy(m, w, t))
			good = gather_part(m, w, tensor, staged, whole, f);
	free(staged);
	return good;
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
		touch(m, w, t->buffer, &part);
		if (is_host(m)) {
			plan_constant_box(t, &part.at, place(m, w, t->buffer));
			continue;
		}
		void *staged = stage(part.count * size, f);
		if (staged)
			plan_constant_box(t, &part.at, staged);
		good = staged && put(m, w, t->buffer, staged,
				     part.count * size, f);
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
		good = scatter(m, w, tensor, whole, f);
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
		good = plan_check_worker(m->p, w, s, path);
	good = fail_of(f, s) && good;
	arena_free(work);
	return good;
}

static bool allocate(executor *m, failure *f)
{
	int64_t all, have = (int64_t)sysconf(_SC_PHYS_PAGES) *
			    (int64_t)sysconf(_SC_PAGESIZE);
	int64_t each = m->p->arena_bytes;
	if (!is_host(m))
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
	if (m->first == 0 && !is_alone(m) && m->device)
		m->comm->barrier(m->link, 0);
	return m->device != NULL;
}

static bool attach(executor *m, failure *f)
{
	if (!is_host(m))
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
	*m = (executor){ .a = a, .p = p, .backend = b, .comm = c,
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
	touch(m, worker, buffer, &r);
	return view_dense(place(m, worker, buffer),
			  m->p->tensors[b->tensor].type, &r.at);
}

void machine_disturb(executor *m, const bool *nodes, double noise,
		     uint64_t seed)
{
	m->disturbed = nodes;
	m->noise = noise;
	m->seed = seed;
}

/* One worker has whole tensors. */
static void disturb(executor *m, int worker, const plan_instr *in)
{
	array x = executor_array(m->p, m->p->buffers[in->to].tensor);
	x.data = place(m, worker, in->to);
	assert(m->nworkers == 1);
	verify_move(&x, m->noise, m->seed++);
}

static bool run_kernel(executor *m, int worker, int instr, failure *f)
{
	const plan_instr *in = &m->p->program[instr];
	const plan_node *n = &m->p->nodes[in->node];
	const kernel *k = m->p->kernels[n->kernel].kernel;
	view inputs[MAX_NINPUTS], out = view_of(m, worker, in->to);
	box space = plan_space(m->p, in->node, worker);
	kernel_run r = { n->kernel, &space, inputs, &out };
	for (int i = 0; i < k->ninputs; i++)
		inputs[i] = view_of(m, worker, in->inputs[i]);
	if (!m->backend->run(m->device, worker - m->first, &r, f))
		return backend_at(m->p, worker, instr, f);
	if (m->disturbed && m->disturbed[in->node])
		disturb(m, worker, in);
	return true;
}

static void touch_transfer(executor *m, int worker, const plan_instr *in)
{
	region from = plan_region(m->p, in->from, worker);
	region to = plan_region(m->p, in->to, worker);
	touch(m, worker, in->from, &from);
	touch(m, worker, in->to, &to);
}

static bool run_instr(executor *m, int worker, int i, failure *f)
{
	const plan_instr *in = &m->p->program[i];
	memory_poll();
	if (!m->comm->ready(m->link, i, worker))
		return false;
	switch (in->op) {
	case PLAN_RUN:
		return run_kernel(m, worker, i, f);
	case PLAN_MOVE:
		touch_transfer(m, worker, in);
		return m->comm->move(m->link, i, worker);
	case PLAN_COMBINE:
		touch_transfer(m, worker, in);
		return m->comm->combine(m->link, i, worker);
	}
	return false;
}

static bool feed_worker(executor *m, int worker, failure *f)
{
	const plan *p = m->p;
	bool good = true;
	for (int i = 0; good && i < p->ninputs; i++)
		if (p->tensors[p->inputs[i]].buffer >= 0)
			good = scatter(m, worker, p->inputs[i],
				       m->inputs[i].data, f);
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
	if (worker == 0)
		m->seconds += clock_seconds() - start;
	return true;
}

/* The same by a backend that runs programs, for all workers here. */
static bool run_on_device(executor *m, failure *f)
{
	for (int w = m->first; w < m->end; w++)
		if (!feed_worker(m, w, f))
			return false;
	if (!m->comm->barrier(m->link, m->first))
		return false;
	double start = clock_seconds();
	bool good = m->backend->step(m->device, f);
	m->seconds += clock_seconds() - start;
	return good;
}

/* An output that is an input, or a constant, is where that is. */
bool executor_step(executor *m, const array *inputs, const array *outputs,
		   failure *f)
{
	const plan *p = m->p;
	m->inputs = inputs;
	bool good = is_host(m) ? m->comm->launch(m->link, run_program, m, f) :
				 run_on_device(m, f);
	for (int i = 0; good && i < p->noutputs; i++)
		if (outputs[i].data && p->tensors[p->outputs[i]].buffer >= 0)
			good = gather(m, p->outputs[i], outputs[i].data, f);
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
	return gather(m, tensor, x->data, f);
}

bool executor_state_set(executor *m, int tensor, const array *x, failure *f)
{
	bool good = true;
	for (int w = m->first; good && w < m->end; w++)
		good = scatter(m, w, tensor, x->data, f);
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
		if (m->p->program[i].op != PLAN_RUN)
			n += is_host(m) ? m->comm->received(m->link, i) :
					  m->backend->received(m->device, i);
	return m->comm->sum(m->link, n);
}

void machine_copies(const executor *m, int64_t *planned, int64_t *used)
{
	*planned = *used = 0;
	if (!is_host(m) && m->backend->copies)
		m->backend->copies(m->device, planned, used);
	*used = m->comm->greatest(m->link, *used);
}

int64_t executor_arena_used(const executor *m)
{
	int64_t most = is_host(m) ? 0 : m->backend->used(m->device);
	for (int w = 0; w < m->nworkers; w++)
		if (m->used[w] > most)
			most = m->used[w];
	return m->comm->greatest(m->link, most);
}

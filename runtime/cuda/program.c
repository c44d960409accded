#include "config.h"

#include "runtime/cuda/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "runtime/cuda/epilogue.h"
#include "runtime/cuda/parts.h"

static void note_used(program *x, int buffer, int worker)
{
	const plan_buffer *b = &x->p->buffers[buffer];
	int64_t n = plan_region(x->p, buffer, worker).count *
		    (int64_t)dtype_size(x->p->tensors[b->tensor].type);
	int64_t end = b->offset + n;
	end = round_up(end, PLAN_ALIGN);
	end = end < x->p->arena_bytes ? end : x->p->arena_bytes;
	if (n > 0 && end > x->used)
		x->used = end;
}

static void note_instr(program *x, const plan_instr *in, int worker)
{
	int n = 0;
	if (in->op == PLAN_RUN)
		n = x->p->kernels[x->p->nodes[in->node].kernel].kernel->ninputs;
	else if (plan_moves(in))
		note_used(x, in->from, worker);
	for (int i = 0; i < n; i++)
		note_used(x, in->inputs[i], worker);
	note_used(x, in->to, worker);
}

bool program_pin(program *x, void **to, size_t nbytes, failure *f)
{
	if (!cuda_enter(x->c, 0, f) ||
	    !CUDA_CALL(&x->c->api, f, cuMemAllocHost, to, nbytes))
		return false;
	memset(*to, 0, nbytes);
	return true;
}

/* Staging memory of a worker is that of one call at a time. */
static bool open_staging(program *x, failure *f)
{
	const cuda *c = x->c;
	x->staging = ARENA_ARRAY(x->a, void *, c->nworkers);
	for (int w = 0; w < c->nworkers; w++) {
		int64_t most = 0;
		for (int i = 0; i < x->p->ninstrs; i++) {
			if (x->p->program[i].op != PLAN_RUN ||
			    kernels_on_gpu(c->kernels, program_kernel(x, i)))
				continue;
			int64_t n = host_call_bytes(x->p, i, c->first + w);
			most = n > most ? n : most;
		}
		if (most > 0 &&
		    !program_pin(x, &x->staging[w], (size_t)most, f))
			return false;
	}
	return true;
}

/* The places of faults are numbered first: a launch has its own in its words.
 */
static void number_faults(program *x, int instr, int worker)
{
	action *n = &x->actions[instr][worker];
	int k = program_kernel(x, instr);
	*n = (action){ .instr = instr, .worker = worker, .fault = -1 };
	if (kernels_may_fault(x->c->kernels, k))
		n->fault = x->queues[cuda_gpu_of(x->c, worker)].nfaults++;
}

static bool open_marks(program *x, int i, failure *f)
{
	gpu_queue *s = &x->queues[i];
	const cuda_api *api = &x->c->api;
	uint32_t n = program_mark(x, x->schedule.nsteps, 0);
	arena *work = arena_new();
	uint32_t *marks = ARENA_ARRAY(work, uint32_t, n);
	size_t nbytes = n * sizeof(*marks);
	for (uint32_t k = 0; k < n; k++)
		marks[k] = k + 1;
	bool good = CUDA_CALL(api, f, cuMemAlloc, &s->marks, nbytes) &&
		    CUDA_CALL(api, f, cuMemcpyHtoDAsync, s->marks, marks,
			      nbytes, program_queue(x, i)) &&
		    CUDA_CALL(api, f, cuStreamSynchronize, program_queue(x, i));
	arena_free(work);
	return good;
}

static bool open_station(program *x, int i, failure *f)
{
	gpu_queue *s = &x->queues[i];
	const cuda_api *api = &x->c->api;
	size_t nbytes = (size_t)s->nfaults * sizeof(device_fault);
	if (!program_pin(x, (void **)&s->reached, sizeof(*s->reached), f) ||
	    !program_enter(x, i, f) ||
	    !CUDA_CALL(api, f, cuEventCreate, &s->ended,
		       CU_EVENT_DISABLE_TIMING) ||
	    !open_marks(x, i, f))
		return false;
	return nbytes == 0 ||
	       (CUDA_CALL(api, f, cuMemAlloc, &s->faults, nbytes) &&
		program_pin(x, (void **)&s->seen, nbytes, f));
}

/* Whether an instruction may run as soon as the one before it, a kernel,
 * may. */
static bool waits_for_nobody(const program *x, int instr)
{
	if (!program_has_two_queues(x))
		return true;
	for (int i = 0; i < x->schedule.nsteps; i++)
		if (x->schedule.steps[i].instrs[0] == instr)
			return x->schedule.steps[i].nafter == 0;
	return true;
}

/* A library may do the next action in the same call. */
static void call_library(program *x, action *n, const bind_run *r)
{
	cuda *c = x->c;
	bind_run both = *r;
	library_epilogue e;
	if (epilogue_after(c, n->instr, n->worker, &both, &e) &&
	    waits_for_nobody(x, n->instr + 1))
		n->library = library_plan(c->library, n->worker, &both, &e);
	if (n->library)
		x->actions[n->instr + 1][n->worker].done = true;
	else
		n->library = library_plan(c->library, n->worker, r, NULL);
}

static void make_action(program *x, action *n)
{
	cuda *c = x->c;
	int k = program_kernel(x, n->instr), gpu = cuda_gpu_of(c, n->worker);
	if (kernels_on_gpu(c->kernels, k)) {
		bind_run r = bind_run_of(x->p, n->instr, c->first + n->worker,
					 c->arenas[n->worker]);
		if (c->library)
			call_library(x, n, &r);
		if (n->fault >= 0)
			r.fault = x->queues[gpu].faults +
				  (size_t)n->fault * sizeof(device_fault);
		n->launch = kernels_launch(c->kernels, x->a, k, gpu, &r);
	} else {
		n->call = host_call_new(x->a, c, n->instr, n->worker,
					kernels_opaque(c->kernels, k),
					x->staging[n->worker]);
	}
	if (n->call || n->fault >= 0)
		vec_push(x->a, &x->checked, n);
}

static bool open_actions(program *x, failure *f)
{
	const cuda *c = x->c;
	x->actions = ARENA_ARRAY(x->a, action *, x->p->ninstrs);
	for (int i = 0; i < x->p->ninstrs; i++) {
		bool runs = x->p->program[i].op == PLAN_RUN;
		if (runs)
			x->actions[i] = ARENA_ARRAY(x->a, action, c->nworkers);
		for (int w = 0; w < c->nworkers; w++) {
			note_instr(x, &x->p->program[i], c->first + w);
			if (runs)
				number_faults(x, i, w);
		}
	}
	for (int i = 0; i < x->nqueues; i++)
		if (!open_station(x, i, f))
			return false;
	if (!open_staging(x, f) || !turns_open(x, f))
		return false;
	for (int i = 0; i < x->p->ninstrs; i++)
		for (int w = 0; x->actions[i] && w < c->nworkers; w++)
			make_action(x, &x->actions[i][w]);
	return !c->library || library_allocate(c->library, f);
}

static bool open_events(program *x, failure *f)
{
	const stream_schedule *s = &x->schedule;
	const cuda_api *api = &x->c->api;
	x->done = ARENA_ARRAY(x->a, CUevent, s->nsteps * x->c->ngpus);
	if (!cuda_enter(x->c, 0, f) ||
	    !CUDA_CALL(api, f, cuEventCreate, &x->begun,
		       CU_EVENT_DISABLE_TIMING))
		return false;
	if (!program_has_two_queues(x))
		return true;
	for (int g = 0; g < x->c->ngpus; g++) {
		if (!cuda_enter(x->c, g, f))
			return false;
		for (int i = 0; i < s->nsteps; i++)
			if (s->steps[i].marks &&
			    !CUDA_CALL(api, f, cuEventCreate,
				       program_done(x, i, g),
				       CU_EVENT_DISABLE_TIMING))
				return false;
	}
	return true;
}

const cuda_link *link_of(const communicator *comm)
{
#ifdef HAVE_NCCL
	if (comm == &comm_nccl)
		return &link_nccl;
#endif
	(void)comm;
	return &link_local;
}

/* Transfers are captured by all processes or by none: as the first says. */
static bool wants_replay(const program *x)
{
	const char *graph = getenv("TDL_CUDA_GRAPH");
	bool wants = !graph || strcmp(graph, "0") != 0;
	if (x->link != &link_local)
		x->comm->share(x->members, 0, &wants, sizeof(wants));
	return wants;
}

/* The driver puts code on a GPU when it is launched first, and so do
 * libraries. */
static bool has_room(const program *x, failure *f)
{
	enum { CODE = 256 << 20 };
	for (int i = 0; i < x->c->ngpus; i++)
		if (!cuda_has_room(x->c, i, CODE, "code of kernels and "
				   "libraries may need", f))
			return false;
	return true;
}

program *program_open(cuda *c, const communicator *comm, void *link, failure *f)
{
	arena *a = arena_new();
	program *x = ARENA_NEW(a, program);
	*x = (program){ .a = a, .c = c, .p = c->p, .link = c->link,
			.comm = comm, .members = link };
	x->replays = wants_replay(x);
	x->schedule = plan_streams(a, c->p);
	x->nqueues = c->ngpus * (1 + program_has_two_queues(x));
	x->queues = ARENA_ARRAY(a, gpu_queue, x->nqueues);
	if (open_actions(x, f) && open_events(x, f) && has_room(x, f)) {
		x->transfers = x->link->open(c, c->p, comm, link, f);
		if (x->transfers)
			return x;
	}
	program_close(x);
	return NULL;
}

void program_drop_graph(program *x)
{
	if (x->graph)
		x->c->api.cuGraphExecDestroy(x->graph);
	x->graph = NULL;
}

/* The queues end without the other processes.  A graph keeps the communicators
 * that its transfers use, so it goes first, or, while it runs, as soon as these
 * let it end. */
void program_abandon(program *x)
{
	program_drop_graph(x);
	if (x->transfers && x->link->abandon)
		x->link->abandon(x->transfers);
}

/* Errors are not told: a device that has failed reports them for ever. */
void program_close(program *x)
{
	const cuda_api *api = &x->c->api;
	failure ignored = { 0 };
	for (int i = 0; i < x->nqueues; i++)
		if (program_enter(x, i, &ignored))
			api->cuStreamSynchronize(program_queue(x, i));
	program_drop_graph(x);
	if (x->transfers)
		x->link->close(x->transfers);
	for (int i = 0; i < x->nqueues; i++) {
		gpu_queue *s = &x->queues[i];
		program_enter(x, i, &ignored);
		if (s->ended)
			api->cuEventDestroy(s->ended);
		if (s->faults)
			api->cuMemFree(s->faults);
		if (s->marks)
			api->cuMemFree(s->marks);
		if (s->seen)
			api->cuMemFreeHost(s->seen);
		if (s->reached)
			api->cuMemFreeHost(s->reached);
	}
	cuda_enter(x->c, 0, &ignored);
	for (int w = 0; x->staging && w < x->c->nworkers; w++)
		if (x->staging[w])
			api->cuMemFreeHost(x->staging[w]);
	turns_close(x);
	for (int i = 0; x->done && i < x->schedule.nsteps * x->c->ngpus; i++)
		if (x->done[i])
			api->cuEventDestroy(x->done[i]);
	if (x->begun)
		api->cuEventDestroy(x->begun);
	arena_free(x->a);
}

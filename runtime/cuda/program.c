#include "config.h"

#include "runtime/cuda/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "runtime/cuda/epilogue.h"
#include "runtime/cuda/parts.h"

static void note_used(stage_program *x, int buffer, int number)
{
	const plan_buffer *b = &x->p->buffers[buffer];
	int64_t n = plan_region(x->p, buffer, number).count *
		    (int64_t)dtype_size(x->p->tensors[b->tensor].type);
	int64_t end = b->offset + n;
	end = round_up(end, PLAN_ALIGN);
	end = end < x->p->arena_bytes ? end : x->p->arena_bytes;
	if (n > 0 && end > x->used)
		x->used = end;
}

static void note_instr(stage_program *x, const plan_instr *in, int number)
{
	int n = 0;
	if (in->op == PLAN_RUN)
		n = x->p->kernels[x->p->nodes[in->node].kernel].kernel->ninputs;
	else if (plan_moves(in))
		note_used(x, in->from, number);
	for (int i = 0; i < n; i++)
		note_used(x, in->inputs[i], number);
	note_used(x, in->to, number);
}

bool program_pin(program *x, void **to, size_t nbytes, failure *f)
{
	if (!cuda_enter(x->c, 0, f) ||
	    !CUDA_CALL(&x->c->api, f, cuMemAllocHost, to, nbytes))
		return false;
	memset(*to, 0, nbytes);
	return true;
}

/* ---- queues ------------------------------------------------------------ */

static void add_queue(program *x, int gpu, CUstream stream)
{
	x->queues[x->nqueues++] = (gpu_queue){ .gpu = gpu, .stream = stream };
}

static void list_queues(program *x)
{
	const cuda *c = x->c;
	bool own = cuda_has_queues(c);
	x->queues = ARENA_ARRAY(x->a, gpu_queue,
				c->ngpus * (2 + c->order.nlinks));
	for (int g = 0; g < c->ngpus; g++)
		add_queue(x, g, c->gpus[g].compute);
	for (int g = 0; own && g < c->ngpus; g++)
		add_queue(x, g, c->gpus[g].comm);
	for (int l = 0; own && l < c->order.nlinks; l++)
		for (int g = 0; g < c->ngpus; g++)
			if (c->gpus[g].messages[l])
				add_queue(x, g, c->gpus[g].messages[l]);
}

CUstream program_stream(const program *x, const cuda_stage *s, int queue,
			int gpu)
{
	const cuda_gpu *g = &x->c->gpus[gpu];
	bool own = cuda_has_queues(x->c);
	if (queue >= STREAM_COUNT && own)
		return g->messages[s->links[queue - STREAM_COUNT]];
	if (!cuda_is_on(x->c, s, gpu))
		return NULL;
	return queue == STREAM_COMMUNICATION && own ? g->comm : g->compute;
}

static int number_of(const program *x, CUstream stream)
{
	int i = 0;
	while (x->queues[i].stream != stream)
		i++;
	return i;
}

static void find_queues(program *x, stage_program *s)
{
	int nqueues = s->s->schedule.nqueues;
	s->queues = ARENA_ARRAY(x->a, queue_set, nqueues);
	for (int q = 0; q < nqueues; q++) {
		queue_set *to = &s->queues[q];
		to->at = ARENA_ARRAY(x->a, int, x->c->ngpus);
		for (int g = 0; g < x->c->ngpus; g++) {
			CUstream stream = program_stream(x, s->s, q, g);
			if (stream)
				to->at[to->n++] = number_of(x, stream);
		}
	}
}

/* Allocates marks, numbered from 1 over all items and workers. */
static bool open_marks(program *x, int gpu, failure *f)
{
	const cuda_api *api = &x->c->api;
	CUstream s = x->c->gpus[gpu].compute;
	uint32_t n = (uint32_t)(x->nitems * x->c->nworkers + 1);
	arena *work = arena_new();
	uint32_t *marks = ARENA_ARRAY(work, uint32_t, n);
	size_t nbytes = n * sizeof(*marks);
	for (uint32_t k = 0; k < n; k++)
		marks[k] = k + 1;
	bool good = CUDA_CALL(api, f, cuMemAlloc, &x->gpus[gpu].marks,
			      nbytes) &&
		    CUDA_CALL(api, f, cuMemcpyHtoDAsync, x->gpus[gpu].marks,
			      marks, nbytes, s) &&
		    CUDA_CALL(api, f, cuStreamSynchronize, s);
	arena_free(work);
	return good;
}

static bool open_gpu(program *x, int gpu, failure *f)
{
	gpu_memory *m = &x->gpus[gpu];
	size_t nbytes = (size_t)m->nfaults * sizeof(device_fault);
	if (!cuda_enter(x->c, gpu, f) || !open_marks(x, gpu, f))
		return false;
	return nbytes == 0 ||
	       (CUDA_CALL(&x->c->api, f, cuMemAlloc, &m->faults, nbytes) &&
		program_pin(x, (void **)&m->seen, nbytes, f));
}

static bool open_queue(program *x, gpu_queue *q, failure *f)
{
	return program_pin(x, (void **)&q->reached, sizeof(*q->reached), f) &&
	       cuda_enter(x->c, q->gpu, f) &&
	       CUDA_CALL(&x->c->api, f, cuEventCreate, &q->ended,
			 CU_EVENT_DISABLE_TIMING);
}

static bool open_queues(program *x, failure *f)
{
	for (int g = 0; g < x->c->ngpus; g++)
		if (!open_gpu(x, g, f))
			return false;
	for (int i = 0; i < x->nqueues; i++)
		if (!open_queue(x, &x->queues[i], f))
			return false;
	return true;
}

/* ---- runs -------------------------------------------------------------- */

/* Allocates staging memory.  A worker's staging memory serves one call at a
 * time. */
static bool open_staging(program *x, int worker, failure *f)
{
	const cuda *c = x->c;
	const stage_program *s = &x->stages[c->part_of[worker]];
	int64_t most = 0;
	for (int i = 0; i < s->p->ninstrs; i++) {
		if (s->p->program[i].op != PLAN_RUN ||
		    kernels_on_gpu(c->kernels, program_kernel(s, i)))
			continue;
		int64_t n = host_call_bytes(s->p, i, cuda_number(c, worker));
		most = n > most ? n : most;
	}
	return most == 0 ||
	       program_pin(x, &x->staging[worker], (size_t)most, f);
}

/* Numbers the places of faults.  This comes first, as a launch has its own
 * place in its words. */
static void number_faults(program *x, const stage_program *s, int instr,
			  int worker)
{
	action *n = program_action(x, worker, instr);
	*n = (action){ .instr = instr, .worker = worker, .fault = -1 };
	if (kernels_may_fault(x->c->kernels, program_kernel(s, instr)))
		n->fault = x->gpus[cuda_gpu_of(x->c, worker)].nfaults++;
}

static int step_of(const stream_schedule *s, int instr)
{
	int t = 0;
	while (s->steps[t].instrs[0] != instr)
		t++;
	return t;
}

/* Whether the instruction after a RUN is a RUN that can begin as soon as this
 * one can. */
static bool waits_for_nobody(const program *x, const stage_program *s,
			     int instr)
{
	const stream_schedule *all = &s->s->schedule;
	const stream_step *next = &all->steps[step_of(all, instr + 1)];
	int own = step_of(all, instr);
	for (int i = 0; i < next->nafter; i++)
		if (cuda_has_queues(x->c) || next->after[i] > own)
			return false;
	return true;
}

/* Lets a library do an action.  It may include the next action in the same
 * call. */
static void call_library(program *x, const stage_program *s, action *n,
			 const bind_run *r)
{
	cuda *c = x->c;
	bind_run both = *r;
	library_epilogue e;
	if (epilogue_after(c, n->instr, n->worker, &both, &e) &&
	    waits_for_nobody(x, s, n->instr))
		n->library = library_plan(c->library, n->worker, &both, &e);
	if (n->library)
		program_action(x, n->worker, n->instr + 1)->done = true;
	else
		n->library = library_plan(c->library, n->worker, r, NULL);
}

static void make_action(program *x, const stage_program *s, action *n)
{
	cuda *c = x->c;
	int k = program_kernel(s, n->instr), gpu = cuda_gpu_of(c, n->worker);
	if (kernels_on_gpu(c->kernels, k)) {
		bind_run r = bind_run_of(s->p, n->instr,
					 cuda_number(c, n->worker),
					 c->arenas[n->worker]);
		if (c->library)
			call_library(x, s, n, &r);
		if (n->fault >= 0)
			r.fault = x->gpus[gpu].faults +
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

/* Numbers the actions of a stage's workers. */
static void number_actions(program *x, stage_program *s)
{
	s->actions = ARENA_ARRAY(x->a, action *, s->p->ninstrs);
	for (int i = 0; i < s->p->ninstrs; i++) {
		bool runs = s->p->program[i].op == PLAN_RUN;
		if (runs)
			s->actions[i] = ARENA_ARRAY(x->a, action,
						    s->s->nworkers);
		for (int w = 0; w < s->s->nworkers; w++) {
			note_instr(s, &s->p->program[i], s->s->number + w);
			if (runs)
				number_faults(x, s, i, s->s->first + w);
		}
	}
}

static void make_actions(program *x, stage_program *s)
{
	for (int i = 0; i < s->p->ninstrs; i++)
		for (int w = 0; s->actions[i] && w < s->s->nworkers; w++)
			make_action(x, s, &s->actions[i][w]);
}

static bool open_actions(program *x, failure *f)
{
	const cuda *c = x->c;
	for (int i = 0; i < c->nparts; i++)
		number_actions(x, &x->stages[i]);
	if (!open_queues(x, f))
		return false;
	x->staging = ARENA_ARRAY(x->a, void *, c->nworkers);
	for (int w = 0; w < c->nworkers; w++)
		if (!open_staging(x, w, f))
			return false;
	if (!turns_open(x, f))
		return false;
	for (int i = 0; i < c->nparts; i++)
		make_actions(x, &x->stages[i]);
	return !c->library || library_allocate(c->library, f);
}

/* ---- events ------------------------------------------------------------ */

static bool open_marking(program *x, stage_program *s, int step, failure *f)
{
	const stream_step *t = &s->s->schedule.steps[step];
	const queue_set *on = &s->queues[t->on];
	if (!t->marks)
		return true;
	s->done[step] = ARENA_ARRAY(x->a, CUevent, on->n);
	for (int i = 0; i < on->n; i++)
		if (!program_enter(x, on->at[i], f) ||
		    !CUDA_CALL(&x->c->api, f, cuEventCreate, &s->done[step][i],
			       CU_EVENT_DISABLE_TIMING))
			return false;
	return true;
}

static bool open_events(program *x, failure *f)
{
	if (!cuda_enter(x->c, 0, f) ||
	    !CUDA_CALL(&x->c->api, f, cuEventCreate, &x->begun,
		       CU_EVENT_DISABLE_TIMING))
		return false;
	if (!cuda_has_queues(x->c))
		return true;
	for (int i = 0; i < x->c->nparts; i++) {
		stage_program *s = &x->stages[i];
		s->done = ARENA_ARRAY(x->a, CUevent *, s->s->schedule.nsteps);
		for (int t = 0; t < s->s->schedule.nsteps; t++)
			if (!open_marking(x, s, t, f))
				return false;
	}
	return true;
}

static void close_events(program *x)
{
	for (int i = 0; i < x->c->nparts; i++) {
		stage_program *s = &x->stages[i];
		for (int t = 0; s->done && t < s->s->schedule.nsteps; t++) {
			const stream_step *u = &s->s->schedule.steps[t];
			for (int k = 0; s->done[t] && k < s->queues[u->on].n;
			     k++)
				if (s->done[t][k])
					x->c->api.cuEventDestroy(
						s->done[t][k]);
		}
	}
	if (x->begun)
		x->c->api.cuEventDestroy(x->begun);
}

/* ---- opening and closing ----------------------------------------------- */

const cuda_link *link_of(const communicator *comm)
{
#ifdef HAVE_NCCL
	if (comm == &comm_nccl)
		return &link_nccl;
#endif
	(void)comm;
	return &link_local;
}

/* Whether steps are replayed.  Transfers are captured by all processes or by
 * none, as the first one decides. */
static bool wants_replay(const program *x)
{
	const char *graph = getenv("TDL_CUDA_GRAPH");
	bool wants = !graph || strcmp(graph, "0") != 0;
	if (x->link != &link_local)
		x->comm->share(x->members, 0, &wants, sizeof(wants));
	return wants;
}

/* Whether there is room for code.  The driver and the libraries load code to a
 * GPU at its first launch. */
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
	*x = (program){ .a = a, .c = c, .link = c->link, .comm = comm,
			.members = link };
	x->replays = wants_replay(x);
	x->stages = ARENA_ARRAY(a, stage_program, c->nparts);
	x->gpus = ARENA_ARRAY(a, gpu_memory, c->ngpus);
	list_queues(x);
	for (int i = 0; i < c->nparts; i++) {
		x->stages[i].s = &c->parts[i];
		x->stages[i].p = c->parts[i].p;
		find_queues(x, &x->stages[i]);
	}
	program_order(x);
	if (open_actions(x, f) && open_events(x, f) && has_room(x, f)) {
		x->transfers = x->link->open(c, comm, link, f);
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

/* Ends the queues without the other processes.  A graph holds the communicators
 * of its transfers, so it is destroyed first, or, while it runs, as soon as
 * these let it end. */
void program_abandon(program *x)
{
	program_drop_graph(x);
	if (x->transfers && x->link->abandon)
		x->link->abandon(x->transfers);
}

static void close_gpu(program *x, int gpu)
{
	const cuda_api *api = &x->c->api;
	gpu_memory *m = &x->gpus[gpu];
	failure ignored = { 0 };
	cuda_enter(x->c, gpu, &ignored);
	if (m->faults)
		api->cuMemFree(m->faults);
	if (m->marks)
		api->cuMemFree(m->marks);
	if (m->seen)
		api->cuMemFreeHost(m->seen);
}

static void close_queue(program *x, int i)
{
	failure ignored = { 0 };
	program_enter(x, i, &ignored);
	if (x->queues[i].ended)
		x->c->api.cuEventDestroy(x->queues[i].ended);
	if (x->queues[i].reached)
		x->c->api.cuMemFreeHost(x->queues[i].reached);
}

/* Errors are not reported: a device that has failed reports them forever. */
void program_close(program *x)
{
	const cuda_api *api = &x->c->api;
	failure ignored = { 0 };
	for (int i = 0; i < x->nqueues; i++)
		if (program_enter(x, i, &ignored))
			api->cuStreamSynchronize(x->queues[i].stream);
	program_drop_graph(x);
	if (x->transfers)
		x->link->close(x->transfers);
	for (int i = 0; i < x->nqueues; i++)
		close_queue(x, i);
	for (int g = 0; g < x->c->ngpus; g++)
		close_gpu(x, g);
	cuda_enter(x->c, 0, &ignored);
	for (int w = 0; x->staging && w < x->c->nworkers; w++)
		if (x->staging[w])
			api->cuMemFreeHost(x->staging[w]);
	turns_close(x);
	close_events(x);
	arena_free(x->a);
}

#include "config.h"

#include "runtime/cuda/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "plan/streams.h"
#include "runtime/backend.h"
#include "runtime/cuda/epilogue.h"
#include "runtime/cuda/host.h"
#include "runtime/cuda/kernels.h"
#include "runtime/cuda/library.h"
#include "runtime/cuda/link.h"

/* tdl_fault of include/tdl/cuda.h. */
typedef struct device_fault {
	int32_t found, input, dim;
	int64_t value;
} device_fault;

/* What a worker does in a RUN: a launch, or a call of the host. */
typedef struct action {
	int instr, worker;
	library_run *library; /* in place of the launch; or NULL */
	bool done;	      /* with the action before this one */
	launch launch;
	host_call *call;
	int fault; /* its number among those on the GPU; -1 where there can be
		      none */
} action;

/* What a step needs of a GPU beside the arenas. */
typedef struct station {
	int nfaults;
	CUdeviceptr faults;
	device_fault *seen; /* on the host, after a step */
	CUevent ended;	    /* the last step, on this GPU's queue */
	uint32_t *reached;  /* on the host: see watch() */
	CUdeviceptr marks;  /* 1, 2, ..: what is copied there */
} station;

struct program {
	arena *a;
	cuda *c;
	const plan *p;
	stream_schedule schedule;
	action **actions; /* by instruction and worker, of RUNs */
	VEC(action *) checked; /* after a step */
	station *stations; /* by GPU, and of the queue of transfers */
	int nstations;
	void **staging;	/* by worker, for calls of the host */
	CUevent begun;
	CUevent *done; /* by step of the schedule, of those that mark */
	const cuda_link *link;
	void *transfers;
	CUgraphExec graph;
	bool replays; /* all steps but the first */
	int64_t nsteps, used;
};

/* Transfers have a queue of their own where they go to other processes.  Those
 * within one read the other workers' memory at a point where these have all
 * come to. */
static bool has_two_queues(const program *x)
{
	return x->link != &link_local;
}

/* The queue of a station: the kernels' of a GPU, or the transfers' of the
 * first. */
static CUstream queue(const program *x, int i)
{
	return i < x->c->ngpus ? x->c->gpus[i].compute
			       : x->c->gpus[0].comm;
}

static bool enter_station(const program *x, int i, failure *f)
{
	return cuda_enter(x->c, i < x->c->ngpus ? i : 0, f);
}

/* ---- opening ----------------------------------------------------------- */

static void note_used(program *x, int buffer, int worker)
{
	const plan_buffer *b = &x->p->buffers[buffer];
	int64_t n = plan_region(x->p, buffer, worker).count *
		    (int64_t)dtype_size(x->p->tensors[b->tensor].type);
	int64_t end = b->offset + n;
	end = (end + PLAN_ALIGN - 1) / PLAN_ALIGN * PLAN_ALIGN;
	end = end < x->p->arena_bytes ? end : x->p->arena_bytes;
	if (n > 0 && end > x->used)
		x->used = end;
}

static void note_instr(program *x, const plan_instr *in, int worker)
{
	int n = 0;
	if (in->op == PLAN_RUN)
		n = x->p->kernels[x->p->nodes[in->node].kernel].kernel->ninputs;
	else
		note_used(x, in->from, worker);
	for (int i = 0; i < n; i++)
		note_used(x, in->inputs[i], worker);
	note_used(x, in->to, worker);
}

static int kernel_of(const program *x, int instr)
{
	return x->p->nodes[x->p->program[instr].node].kernel;
}

/* Memory that the host and all GPUs reach. */
static bool pin(program *x, void **to, size_t nbytes, failure *f)
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
			    kernels_on_gpu(c->kernels, kernel_of(x, i)))
				continue;
			int64_t n = host_call_bytes(x->p, i, c->first + w);
			most = n > most ? n : most;
		}
		if (most > 0 && !pin(x, &x->staging[w], (size_t)most, f))
			return false;
	}
	return true;
}

/* The places of faults are numbered first: a launch has its own in its words.
 */
static void number_faults(program *x, int instr, int worker)
{
	action *n = &x->actions[instr][worker];
	int k = kernel_of(x, instr);
	*n = (action){ .instr = instr, .worker = worker, .fault = -1 };
	if (kernels_may_fault(x->c->kernels, k))
		n->fault = x->stations[cuda_gpu_of(x->c, worker)].nfaults++;
}

static int station_of(const program *x, const stream_step *t, int worker)
{
	if (has_two_queues(x) && t->on == STREAM_COMMUNICATION)
		return x->c->ngpus;
	return cuda_gpu_of(x->c, worker);
}

/* A number for each thing that queues do, ascending on each: 0 before all. */
static uint32_t mark_of(const program *x, int step, int worker)
{
	return (uint32_t)(step * x->c->nworkers + worker + 1);
}

static bool open_marks(program *x, int i, failure *f)
{
	station *s = &x->stations[i];
	const cuda_api *api = &x->c->api;
	uint32_t n = mark_of(x, x->schedule.nsteps, 0);
	arena *work = arena_new();
	uint32_t *marks = ARENA_ARRAY(work, uint32_t, n);
	size_t nbytes = n * sizeof(*marks);
	for (uint32_t k = 0; k < n; k++)
		marks[k] = k + 1;
	bool good = CUDA_CALL(api, f, cuMemAlloc, &s->marks, nbytes) &&
		    CUDA_CALL(api, f, cuMemcpyHtoDAsync, s->marks, marks,
			      nbytes, queue(x, i)) &&
		    CUDA_CALL(api, f, cuStreamSynchronize, queue(x, i));
	arena_free(work);
	return good;
}

static bool open_station(program *x, int i, failure *f)
{
	station *s = &x->stations[i];
	const cuda_api *api = &x->c->api;
	size_t nbytes = (size_t)s->nfaults * sizeof(device_fault);
	if (!pin(x, (void **)&s->reached, sizeof(*s->reached), f) ||
	    !enter_station(x, i, f) ||
	    !CUDA_CALL(api, f, cuEventCreate, &s->ended,
		       CU_EVENT_DISABLE_TIMING) ||
	    !open_marks(x, i, f))
		return false;
	return nbytes == 0 ||
	       (CUDA_CALL(api, f, cuMemAlloc, &s->faults, nbytes) &&
		pin(x, (void **)&s->seen, nbytes, f));
}

/* Whether an instruction may run as soon as the one before it, a kernel,
 * may. */
static bool waits_for_nobody(const program *x, int instr)
{
	for (int i = 0; has_two_queues(x) && i < x->schedule.nsteps; i++)
		if (x->schedule.steps[i].instrs[0] == instr)
			return x->schedule.steps[i].after < 0;
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
	int k = kernel_of(x, n->instr), gpu = cuda_gpu_of(c, n->worker);
	if (kernels_on_gpu(c->kernels, k)) {
		bind_run r = bind_run_of(x->p, n->instr, c->first + n->worker,
					 c->arenas[n->worker]);
		if (c->library)
			call_library(x, n, &r);
		if (n->fault >= 0)
			r.fault = x->stations[gpu].faults +
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
	for (int i = 0; i < x->nstations; i++)
		if (!open_station(x, i, f))
			return false;
	if (!open_staging(x, f))
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
	x->done = ARENA_ARRAY(x->a, CUevent, s->nsteps);
	if (!cuda_enter(x->c, 0, f) ||
	    !CUDA_CALL(api, f, cuEventCreate, &x->begun,
		       CU_EVENT_DISABLE_TIMING))
		return false;
	for (int i = 0; i < s->nsteps; i++)
		if (s->steps[i].marks && has_two_queues(x) &&
		    !CUDA_CALL(api, f, cuEventCreate, &x->done[i],
			       CU_EVENT_DISABLE_TIMING))
			return false;
	return true;
}

static const cuda_link *link_of(const communicator *comm)
{
#ifdef HAVE_NCCL
	if (comm == &comm_nccl)
		return &link_nccl;
#endif
	(void)comm;
	return &link_local;
}

/* Transfers are captured by all processes or by none: as the first says. */
static bool wants_replay(const program *x, const communicator *comm, void *link)
{
	const char *graph = getenv("TDL_CUDA_GRAPH");
	bool wants = !graph || strcmp(graph, "0") != 0;
	if (x->link != &link_local)
		comm->share(link, 0, &wants, sizeof(wants));
	return wants;
}

program *program_open(cuda *c, const communicator *comm, void *link, failure *f)
{
	arena *a = arena_new();
	program *x = ARENA_NEW(a, program);
	*x = (program){ .a = a, .c = c, .p = c->p, .link = link_of(comm) };
	x->replays = wants_replay(x, comm, link);
	x->schedule = plan_streams(a, c->p);
	x->nstations = c->ngpus + has_two_queues(x);
	x->stations = ARENA_ARRAY(a, station, x->nstations);
	if (open_actions(x, f) && open_events(x, f)) {
		x->transfers = x->link->open(c, c->p, comm, link, f);
		if (x->transfers)
			return x;
	}
	program_close(x);
	return NULL;
}

static void drop_graph(program *x)
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
	drop_graph(x);
	if (x->transfers && x->link->abandon)
		x->link->abandon(x->transfers);
}

/* Errors are not told: a device that has failed reports them for ever. */
void program_close(program *x)
{
	const cuda_api *api = &x->c->api;
	failure ignored = { 0 };
	for (int i = 0; i < x->nstations; i++)
		if (enter_station(x, i, &ignored))
			api->cuStreamSynchronize(queue(x, i));
	drop_graph(x);
	if (x->transfers)
		x->link->close(x->transfers);
	for (int i = 0; i < x->nstations; i++) {
		station *s = &x->stations[i];
		enter_station(x, i, &ignored);
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
	for (int i = 0; x->done && i < x->schedule.nsteps; i++)
		if (x->done[i])
			api->cuEventDestroy(x->done[i]);
	if (x->begun)
		api->cuEventDestroy(x->begun);
	arena_free(x->a);
}

/* ---- instructions ------------------------------------------------------ */

/* Lets the queue tell that it has come so far, so that an error, which the
 * device reports when the host asks, finds its instruction. */
static bool watch(program *x, int step, int worker, failure *f)
{
	int i = station_of(x, &x->schedule.steps[step], worker);
	const station *s = &x->stations[i];
	uint32_t mark = mark_of(x, step, worker);
	return CUDA_CALL(&x->c->api, f, cuMemcpyDtoHAsync, s->reached,
			 s->marks + (mark - 1) * sizeof(mark), sizeof(mark),
			 queue(x, i));
}

static bool run_launch(program *x, const action *n, failure *f)
{
	const launch *l = &n->launch;
	void *parameters[] = { l->words };
	int gpu = cuda_gpu_of(x->c, n->worker);
	if (n->done)
		return true;
	if (n->library)
		return library_run_on(x->c->library, n->library,
				      x->c->gpus[gpu].compute, f);
	return !l->blocks ||
	       CUDA_CALL(&x->c->api, f, cuLaunchKernel, l->function, l->blocks,
			 1, 1, l->threads, 1, 1, l->shared,
			 x->c->gpus[gpu].compute, parameters, NULL);
}

static bool run_actions(program *x, int step, bool watched, failure *f)
{
	int instr = x->schedule.steps[step].instrs[0];
	for (int w = 0; w < x->c->nworkers; w++) {
		action *n = &x->actions[instr][w];
		int gpu = cuda_gpu_of(x->c, w);
		bool good = cuda_enter(x->c, gpu, f) &&
			    (n->call ? host_call_run(n->call, queue(x, gpu), f)
				     : run_launch(x, n, f));
		if (!good)
			return backend_at(x->p, x->c->first + w, instr, f);
		if (watched && !watch(x, step, w, f))
			return false;
	}
	return true;
}

static bool run_transfers(program *x, int step, bool watched, failure *f)
{
	const stream_step *t = &x->schedule.steps[step];
	int i = station_of(x, t, 0);
	if (!enter_station(x, i, f))
		return false;
	if (!x->link->transfer(x->transfers, t->instrs, t->ninstrs,
			       queue(x, i), f))
		return backend_at(x->p, x->c->first, t->instrs[0], f);
	return !watched || (enter_station(x, i, f) && watch(x, step, 0, f));
}

static bool run_step(program *x, int step, bool watched, failure *f)
{
	const stream_step *t = &x->schedule.steps[step];
	const cuda_api *api = &x->c->api;
	CUstream s = queue(x, station_of(x, t, 0));
	if (has_two_queues(x) && t->after >= 0 &&
	    !CUDA_CALL(api, f, cuStreamWaitEvent, s, x->done[t->after], 0))
		return false;
	if (!(x->p->program[t->instrs[0]].op == PLAN_RUN ?
	      run_actions(x, step, watched, f) :
	      run_transfers(x, step, watched, f)))
		return false;
	return !x->done[step] ||
	       CUDA_CALL(api, f, cuEventRecord, x->done[step], s);
}

/* ---- a step ------------------------------------------------------------ */

/* All queues begin after what the first one did before. */
static bool begin(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	if (!cuda_enter(x->c, 0, f) ||
	    !CUDA_CALL(api, f, cuEventRecord, x->begun, queue(x, 0)))
		return false;
	for (int i = 0; i < x->nstations; i++) {
		const station *s = &x->stations[i];
		size_t nbytes = (size_t)s->nfaults * sizeof(device_fault);
		if (!enter_station(x, i, f) ||
		    (i > 0 && !CUDA_CALL(api, f, cuStreamWaitEvent,
					 queue(x, i), x->begun, 0)) ||
		    (nbytes && !CUDA_CALL(api, f, cuMemsetD8Async, s->faults, 0,
					  nbytes, queue(x, i))))
			return false;
	}
	return true;
}

/* The first queue ends after all others. */
static bool end(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	for (int i = x->nstations - 1; i >= 0; i--) {
		const station *s = &x->stations[i];
		size_t nbytes = (size_t)s->nfaults * sizeof(device_fault);
		if (!enter_station(x, i, f) ||
		    (nbytes && !CUDA_CALL(api, f, cuMemcpyDtoHAsync, s->seen,
					  s->faults, nbytes, queue(x, i))))
			return false;
		if (i > 0 && (!CUDA_CALL(api, f, cuEventRecord, s->ended,
					 queue(x, i)) ||
			      !cuda_enter(x->c, 0, f) ||
			      !CUDA_CALL(api, f, cuStreamWaitEvent,
					 queue(x, 0), s->ended, 0)))
			return false;
	}
	return true;
}

static bool enqueue(program *x, bool watched, failure *f)
{
	bool good = begin(x, f);
	for (int i = 0; good && i < x->schedule.nsteps; i++)
		good = run_step(x, i, watched, f);
	return good && end(x, f) && cuda_enter(x->c, 0, f);
}

/* Queues of other GPUs and the transfers' are captured, too: they wait for the
 * first one, and it for them. */
static bool capture(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	CUgraph graph = NULL;
	CUresult r;
	if (!CUDA_CALL(api, f, cuStreamBeginCapture, queue(x, 0),
		       CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
		return false;
	bool good = enqueue(x, false, f);
	cuda_enter(x->c, 0, f);
	r = api->cuStreamEndCapture(queue(x, 0), &graph);
	good = good && cuda_good(api, r, "cuStreamEndCapture", f) &&
	       CUDA_CALL(api, f, cuGraphInstantiateWithFlags, &x->graph, graph,
			 0);
	if (graph)
		api->cuGraphDestroy(graph);
	return good;
}

/* ---- what went wrong --------------------------------------------------- */

/* The first step that its queue has not ended; -1 where all are done. */
static int step_at_fault(const program *x, int *worker)
{
	for (int t = 0; t < x->schedule.nsteps; t++) {
		const stream_step *s = &x->schedule.steps[t];
		bool runs = x->p->program[s->instrs[0]].op == PLAN_RUN;
		for (*worker = 0; *worker < (runs ? x->c->nworkers : 1);
		     ++*worker) {
			int i = station_of(x, s, *worker);
			if (*x->stations[i].reached < mark_of(x, t, *worker))
				return t;
		}
	}
	return -1;
}

/* Names the instruction that the first run, which is watched, came to; a graph
 * tells nothing of its parts. */
static bool locate(program *x, bool watched, failure *f)
{
	int worker, step = watched ? step_at_fault(x, &worker) : -1;
	if (step >= 0)
		return backend_at(x->p, x->c->first + worker,
				  x->schedule.steps[step].instrs[0], f);
	failure why = *f;
	*f = (failure){ 0 };
	return fail_with(f, why.status, "a step that was replayed: %s; with "
			 "TDL_CUDA_GRAPH=0 in the environment the message "
			 "says where", why.text);
}

static bool check(program *x, const action *n, failure *f)
{
	const kernel *k = x->p->kernels[kernel_of(x, n->instr)].kernel;
	bool good;
	if (n->call) {
		good = host_call_good(n->call, f);
	} else {
		int gpu = cuda_gpu_of(x->c, n->worker);
		const device_fault *d = &x->stations[gpu].seen[n->fault];
		eval_fault fault = { .input = d->input, .dim = d->dim,
				     .value = d->value };
		good = !d->found ||
		       backend_explain(k, EVAL_INDEX_OUTSIDE, &fault, f);
	}
	return good ||
	       backend_at(x->p, x->c->first + n->worker, n->instr, f);
}

bool program_step(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	bool watched = !x->replays || x->nsteps == 0, good = true;
	for (int i = 0; i < x->nstations; i++)
		*x->stations[i].reached = 0;
	if (!cuda_enter(x->c, 0, f))
		return false;
	if (watched)
		good = enqueue(x, true, f);
	else
		good = (x->graph || capture(x, f)) &&
		       CUDA_CALL(api, f, cuGraphLaunch, x->graph, queue(x, 0));
	if (!good)
		return false;
	if (!x->link->wait(x->transfers, queue(x, 0), f))
		return locate(x, watched, f);
	x->nsteps++;
	for (int i = 0; i < x->checked.n; i++)
		if (!check(x, x->checked.at[i], f))
			return false;
	return true;
}

int64_t program_received(const program *x, int instr)
{
	return x->nsteps * x->link->received(x->transfers, instr);
}

int64_t program_used(const program *x)
{
	return x->used;
}

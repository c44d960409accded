/* A step of a program: enqueued and watched, or captured and replayed. */
#include "config.h"

#include "runtime/cuda/parts.h"
#include "runtime/exec/backend.h"

/* ---- instructions ------------------------------------------------------ */

/* Lets the queue tell that it has come so far, so that an error, which the
 * device reports when the host asks, finds its instruction. */
static bool watch(program *x, int step, int worker, failure *f)
{
	int i = program_station(x, &x->schedule.steps[step], worker);
	const gpu_queue *s = &x->queues[i];
	uint32_t mark = program_mark(x, step, worker);
	return CUDA_CALL(&x->c->api, f, cuMemcpyDtoHAsync, s->reached,
			 s->marks + (mark - 1) * sizeof(mark), sizeof(mark),
			 program_queue(x, i));
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
			    (n->call ? host_call_run(n->call,
						     program_queue(x, gpu), f)
				     : run_launch(x, n, f));
		if (!good)
			return backend_at(x->p, x->c->first + w, instr, f);
		if (watched && !watch(x, step, w, f))
			return false;
	}
	return true;
}

static bool run_feed(program *x, int step, bool watched, failure *f)
{
	int instr = x->schedule.steps[step].instrs[0];
	for (int w = 0; w < x->c->nworkers; w++) {
		int gpu = cuda_gpu_of(x->c, w);
		if (!cuda_enter(x->c, gpu, f) ||
		    !turns_feed(x, instr, w, program_queue(x, gpu), f))
			return backend_at(x->p, x->c->first + w, instr, f);
		if (watched && !watch(x, step, w, f))
			return false;
	}
	return true;
}

static bool run_transfers(program *x, int step, bool watched, failure *f)
{
	const stream_step *t = &x->schedule.steps[step];
	int i = program_station(x, t, 0);
	if (!program_enter(x, i, f))
		return false;
	if (!x->link->transfer(x->transfers, t->instrs, t->ninstrs,
			       program_queue(x, i), f))
		return backend_at(x->p, x->c->first, t->instrs[0], f);
	for (int w = 0; watched && w < program_runs(x, t); w++)
		if (!cuda_enter(x->c, w, f) || !watch(x, step, w, f))
			return false;
	return true;
}

/* A transfer reads and writes the memory of all GPUs: a step that has to wait
 * for it, or it for a step, does so on all of them. */
static bool wait_before(program *x, const stream_step *t, failure *f)
{
	if (!program_has_two_queues(x) || t->nafter == 0)
		return true;
	for (int g = 0; g < x->c->ngpus; g++) {
		CUstream s = program_queue(x, program_station(x, t, g));
		if (!cuda_enter(x->c, g, f))
			return false;
		for (int h = 0; h < x->c->ngpus; h++)
			if (!CUDA_CALL(&x->c->api, f, cuStreamWaitEvent, s,
				       *program_done(x, *t->after, h), 0))
				return false;
	}
	return true;
}

static bool mark_after(program *x, int step, failure *f)
{
	const stream_step *t = &x->schedule.steps[step];
	if (!program_has_two_queues(x) || !t->marks)
		return true;
	for (int g = 0; g < x->c->ngpus; g++)
		if (!cuda_enter(x->c, g, f) ||
		    !CUDA_CALL(&x->c->api, f, cuEventRecord,
			       *program_done(x, step, g),
			       program_queue(x, program_station(x, t, g))))
			return false;
	return true;
}

/* Before the step is marked, so that what waits for it waits for the copies.
 */
static bool hand_out(program *x, const stream_step *t, failure *f)
{
	for (int i = 0; i < t->ninstrs; i++) {
		if (!plan_hands_out(x->p, t->instrs[i]))
			continue;
		for (int w = 0; w < x->c->nworkers; w++) {
			int s = program_station(x, t, w);
			if (!program_enter(x, s, f) ||
			    !turns_hand_out(x, t->instrs[i], w,
					    program_queue(x, s), f))
				return false;
		}
	}
	return true;
}

static bool run_work(program *x, int step, bool watched, failure *f)
{
	switch (x->p->program[x->schedule.steps[step].instrs[0]].op) {
	case PLAN_RUN:
		return run_actions(x, step, watched, f);
	case PLAN_FEED:
		return run_feed(x, step, watched, f);
	default:
		return run_transfers(x, step, watched, f);
	}
}

static bool run_step(program *x, int step, bool watched, failure *f)
{
	const stream_step *t = &x->schedule.steps[step];
	return wait_before(x, t, f) && run_work(x, step, watched, f) &&
	       hand_out(x, t, f) && mark_after(x, step, f);
}

/* ---- a step ------------------------------------------------------------ */

/* All queues begin after what the first one did before. */
static bool begin(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	if (!cuda_enter(x->c, 0, f) ||
	    !CUDA_CALL(api, f, cuEventRecord, x->begun, program_queue(x, 0)))
		return false;
	for (int i = 0; i < x->nqueues; i++) {
		const gpu_queue *s = &x->queues[i];
		size_t nbytes = (size_t)s->nfaults * sizeof(device_fault);
		if (!program_enter(x, i, f) ||
		    (i > 0 && !CUDA_CALL(api, f, cuStreamWaitEvent,
					 program_queue(x, i), x->begun, 0)) ||
		    (nbytes && !CUDA_CALL(api, f, cuMemsetD8Async, s->faults, 0,
					  nbytes, program_queue(x, i))))
			return false;
	}
	return !x->link->begin ||
	       x->link->begin(x->transfers,
			      program_queue(x, x->nqueues - 1), f);
}

/* The first queue ends after all others. */
static bool end(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	for (int i = x->nqueues - 1; i >= 0; i--) {
		const gpu_queue *s = &x->queues[i];
		size_t nbytes = (size_t)s->nfaults * sizeof(device_fault);
		if (!program_enter(x, i, f) ||
		    (nbytes && !CUDA_CALL(api, f, cuMemcpyDtoHAsync, s->seen,
					  s->faults, nbytes,
					  program_queue(x, i))))
			return false;
		if (i > 0 && (!CUDA_CALL(api, f, cuEventRecord, s->ended,
					 program_queue(x, i)) ||
			      !cuda_enter(x->c, 0, f) ||
			      !CUDA_CALL(api, f, cuStreamWaitEvent,
					 program_queue(x, 0), s->ended, 0)))
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
	if (!CUDA_CALL(api, f, cuStreamBeginCapture, program_queue(x, 0),
		       CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
		return false;
	bool good = enqueue(x, false, f);
	cuda_enter(x->c, 0, f);
	r = api->cuStreamEndCapture(program_queue(x, 0), &graph);
	good = good && cuda_good(api, r, "cuStreamEndCapture", f) &&
	       CUDA_CALL(api, f, cuGraphInstantiateWithFlags, &x->graph, graph,
			 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
	if (graph)
		api->cuGraphDestroy(graph);
	return good;
}

/* Not all that a library does can be captured: then each step is enqueued, in
 * all processes, and the first of those that could not says why. */
static void prepare_replay(program *x)
{
	failure why = { 0 };
	int workers = mesh_workers(&x->p->mesh);
	bool good = capture(x, &why);
	int64_t first = good ? 0 : workers - x->c->first;
	if (x->link != &link_local)
		first = x->comm->greatest(x->members, first);
	if (first == 0)
		return;
	if (!good && first == workers - x->c->first)
		cuda_note(x->c, "steps are not replayed: %s", why.text);
	program_drop_graph(x);
	x->replays = false;
}

/* ---- what went wrong --------------------------------------------------- */

/* The first step that its queue has not ended; -1 where all are done. */
static int step_at_fault(const program *x, int *worker)
{
	for (int t = 0; t < x->schedule.nsteps; t++) {
		const stream_step *s = &x->schedule.steps[t];
		for (*worker = 0; *worker < program_runs(x, s); ++*worker) {
			int i = program_station(x, s, *worker);
			if (*x->queues[i].reached <
			    program_mark(x, t, *worker))
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
	const kernel *k = x->p->kernels[program_kernel(x, n->instr)].kernel;
	bool good;
	if (n->call) {
		good = host_call_good(n->call, f);
	} else {
		int gpu = cuda_gpu_of(x->c, n->worker);
		const device_fault *d = &x->queues[gpu].seen[n->fault];
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
	for (int i = 0; i < x->nqueues; i++)
		*x->queues[i].reached = 0;
	if (!cuda_enter(x->c, 0, f))
		return false;
	if (x->replays && x->nsteps > 0 && !x->graph)
		prepare_replay(x);
	bool watched = !x->graph;
	if (!(watched ? enqueue(x, true, f) :
			CUDA_CALL(api, f, cuGraphLaunch, x->graph,
				  program_queue(x, 0))))
		return false;
	if (!x->link->wait(x->transfers, program_queue(x, 0), f))
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

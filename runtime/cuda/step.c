/* A step of a program: enqueued and watched, or captured and replayed. */
#include "config.h"

#include "runtime/cuda/parts.h"
#include "runtime/exec/backend.h"

/* ---- instructions ------------------------------------------------------ */

static uint32_t mark_of(const program *x, const program_item *t, int worker)
{
	return (uint32_t)((t - x->items) * x->c->nworkers + worker + 1);
}

/* Makes the queue mark its progress.  The device reports an error only when the
 * host asks, and the mark tells the instruction.  A transfer has one mark per
 * queue, anything else one per worker. */
static bool watch(program *x, const program_item *t, int queue, int worker,
		  failure *f)
{
	const gpu_queue *q = &x->queues[queue];
	uint32_t mark = mark_of(x, t, worker);
	return program_enter(x, queue, f) &&
	       CUDA_CALL(&x->c->api, f, cuMemcpyDtoHAsync, q->reached,
			 x->gpus[q->gpu].marks + (mark - 1) * sizeof(mark),
			 sizeof(mark), q->stream);
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

/* Enqueues a worker's RUN or FEED. */
static bool run_own(program *x, const stage_program *s, int instr, int worker,
		    failure *f)
{
	CUstream stream = x->c->gpus[cuda_gpu_of(x->c, worker)].compute;
	if (s->p->program[instr].op == PLAN_FEED)
		return turns_feed(x, instr, worker, stream, f);
	action *n = program_action(x, worker, instr);
	return n->call ? host_call_run(n->call, stream, f)
		       : run_launch(x, n, f);
}

static bool run_by_worker(program *x, const program_item *t, bool watched,
			  failure *f)
{
	stage_program *s;
	int instr = program_last(x, t, &s)->instrs[0];
	for (int w = s->s->first; w < s->s->first + s->s->nworkers; w++) {
		int gpu = cuda_gpu_of(x->c, w);
		if (!cuda_enter(x->c, gpu, f) || !run_own(x, s, instr, w, f))
			return backend_at(s->p, x->c->first + w, instr, f);
		if (watched && !watch(x, t, gpu, w, f))
			return false;
	}
	return true;
}

/* The first worker of a stage on the GPU of a queue.  The GPU of a queue for
 * messages may have none; then the stage's first worker. */
static int first_worker(const program *x, const stage_program *s, int queue)
{
	for (int w = s->s->first; w < s->s->first + s->s->nworkers; w++)
		if (cuda_gpu_of(x->c, w) == x->queues[queue].gpu)
			return w;
	return s->s->first;
}

static bool transfer(program *x, const program_item *t, failure *f)
{
	stage_program *s;
	const stream_step *u = program_last(x, t, &s);
	int part = t->of[t->n - 1].part, queue = s->queues[u->on].at[0];
	if (!program_enter(x, queue, f))
		return false;
	if (u->on < STREAM_COUNT)
		return x->link->transfer(x->transfers, part, u->instrs,
					 u->ninstrs, x->queues[queue].stream,
					 f);
	return x->link->message(x->transfers, part, u->instrs[0],
				s->s->links[u->on - STREAM_COUNT], f);
}

static bool run_transfers(program *x, const program_item *t, bool watched,
			  failure *f)
{
	stage_program *s;
	const stream_step *u = program_last(x, t, &s);
	const queue_set *on = &s->queues[u->on];
	if (!transfer(x, t, f))
		return backend_at(s->p, x->c->first + s->s->first,
				  u->instrs[0], f);
	for (int i = 0; watched && i < on->n; i++)
		if (!watch(x, t, on->at[i], first_worker(x, s, on->at[i]), f))
			return false;
	return true;
}

/* Makes a step and a transfer wait for each other on all GPUs of a stage,
 * because a transfer reads and writes memory of all of them. */
static bool wait_for(program *x, const stage_program *s, const stream_step *t,
		     int after, failure *f)
{
	const stream_step *u = &s->s->schedule.steps[after];
	const queue_set *on = &s->queues[t->on], *of = &s->queues[u->on];
	for (int i = 0; i < on->n; i++) {
		if (!program_enter(x, on->at[i], f))
			return false;
		for (int k = 0; k < of->n; k++)
			if (!CUDA_CALL(&x->c->api, f, cuStreamWaitEvent,
				       x->queues[on->at[i]].stream,
				       s->done[after][k], 0))
				return false;
	}
	return true;
}

static bool wait_before(program *x, const program_item *t, failure *f)
{
	for (int i = 0; cuda_has_queues(x->c) && i < t->n; i++) {
		const stage_program *s = &x->stages[t->of[i].part];
		const stream_step *u = program_step_of(x, t, i);
		for (int k = 0; k < u->nafter; k++)
			if (!wait_for(x, s, u, u->after[k], f))
				return false;
	}
	return true;
}

static bool mark_after(program *x, const program_item *t, failure *f)
{
	for (int i = 0; cuda_has_queues(x->c) && i < t->n; i++) {
		const stage_program *s = &x->stages[t->of[i].part];
		const stream_step *u = program_step_of(x, t, i);
		const queue_set *on = &s->queues[u->on];
		for (int k = 0; u->marks && k < on->n; k++)
			if (!program_enter(x, on->at[k], f) ||
			    !CUDA_CALL(&x->c->api, f, cuEventRecord,
				       s->done[t->of[i].step][k],
				       x->queues[on->at[k]].stream))
				return false;
	}
	return true;
}

static bool hand_out_one(program *x, const stage_program *s, int on, int instr,
			 failure *f)
{
	for (int w = s->s->first; w < s->s->first + s->s->nworkers; w++) {
		int gpu = cuda_gpu_of(x->c, w);
		if (!cuda_enter(x->c, gpu, f) ||
		    !turns_hand_out(x, instr, w,
				    program_stream(x, s->s, on, gpu), f))
			return false;
	}
	return true;
}

/* Copies results to the host.  This comes before the step's mark, so that
 * waiting for the mark also waits for the copies. */
static bool hand_out(program *x, const program_item *t, failure *f)
{
	stage_program *s;
	const stream_step *u = program_last(x, t, &s);
	for (int i = 0; i < u->ninstrs; i++)
		if (plan_hands_out(s->p, u->instrs[i]) &&
		    !hand_out_one(x, s, u->on, u->instrs[i], f))
			return false;
	return true;
}

static plan_op op_of(const program *x, const program_item *t)
{
	stage_program *s;
	const stream_step *u = program_last(x, t, &s);
	return s->p->program[u->instrs[0]].op;
}

/* Whether each worker runs the item by itself. */
static bool is_own(const program *x, const program_item *t)
{
	plan_op op = op_of(x, t);
	return op == PLAN_RUN || op == PLAN_FEED;
}

static bool run_item(program *x, const program_item *t, bool watched,
		     failure *f)
{
	return wait_before(x, t, f) &&
	       (is_own(x, t) ? run_by_worker(x, t, watched, f)
			     : run_transfers(x, t, watched, f)) &&
	       hand_out(x, t, f) && mark_after(x, t, f);
}

/* ---- a step ------------------------------------------------------------ */

static bool clear_faults(program *x, int gpu, failure *f)
{
	const gpu_memory *m = &x->gpus[gpu];
	size_t nbytes = (size_t)m->nfaults * sizeof(device_fault);
	return nbytes == 0 ||
	       (cuda_enter(x->c, gpu, f) &&
		CUDA_CALL(&x->c->api, f, cuMemsetD8Async, m->faults, 0, nbytes,
			  x->c->gpus[gpu].compute));
}

/* Makes all queues begin after the earlier work of the first queue. */
static bool begin(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	if (!cuda_enter(x->c, 0, f) ||
	    (x->link->begin && !x->link->begin(x->transfers,
					       x->queues[0].stream, f)) ||
	    !CUDA_CALL(api, f, cuEventRecord, x->begun, x->queues[0].stream))
		return false;
	for (int i = 0; i < x->nqueues; i++)
		if (!program_enter(x, i, f) ||
		    (i > 0 && !CUDA_CALL(api, f, cuStreamWaitEvent,
					 x->queues[i].stream, x->begun, 0)))
			return false;
	for (int g = 0; g < x->c->ngpus; g++)
		if (!clear_faults(x, g, f))
			return false;
	return true;
}

static bool copy_faults(program *x, int gpu, failure *f)
{
	const gpu_memory *m = &x->gpus[gpu];
	size_t nbytes = (size_t)m->nfaults * sizeof(device_fault);
	return nbytes == 0 ||
	       (cuda_enter(x->c, gpu, f) &&
		CUDA_CALL(&x->c->api, f, cuMemcpyDtoHAsync, m->seen, m->faults,
			  nbytes, x->c->gpus[gpu].compute));
}

/* Makes the first queue end after all others. */
static bool end(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	for (int g = 0; g < x->c->ngpus; g++)
		if (!copy_faults(x, g, f))
			return false;
	for (int i = x->nqueues - 1; i > 0; i--)
		if (!program_enter(x, i, f) ||
		    !CUDA_CALL(api, f, cuEventRecord, x->queues[i].ended,
			       x->queues[i].stream) ||
		    !cuda_enter(x->c, 0, f) ||
		    !CUDA_CALL(api, f, cuStreamWaitEvent, x->queues[0].stream,
			       x->queues[i].ended, 0))
			return false;
	return true;
}

static bool enqueue(program *x, bool watched, failure *f)
{
	bool good = begin(x, f);
	for (int i = 0; good && i < x->nitems; i++)
		good = run_item(x, &x->items[i], watched, f);
	return good && end(x, f) && cuda_enter(x->c, 0, f);
}

/* Captures the step.  Queues of other GPUs and of transfers are captured, too:
 * they wait for the first queue, and it waits for them. */
static bool capture(program *x, failure *f)
{
	const cuda_api *api = &x->c->api;
	CUgraph graph = NULL;
	CUresult r;
	if (!CUDA_CALL(api, f, cuStreamBeginCapture, x->queues[0].stream,
		       CU_STREAM_CAPTURE_MODE_THREAD_LOCAL))
		return false;
	bool good = enqueue(x, false, f);
	cuda_enter(x->c, 0, f);
	r = api->cuStreamEndCapture(x->queues[0].stream, &graph);
	good = good && cuda_good(api, r, "cuStreamEndCapture", f) &&
	       CUDA_CALL(api, f, cuGraphInstantiateWithFlags, &x->graph, graph,
			 CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
	if (graph)
		api->cuGraphDestroy(graph);
	return good;
}

/* Prepares replay.  Not everything that a library does can be captured.  If
 * capture fails, every process enqueues each step, and the first process that
 * failed reports why. */
static void prepare_replay(program *x)
{
	failure why = { 0 };
	int workers = pipeline_first(x->c->p, x->c->p->nstages);
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

/* The worker of the first mark of an item that was not reached; -1. */
static int worker_at_fault(const program *x, const program_item *t)
{
	stage_program *s;
	const stream_step *u = program_last(x, t, &s);
	const queue_set *on = &s->queues[u->on];
	if (is_own(x, t)) {
		for (int i = 0; i < s->s->nworkers; i++) {
			int w = s->s->first + i;
			if (*x->queues[cuda_gpu_of(x->c, w)].reached <
			    mark_of(x, t, w))
				return w;
		}
		return -1;
	}
	for (int i = 0; i < on->n; i++) {
		int w = first_worker(x, s, on->at[i]);
		if (*x->queues[on->at[i]].reached < mark_of(x, t, w))
			return w;
	}
	return -1;
}

/* The first item that its queue has not ended; NULL if all are done. */
static const program_item *item_at_fault(const program *x, int *worker)
{
	for (int i = 0; i < x->nitems; i++) {
		*worker = worker_at_fault(x, &x->items[i]);
		if (*worker >= 0)
			return &x->items[i];
	}
	return NULL;
}

/* Names the instruction that a watched first run has reached.  A graph tells
 * nothing about its parts. */
static bool locate(program *x, bool watched, failure *f)
{
	int worker;
	const program_item *t = watched ? item_at_fault(x, &worker) : NULL;
	if (t) {
		stage_program *s;
		int instr = program_last(x, t, &s)->instrs[0];
		return backend_at(s->p, x->c->first + worker, instr, f);
	}
	failure why = *f;
	*f = (failure){ 0 };
	return fail_with(f, why.status, "a step that was replayed: %s; with "
			 "TDL_CUDA_GRAPH=0 in the environment the message "
			 "says where", why.text);
}

static bool check(program *x, const action *n, failure *f)
{
	const stage_program *s = &x->stages[x->c->part_of[n->worker]];
	const kernel *k = s->p->kernels[program_kernel(s, n->instr)].kernel;
	bool good;
	if (n->call) {
		good = host_call_good(n->call, f);
	} else {
		int gpu = cuda_gpu_of(x->c, n->worker);
		const device_fault *d = &x->gpus[gpu].seen[n->fault];
		eval_fault fault = { .input = d->input, .dim = d->dim,
				     .value = d->value };
		good = !d->found ||
		       backend_explain(k, EVAL_INDEX_OUTSIDE, &fault, f);
	}
	return good ||
	       backend_at(s->p, x->c->first + n->worker, n->instr, f);
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
				  x->queues[0].stream)))
		return false;
	if (!x->link->wait(x->transfers, x->queues[0].stream, f))
		return locate(x, watched, f);
	x->nsteps++;
	for (int i = 0; i < x->checked.n; i++)
		if (!check(x, x->checked.at[i], f))
			return false;
	return true;
}

int64_t program_received(const program *x, int stage, int instr)
{
	int part = cuda_part_of(x->c, stage);
	return part < 0 ? 0
			: x->nsteps * x->link->received(x->transfers, part,
							instr);
}

int64_t program_used(const program *x, int stage)
{
	int part = cuda_part_of(x->c, stage);
	return part < 0 ? 0 : x->stages[part].used;
}

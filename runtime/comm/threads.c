/* All workers in this process.  A worker copies the parts that it receives
 * directly from its peers' arenas, once these have reached the same point of
 * the program, or, in another stage, the point where they send them.  Before it
 * writes a place that others read, it waits until they have read it.  There are
 * no other waits.
 *
 * If there are as many processors, each worker is a thread, and waits where it
 * is.  Otherwise workers share threads (scheduler.h): a function that would
 * have to wait returns false, and is called again later. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/jobs.h"
#include "base/memory.h"
#include "base/vec.h"
#include "kernel/eval.h"
#include "layout/runs.h"
#include "runtime/comm/barrier.h"
#include "runtime/comm/progress.h"
#include "runtime/comm/scheduler.h"
#include "runtime/exec/communicator.h"
#include "runtime/exec/thread_pool.h"

/* Polls for a peer before sleeping: about as long as it takes to fall asleep
 * and wake up. */
enum { SPINS = 2000 };

typedef VEC(int) numbers;

/* A worker that receives from this one, and the instruction in which it
 * does. */
typedef struct reader {
	int worker, instr;
} reader;

/* The data that one worker receives in one instruction. */
typedef struct parcel {
	int npieces;
	struct pull *pulls;
	VEC(reader) readers;
	int64_t received; /* bytes from others so far */
} parcel;

/* A piece, stored without the unused dimensions of a box. */
typedef struct pull {
	/* its sender, and instruction, numbered in its stage */
	int peer, instr;
	int from;	 /* its buffer, numbered in its stage */
	bool add, zeros;
	int64_t *lo, *hi;
} pull;

/* The program of a stage for its workers. */
typedef struct stage_code {
	const plan *p;
	int first, nworkers;
	parcel *parcels; /* at [instr * nworkers + worker] */
	/* by instr: no worker receives anything from another */
	bool *local;
	/* by instr: transfers and sends that read the place it writes and for
	 * which no earlier instruction waits */
	numbers *guards;
} stage_code;

/* A worker that shares a thread. */
typedef struct sharer {
	/* whether the last call returned false because it has to wait */
	_Alignas(64) bool waits;
	barrier_visit visit;
} sharer;

typedef struct threads {
	arena *a;
	const plan_pipeline *p;
	int nworkers;
	stage_code *stages, **stage_of; /* by stage; by worker */
	unsigned char *const *arenas;
	progress *posts; /* by worker: number of instructions done */
	progress_waiter *waiters; /* by worker */
	progress_need *needs;	  /* at [worker * nworkers + peer] */
	/* a thread for each worker; or NULL, .. */
	thread_pool *thread_pool;
	scheduler *scheduler; /* .. and workers share these threads */
	sharer *sharers;
	barrier barrier;
	atomic_bool broken;
	pthread_mutex_t lock; /* guards failure */
	failure failure;
} threads;

static parcel *parcel_of(const stage_code *s, int instr, int number)
{
	return &s->parcels[(size_t)instr * (size_t)s->nworkers +
			   (size_t)number];
}

/* ---- opening ----------------------------------------------------------- */

/* Notes the pieces that worker `number' of a stage receives.  Workers of stage
 * `of', another one or its own, have them in buffer `from' at instruction
 * `at'. */
static void note_pieces(threads *c, stage_code *to, int instr, int number,
			stage_code *of, int at, int from, const piece *pieces,
			int n)
{
	parcel *x = parcel_of(to, instr, number);
	reader own = { to->first + number, instr };
	x->npieces = n;
	x->pulls = ARENA_ARRAY(c->a, pull, n);
	for (int i = 0; i < n; i++) {
		const piece *q = &pieces[i];
		x->pulls[i] = (pull){ of->first + q->peer, at, from, q->add,
				      q->zeros,
				      ARENA_COPY(c->a, q->at.lo, q->at.n),
				      ARENA_COPY(c->a, q->at.hi, q->at.n) };
		if (of == to && q->peer == number)
			continue;
		parcel *y = parcel_of(of, at, q->peer);
		to->local[instr] = of->local[at] = false;
		if (y->readers.n == 0 ||
		    y->readers.at[y->readers.n - 1].worker != own.worker)
			vec_push(c->a, &y->readers, own);
	}
}

static void note_transfer(threads *c, stage_code *s, int instr)
{
	const plan_instr *in = &s->p->program[instr];
	for (int w = 0; w < s->nworkers; w++) {
		arena *work = arena_new();
		piece *pieces;
		int n = plan_pieces(work, s->p, in, w, &pieces);
		note_pieces(c, s, instr, w, s, instr, in->from, pieces, n);
		arena_free(work);
	}
}

/* at: the instruction that sends the value. */
static void note_receive(threads *c, stage_code *s, int instr, int at)
{
	const plan_instr *in = &s->p->program[instr];
	stage_code *of = &c->stages[c->p->channels[in->channel].from];
	for (int w = 0; w < s->nworkers; w++) {
		arena *work = arena_new();
		piece *pieces;
		int n = pipeline_pieces(work, c->p, in->channel, in->turn, w,
					&pieces);
		note_pieces(c, s, instr, w, of, at, of->p->program[at].from,
			    pieces, n);
		arena_free(work);
	}
}

/* A place in every arena that an instruction reads for others. */
typedef struct source {
	int64_t lo, hi;
	int instr;
} source;

static source source_of(const stage_code *s, int buffer, int instr)
{
	const plan_buffer *b = &s->p->buffers[buffer];
	return (source){ b->offset, b->offset + b->nbytes, instr };
}

/* Finds the reads for which an instruction has to wait before it writes to
 * their source.  A read for which an earlier instruction waits needs no other
 * wait. */
static void find_guards(threads *c, stage_code *s)
{
	arena *work = arena_new();
	VEC(source) read = { 0 };
	for (int i = 0; i < s->p->ninstrs; i++) {
		const plan_instr *in = &s->p->program[i];
		source to = source_of(s, in->to, i);
		int kept = 0;
		for (int j = 0; j < read.n && in->op != PLAN_SEND; j++) {
			const source *from = &read.at[j];
			if (from->lo < to.hi && to.lo < from->hi)
				vec_push(c->a, &s->guards[i], from->instr);
			else
				read.at[kept++] = *from;
		}
		if (in->op != PLAN_SEND)
			read.n = kept;
		if (!s->local[i] && in->op != PLAN_RECEIVE)
			vec_push(work, &read, source_of(s, in->from, i));
	}
	arena_free(work);
}

static void open_stage(threads *c, int nth)
{
	const plan *p = &c->p->stages[nth];
	stage_code *s = &c->stages[nth];
	*s = (stage_code){ .p = p,
			   .first = pipeline_first(c->p, nth),
			   .nworkers = mesh_workers(&p->mesh) };
	s->parcels = arena_calloc(c->a,
				  (size_t)p->ninstrs * (size_t)s->nworkers,
				  sizeof(parcel));
	s->local = ARENA_ARRAY(c->a, bool, p->ninstrs);
	s->guards = ARENA_ARRAY(c->a, numbers, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++)
		s->local[i] = true;
	for (int w = 0; w < s->nworkers; w++)
		c->stage_of[s->first + w] = s;
}

static void note_stage(threads *c, stage_code *s, const int *partners)
{
	for (int i = 0; i < s->p->ninstrs; i++)
		if (plan_moves(&s->p->program[i]))
			note_transfer(c, s, i);
		else if (s->p->program[i].op == PLAN_RECEIVE)
			note_receive(c, s, i, partners[i]);
}

static void open_stages(threads *c)
{
	arena *work = arena_new();
	int **partners = pipeline_partners(work, c->p);
	c->stages = ARENA_ARRAY(c->a, stage_code, c->p->nstages);
	c->stage_of = ARENA_ARRAY(c->a, stage_code *, c->nworkers);
	for (int s = 0; s < c->p->nstages; s++)
		open_stage(c, s);
	for (int s = 0; s < c->p->nstages; s++)
		note_stage(c, &c->stages[s], partners[s]);
	for (int s = 0; s < c->p->nstages; s++)
		find_guards(c, &c->stages[s]);
	arena_free(work);
}

/* Allocates n objects that need a larger alignment than arenas give. */
static void *aligned(arena *a, int n, size_t size)
{
	unsigned char *at = arena_calloc(a, (size_t)n + 1, size);
	return at + (64 - (uintptr_t)at % 64) % 64;
}

static void open_posts(threads *c)
{
	size_t n = (size_t)c->nworkers;
	c->posts = aligned(c->a, c->nworkers, sizeof(*c->posts));
	c->waiters = aligned(c->a, c->nworkers, sizeof(*c->waiters));
	c->sharers = aligned(c->a, c->nworkers, sizeof(*c->sharers));
	c->needs = arena_calloc(c->a, n * n, sizeof(*c->needs));
	for (int w = 0; w < c->nworkers; w++) {
		progress_init(&c->posts[w]);
		progress_waiter_init(&c->waiters[w]);
	}
}

/* There is only this process. */
static bool start_threads(const comm_options *o, void **run, int *rank,
			  failure *f)
{
	(void)o;
	(void)f;
	*run = NULL;
	*rank = 0;
	return true;
}

static void end_threads(void *run, cli_status status)
{
	(void)run;
	(void)status;
}

static void attach_threads(void *state, unsigned char *const *arenas)
{
	((threads *)state)->arenas = arenas;
}

static void here_threads(void *state, int *first, int *n, int *neighbours)
{
	*first = 0;
	*n = *neighbours = ((threads *)state)->nworkers;
}

static void close_threads(void *state)
{
	threads *c = state;
	thread_pool_close(c->thread_pool);
	scheduler_close(c->scheduler);
	for (int w = 0; w < c->nworkers; w++) {
		progress_destroy(&c->posts[w]);
		progress_waiter_destroy(&c->waiters[w]);
	}
	pthread_mutex_destroy(&c->lock);
	barrier_destroy(&c->barrier);
	arena_free(c->a);
}

static bool start_workers(threads *c)
{
	int n = processors(NULL);
	if (n < c->nworkers)
		return (c->scheduler = scheduler_open(c->nworkers, n)) != NULL;
	c->thread_pool = thread_pool_open(c->nworkers, false);
	return c->thread_pool &&
	       thread_pool_size(c->thread_pool) == c->nworkers;
}

static void *open_threads(void *run, const plan_pipeline *p, failure *f)
{
	(void)run;
	arena *a = arena_new();
	threads *c = ARENA_NEW(a, threads);
	*c = (threads){ .a = a, .p = p,
			.nworkers = pipeline_first(p, p->nstages) };
	open_stages(c);
	open_posts(c);
	barrier_init(&c->barrier, c->nworkers);
	pthread_mutex_init(&c->lock, NULL);
	if (start_workers(c))
		return c;
	fail_with(f, CLI_MACHINE, "cannot start threads for %d workers",
		  c->nworkers);
	close_threads(c);
	return NULL;
}

/* ---- workers ----------------------------------------------------------- */

typedef struct launch {
	threads *c;
	comm_body *body;
	void *arg;
} launch;

static void break_all(threads *c)
{
	atomic_store(&c->broken, true);
	barrier_break(&c->barrier);
	for (int w = 0; w < c->nworkers; w++)
		progress_break(&c->posts[w]);
	if (c->scheduler)
		scheduler_break(c->scheduler);
}

static void break_guarded(void *c)
{
	break_all(c);
}

/* If a worker's call ends early, the others must not wait for it. */
static void run_worker(void *arg, int number)
{
	launch *l = arg;
	threads *c = l->c;
	failure f = { 0 };
	memory_guard g;
	memory_guard_on(&g, break_guarded, c);
	bool good = l->body(l->arg, number, &f);
	memory_guard_off(&g);
	if (good || c->sharers[number].waits)
		return;
	pthread_mutex_lock(&c->lock);
	if (f.status != CLI_OK && c->failure.status == CLI_OK)
		c->failure = f;
	pthread_mutex_unlock(&c->lock);
	break_all(c);
}

/* Returns whether the worker has ended. */
static bool take_turn(void *arg, int number)
{
	launch *l = arg;
	bool *waits = &l->c->sharers[number].waits;
	*waits = false;
	run_worker(l, number);
	return !*waits;
}

static bool launch_threads(void *state, comm_body *body, void *arg, failure *f)
{
	threads *c = state;
	launch l = { c, body, arg };
	for (int w = 0; w < c->nworkers; w++)
		progress_set(&c->posts[w], 0);
	if (c->scheduler)
		scheduler_run(c->scheduler, take_turn, &l);
	else
		thread_pool_run(c->thread_pool, c->nworkers, run_worker, &l);
	if (c->failure.status != CLI_OK && f->status == CLI_OK)
		*f = c->failure;
	return f->status == CLI_OK;
}

/* For a worker that shares a thread: what it waits for is not so yet.  Returns
 * false. */
static bool wait_later(threads *c, int number)
{
	c->sharers[number].waits = !atomic_load(&c->broken);
	return false;
}

static bool wait_threads(void *state, int number)
{
	threads *c = state;
	if (!c->scheduler)
		return barrier_wait(&c->barrier);
	barrier_visit *v = &c->sharers[number].visit;
	bool arrives = !v->arrived;
	if (!barrier_passed(&c->barrier, v))
		return wait_later(c, number);
	if (arrives)
		scheduler_moved(c->scheduler);
	return !atomic_load(&c->broken);
}

/* ---- transfers --------------------------------------------------------- */

static unsigned char *place(const threads *c, int worker, int buffer)
{
	return c->arenas[worker] + c->stage_of[worker]->p->buffers[buffer]
					   .offset;
}

static region region_of(const threads *c, int worker, int buffer)
{
	const stage_code *s = c->stage_of[worker];
	return plan_region(s->p, buffer, worker - s->first);
}

static void fetch(threads *c, const plan_instr *in, int worker, const pull *x,
		  parcel *to)
{
	const plan *p = c->stage_of[worker]->p;
	const plan_tensor *t = &p->tensors[p->buffers[in->to].tensor];
	int64_t size = (int64_t)dtype_size(t->type);
	region dst = region_of(c, worker, in->to);
	region src = x->zeros ? dst : region_of(c, x->peer, x->from);
	unsigned char *at = place(c, worker, in->to);
	const unsigned char *from = place(c, x->peer, x->from);
	reducer r = x->add ? plan_partial(p, in->node) : RED_NONE;
	box b = { .n = t->ndim };
	memcpy(b.lo, x->lo, (size_t)b.n * sizeof(*b.lo));
	memcpy(b.hi, x->hi, (size_t)b.n * sizeof(*b.hi));
	runs run = runs_of(&b, &dst, &src);
	while (runs_next(&run)) {
		if (x->zeros)
			memset(at + run.dst * size, 0,
			       (size_t)(run.n * size));
		else if (x->add)
			reducer_combine(r, t->type, at + run.dst * size,
					from + run.src * size, run.n);
		else
			memcpy(at + run.dst * size, from + run.src * size,
			       (size_t)(run.n * size));
		if (x->peer != worker)
			to->received += run.n * size;
	}
}

/* A worker reaches an instruction. */
static void move_on(threads *c, int worker, int at)
{
	if (progress_is_at(&c->posts[worker], at))
		return;
	progress_set(&c->posts[worker], at);
	if (c->scheduler)
		scheduler_moved(c->scheduler);
}

/* Makes a worker wait, in await(), until a peer has reached `at'.  Returns
 * whether it has to look for other peers, too. */
static bool need(threads *c, int worker, int peer, int at)
{
	if (c->scheduler)
		return progress_is_at(&c->posts[peer], at) ||
		       wait_later(c, worker);
	progress_ask(&c->waiters[worker], &c->posts[peer],
		     &c->needs[(size_t)worker * (size_t)c->nworkers +
			       (size_t)peer], at, SPINS);
	return true;
}

static bool await(threads *c, int worker)
{
	return c->scheduler ? !atomic_load(&c->broken)
			: progress_await(&c->waiters[worker]);
}

/* Waits until the place that the instruction writes has been read by all. */
static bool ready_threads(void *state, int instr, int worker)
{
	threads *c = state;
	const stage_code *s = c->stage_of[worker];
	const numbers *guards = &s->guards[instr];
	for (int i = 0; i < guards->n; i++) {
		const parcel *x = parcel_of(s, guards->at[i],
					    worker - s->first);
		for (int j = 0; j < x->readers.n; j++) {
			const reader *r = &x->readers.at[j];
			if (!need(c, worker, r->worker, r->instr + 1))
				return false;
		}
	}
	return await(c, worker);
}

/* Waits for the peers that send n pieces. */
static bool await_peers(threads *c, int worker, const pull *pulls, int n)
{
	for (int i = 0; i < n; i++)
		if (pulls[i].peer != worker &&
		    !need(c, worker, pulls[i].peer, pulls[i].instr))
			return false;
	return await(c, worker);
}

/* A piece is ready when its peer has reached the instruction that sends it.  A
 * worker that shares a thread fetches nothing before all pieces are. */
static bool transfer(void *state, int instr, int worker)
{
	threads *c = state;
	const stage_code *s = c->stage_of[worker];
	parcel *x = parcel_of(s, instr, worker - s->first);
	const int each = c->scheduler ? x->npieces : 1;
	if (!s->local[instr])
		move_on(c, worker, instr);
	for (int i = 0; i < x->npieces; i++) {
		const pull *q = &x->pulls[i];
		if (i % each == 0 && !await_peers(c, worker, q, each))
			return false;
		fetch(c, &s->p->program[instr], worker, q, x);
	}
	if (!s->local[instr])
		move_on(c, worker, instr + 1);
	return true;
}

static bool send_threads(void *state, int instr, int worker)
{
	threads *c = state;
	if (!c->stage_of[worker]->local[instr])
		move_on(c, worker, instr);
	return true;
}

static void share_threads(void *state, int worker, void *data, int64_t n)
{
	(void)state;
	(void)worker;
	(void)data;
	(void)n;
}

static int64_t same_threads(void *state, int64_t x)
{
	(void)state;
	return x;
}

static int64_t received_threads(void *state, int stage, int instr)
{
	const threads *c = state;
	const stage_code *s = &c->stages[stage];
	int64_t n = 0;
	for (int w = 0; w < s->nworkers; w++)
		n += parcel_of(s, instr, w)->received;
	return n;
}

const communicator comm_threads = {
	.name = "threads",
	.moves = true,
	.start = start_threads,
	.end = end_threads,
	.open = open_threads,
	.here = here_threads,
	.attach = attach_threads,
	.launch = launch_threads,
	.ready = ready_threads,
	.move = transfer,
	.combine = transfer,
	.send = send_threads,
	.receive = transfer,
	.barrier = wait_threads,
	.share = share_threads,
	.sum = same_threads,
	.greatest = same_threads,
	.received = received_threads,
	.close = close_threads,
};

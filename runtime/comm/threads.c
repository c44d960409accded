/* All workers in this process, a thread each.  A worker copies the parts that
 * it receives directly out of its peers' arenas, once these have reached the
 * same point of the program; before it writes where others read, it waits until
 * they have read.  There are no other waits. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/vec.h"
#include "kernel/eval.h"
#include "layout/runs.h"
#include "runtime/comm/barrier.h"
#include "runtime/comm/progress.h"
#include "runtime/exec/communicator.h"
#include "runtime/exec/thread_pool.h"

/* Times to look for a peer before sleeping, where each worker has a processor
 * of its own: about as long as it takes to fall asleep and wake up. */
enum { SPINS = 2000 };

typedef VEC(int) numbers;

/* The data that one worker receives in one instruction. */
typedef struct parcel {
	int npieces;
	struct pull *pulls;
	numbers readers;  /* the workers that receive from this one */
	int64_t received; /* bytes from others, so far */
} parcel;

/* A piece, without the dimensions that a box has room for. */
typedef struct pull {
	int peer;
	bool add, zeros;
	int64_t *lo, *hi;
} pull;

typedef struct threads {
	arena *a;
	const plan *p;
	int nworkers;
	unsigned char *const *arenas;
	parcel *parcels; /* [instr * nworkers + worker] */
	bool *local;	 /* instr: no worker receives anything from another */
	numbers *guards; /* instr: transfers that read where it writes, and that
			    no instruction before it waits for */
	progress *posts; /* by worker: instructions that it is done with */
	thread_pool *thread_pool;
	int spins;
	barrier barrier;
	pthread_mutex_t lock; /* of failure */
	failure failure;
} threads;

static parcel *parcel_of(threads *c, int instr, int worker)
{
	return &c->parcels[(size_t)instr * (size_t)c->nworkers +
			   (size_t)worker];
}

/* ---- opening ----------------------------------------------------------- */

static void note_pieces(threads *c, int instr, int worker)
{
	arena *work = arena_new();
	const plan_instr *in = &c->p->program[instr];
	parcel *x = parcel_of(c, instr, worker);
	piece *pieces;
	int n = plan_pieces(work, c->p, in, worker, &pieces);
	x->npieces = n;
	x->pulls = ARENA_ARRAY(c->a, pull, n);
	for (int i = 0; i < n; i++) {
		const piece *q = &pieces[i];
		x->pulls[i] = (pull){ q->peer, q->add, q->zeros,
				      ARENA_COPY(c->a, q->at.lo, q->at.n),
				      ARENA_COPY(c->a, q->at.hi, q->at.n) };
		if (q->peer != worker) {
			numbers *to = &parcel_of(c, instr, q->peer)->readers;
			c->local[instr] = false;
			if (to->n == 0 || to->at[to->n - 1] != worker)
				vec_push(c->a, to, worker);
		}
	}
	arena_free(work);
}

/* A place in every arena that an instruction reads for others. */
typedef struct source {
	int64_t lo, hi;
	int instr;
} source;

static source source_of(const threads *c, int buffer, int instr)
{
	const plan_buffer *b = &c->p->buffers[buffer];
	return (source){ b->offset, b->offset + b->nbytes, instr };
}

/* Finds the reads that an instruction has to wait for before it writes to their
 * source; a read that one instruction has waited for needs no other wait. */
static void find_guards(threads *c)
{
	arena *work = arena_new();
	VEC(source) read = { 0 };
	for (int i = 0; i < c->p->ninstrs; i++) {
		const plan_instr *in = &c->p->program[i];
		source to = source_of(c, in->to, i);
		int kept = 0;
		for (int j = 0; j < read.n; j++) {
			const source *from = &read.at[j];
			if (from->lo < to.hi && to.lo < from->hi)
				vec_push(c->a, &c->guards[i], from->instr);
			else
				read.at[kept++] = *from;
		}
		read.n = kept;
		if (!c->local[i])
			vec_push(work, &read, source_of(c, in->from, i));
	}
	arena_free(work);
}

static void open_posts(threads *c)
{
	c->posts = ARENA_ARRAY(c->a, progress, c->nworkers + 1);
	/* The arena aligns for any type of C's own. */
	c->posts = (progress *)(((uintptr_t)c->posts + 63) / 64 * 64);
	for (int w = 0; w < c->nworkers; w++)
		progress_init(&c->posts[w]);
}

/* This process is the only one. */
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
	for (int w = 0; w < c->nworkers; w++)
		progress_destroy(&c->posts[w]);
	pthread_mutex_destroy(&c->lock);
	barrier_destroy(&c->barrier);
	arena_free(c->a);
}

static void *open_threads(void *run, const plan *p, failure *f)
{
	(void)run;
	arena *a = arena_new();
	threads *c = ARENA_NEW(a, threads);
	*c = (threads){ .a = a, .p = p, .nworkers = mesh_workers(&p->mesh) };
	c->parcels = arena_calloc(a, (size_t)p->ninstrs * (size_t)c->nworkers,
				  sizeof(parcel));
	c->local = ARENA_ARRAY(a, bool, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++) {
		c->local[i] = true;
		for (int w = 0; w < c->nworkers && plan_moves(&p->program[i]);
		     w++)
			note_pieces(c, i, w);
	}
	c->guards = ARENA_ARRAY(a, numbers, p->ninstrs);
	find_guards(c);
	open_posts(c);
	c->spins = processors(NULL) >= c->nworkers ? SPINS : 0;
	barrier_init(&c->barrier, c->nworkers);
	pthread_mutex_init(&c->lock, NULL);
	c->thread_pool = thread_pool_open(c->nworkers);
	if (c->thread_pool && thread_pool_size(c->thread_pool) == c->nworkers)
		return c;
	fail_with(f, CLI_MACHINE, "cannot start a thread for each of %d "
		  "workers", c->nworkers);
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
	barrier_break(&c->barrier);
	for (int w = 0; w < c->nworkers; w++)
		progress_break(&c->posts[w]);
}

static void break_guarded(void *c)
{
	break_all(c);
}

/* Where a worker's call ends early, the others must not wait for it. */
static void run_worker(void *arg, int number)
{
	launch *l = arg;
	threads *c = l->c;
	failure f = { 0 };
	memory_guard g;
	memory_guard_on(&g, break_guarded, c);
	bool good = l->body(l->arg, number, &f);
	memory_guard_off(&g);
	if (good)
		return;
	pthread_mutex_lock(&c->lock);
	if (f.status != CLI_OK && c->failure.status == CLI_OK)
		c->failure = f;
	pthread_mutex_unlock(&c->lock);
	break_all(c);
}

static bool launch_threads(void *state, comm_body *body, void *arg, failure *f)
{
	threads *c = state;
	launch l = { c, body, arg };
	for (int w = 0; w < c->nworkers; w++)
		progress_set(&c->posts[w], 0);
	thread_pool_run(c->thread_pool, c->nworkers, run_worker, &l);
	if (c->failure.status != CLI_OK && f->status == CLI_OK)
		*f = c->failure;
	return f->status == CLI_OK;
}

static bool wait_threads(void *state, int number)
{
	threads *c = state;
	(void)number;
	return barrier_wait(&c->barrier);
}

/* ---- transfers --------------------------------------------------------- */

static unsigned char *place(const threads *c, int worker, int buffer)
{
	return c->arenas[worker] + c->p->buffers[buffer].offset;
}

static void fetch(threads *c, const plan_instr *in, int number, const pull *x,
		  parcel *to)
{
	const plan_tensor *t = &c->p->tensors[c->p->buffers[in->to].tensor];
	int64_t size = (int64_t)dtype_size(t->type);
	region dst = plan_region(c->p, in->to, number);
	region src = x->zeros ? dst : plan_region(c->p, in->from, x->peer);
	unsigned char *at = place(c, number, in->to);
	const unsigned char *from = place(c, x->peer, in->from);
	reducer r = x->add ? plan_partial(c->p, in->node) : RED_NONE;
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
		if (x->peer != number)
			to->received += run.n * size;
	}
}

/* Waits until all reads of the place where the instruction writes are done. */
static bool ready_threads(void *state, int instr, int number)
{
	threads *c = state;
	const numbers *guards = &c->guards[instr];
	for (int i = 0; i < guards->n; i++) {
		int from = guards->at[i];
		const numbers *r = &parcel_of(c, from, number)->readers;
		for (int j = 0; j < r->n; j++)
			if (!progress_wait(&c->posts[r->at[j]], from + 1,
					   c->spins))
				return false;
	}
	return true;
}

static bool transfer(void *state, int instr, int number)
{
	threads *c = state;
	parcel *x = parcel_of(c, instr, number);
	progress *own = &c->posts[number];
	if (!c->local[instr])
		progress_set(own, instr);
	for (int i = 0; i < x->npieces; i++) {
		const pull *q = &x->pulls[i];
		if (q->peer != number &&
		    !progress_wait(&c->posts[q->peer], instr, c->spins))
			return false;
		fetch(c, &c->p->program[instr], number, q, x);
	}
	if (!c->local[instr])
		progress_set(own, instr + 1);
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

static int64_t received_threads(void *state, int instr)
{
	threads *c = state;
	int64_t n = 0;
	for (int w = 0; w < c->nworkers; w++)
		n += parcel_of(c, instr, w)->received;
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
	.barrier = wait_threads,
	.share = share_threads,
	.sum = same_threads,
	.greatest = same_threads,
	.received = received_threads,
	.close = close_threads,
};

/* All workers in this process, a thread each.  A worker pulls what it receives
 * straight out of its peers' arenas, between two barriers: the first makes
 * sure that it is there, the second that it is not overwritten too early. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "plan/eval.h"
#include "plan/transfer.h"
#include "runtime/comm/barrier.h"
#include "runtime/comm/comm.h"

/* What one worker receives in one instruction. */
typedef struct parcel {
	int npieces;
	struct pull *pulls;
	int64_t received; /* bytes from others, so far */
} parcel;

/* A piece, without the dimensions that a box has room for. */
typedef struct pull {
	int peer;
	bool add;
	int64_t *lo, *hi;
} pull;

typedef struct threads {
	arena *a;
	const plan *p;
	int nworkers;
	unsigned char *const *arenas;
	parcel *parcels; /* [instr * nworkers + worker] */
	bool *local;	 /* instr: nobody receives anything from another */
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
	int n = transfer_pieces(work, c->p, in, worker, &pieces);
	x->npieces = n;
	x->pulls = ARENA_ARRAY(c->a, pull, n);
	for (int i = 0; i < n; i++) {
		const piece *q = &pieces[i];
		x->pulls[i] = (pull){ q->peer, q->add,
				      ARENA_COPY(c->a, q->at.lo, q->at.n),
				      ARENA_COPY(c->a, q->at.hi, q->at.n) };
		if (q->peer != worker)
			c->local[instr] = false;
	}
	arena_free(work);
}

/* This process is the only one. */
static bool start_threads(void)
{
	return true;
}

static void end_threads(cli_status status)
{
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

static void *open_threads(const plan *p, failure *f)
{
	arena *a = arena_new();
	threads *c = ARENA_NEW(a, threads);
	(void)f;
	*c = (threads){ .a = a, .p = p, .nworkers = mesh_workers(&p->mesh) };
	c->parcels = arena_calloc(a, (size_t)p->ninstrs * (size_t)c->nworkers,
				  sizeof(parcel));
	c->local = ARENA_ARRAY(a, bool, p->ninstrs);
	for (int i = 0; i < p->ninstrs; i++) {
		c->local[i] = true;
		for (int w = 0; w < c->nworkers && p->program[i].op != PLAN_RUN;
		     w++)
			note_pieces(c, i, w);
	}
	barrier_init(&c->barrier, c->nworkers);
	pthread_mutex_init(&c->lock, NULL);
	return c;
}

static void close_threads(void *state)
{
	threads *c = state;
	pthread_mutex_destroy(&c->lock);
	barrier_destroy(&c->barrier);
	arena_free(c->a);
}

/* ---- workers ----------------------------------------------------------- */

typedef struct crew {
	threads *c;
	int number;
	comm_body *body;
	void *arg;
	pthread_t thread;
} crew;

static void *run_worker(void *arg)
{
	crew *w = arg;
	threads *c = w->c;
	failure f = { 0 };
	if (!w->body(w->arg, w->number, &f)) {
		pthread_mutex_lock(&c->lock);
		if (f.status != CLI_OK && c->failure.status == CLI_OK)
			c->failure = f;
		pthread_mutex_unlock(&c->lock);
		barrier_break(&c->barrier);
	}
	return NULL;
}

static bool launch_threads(void *state, comm_body *body, void *arg, failure *f)
{
	threads *c = state;
	arena *work = arena_new();
	crew *w = ARENA_ARRAY(work, crew, c->nworkers);
	int started = 0, error = 0;
	for (; started < c->nworkers && !error; started += !error) {
		crew *x = &w[started];
		*x = (crew){ .c = c, .number = started, .body = body,
			       .arg = arg };
		error = pthread_create(&x->thread, NULL, run_worker, x);
	}
	if (error) {
		barrier_break(&c->barrier);
		fail_with(f, CLI_MACHINE, "cannot start a thread for each of "
			  "%d workers: %s", c->nworkers, strerror(error));
	}
	for (int i = 0; i < started; i++)
		pthread_join(w[i].thread, NULL);
	arena_free(work);
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
	region src = plan_region(c->p, in->from, x->peer);
	unsigned char *at = place(c, number, in->to);
	const unsigned char *from = place(c, x->peer, in->from);
	reducer r = x->add ? plan_partial(c->p, in->node, NULL) : RED_NONE;
	box b = { .n = t->ndim };
	memcpy(b.lo, x->lo, (size_t)b.n * sizeof(*b.lo));
	memcpy(b.hi, x->hi, (size_t)b.n * sizeof(*b.hi));
	runs run = runs_of(&b, &dst, &src);
	while (runs_next(&run)) {
		if (x->add)
			reducer_combine(r, t->type, at + run.dst * size,
					from + run.src * size, run.n);
		else
			memcpy(at + run.dst * size, from + run.src * size,
			       (size_t)(run.n * size));
		if (x->peer != number)
			to->received += run.n * size;
	}
}

static bool transfer(void *state, int instr, int number)
{
	threads *c = state;
	parcel *x = parcel_of(c, instr, number);
	if (!c->local[instr] && !barrier_wait(&c->barrier))
		return false;
	for (int i = 0; i < x->npieces; i++)
		fetch(c, &c->p->program[instr], number, &x->pulls[i], x);
	return c->local[instr] || barrier_wait(&c->barrier);
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
	.start = start_threads,
	.end = end_threads,
	.open = open_threads,
	.here = here_threads,
	.attach = attach_threads,
	.launch = launch_threads,
	.move = transfer,
	.combine = transfer,
	.barrier = wait_threads,
	.share = share_threads,
	.sum = same_threads,
	.greatest = same_threads,
	.received = received_threads,
	.close = close_threads,
};

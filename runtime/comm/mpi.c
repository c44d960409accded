/* Workers as processes, each a rank of Open MPI, for all stages.
 *
 * For a transfer every rank packs the pieces that its peers receive from its
 * own buffer.  It copies or combines what it receives in the order given by
 * plan_pieces(), without the library's reductions, so the results equal those
 * of threads bit for bit.  A collective runs on the communicator of its mesh
 * axes.  Halos and gathers by pieces are messages between ranks that have
 * something to send.  Transfers proceed while workers compute, from the time
 * their source is computed until their target is needed.
 *
 * A message to another stage is copied to an outbox when it is sent.  Each
 * place that is sent from, a slot of a buffer, has one.  So writing the place
 * again need not wait.  Sending from it again waits until the message before
 * has been taken, no longer than the plan allows.  A message's tag is the
 * number of its channel. */
#include "config.h"

#include "runtime/comm/mpi_exchange.h"
#include "runtime/comm/mpi_wait.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/eval.h"
#include "layout/runs.h"

/* The most bytes of one message, as MPI counts in int. */
enum { MOST_BYTES = 1 << 30 };

/* ---- opening ----------------------------------------------------------- */

static bool start_ranks(const comm_options *o, void **run, int *rank,
			failure *f)
{
	int level;
	/* On a loaded machine a call that yields comes back after 10 ms, and
	 * with this Open MPI yields in each call that finds nothing.  mpirun
	 * sets it if there are more ranks than processors, but then these sleep
	 * (mpi_wait.h). */
	setenv("OMPI_MCA_mpi_yield_when_idle", "0", 0);
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, rank);
	mpi_heartbeat *b = NULL;
	double timeout = o->timeout > 0 ? o->timeout : COMM_TIMEOUT;
	if (level == MPI_THREAD_MULTIPLE && !mpi_heartbeat_open(timeout, &b))
		return fail_with(f, CLI_MACHINE, "a rank has no memory or no "
				 "thread to monitor another");
	*run = b;
	if (level != MPI_THREAD_MULTIPLE && o->timeout > 0)
		return fail_with(f, CLI_MACHINE, "--timeout needs an MPI that "
				 "several threads may call, and this is not "
				 "one");
	return true;
}

/* Ends all ranks.  The first rank reports a failure of all ranks and ends the
 * others while they wait.  A rank that has failed alone reports a little
 * later. */
static void end_ranks(void *run, cli_status status)
{
	int n;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	/* If a process ends like this, mpirun or Slurm ends the others and
	 * returns its status.  MPI_Abort() makes some versions of mpirun
	 * hang. */
	if (status != CLI_OK && status != CLI_DIFFERENCE && n > 1)
		_exit(status);
	mpi_heartbeat_close(run);
	MPI_Finalize();
}

static uint64_t *gather_ranks(void *run, arena *a, uint64_t x, int *n)
{
	(void)run;
	MPI_Comm_size(MPI_COMM_WORLD, n);
	uint64_t *all = ARENA_ARRAY(a, uint64_t, *n);
	MPI_Allgather(&x, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T,
		      MPI_COMM_WORLD);
	return all;
}

/* Opens the stages' communicators, and the one for messages between stages. */
static bool open_stages(ranks *c, failure *f)
{
	int *most, there;
	MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
	c->stage = pipeline_stage_of(c->all, c->rank, &c->number);
	c->p = &c->all->stages[c->stage];
	c->crowded = mpi_ranks_are_crowded();
	MPI_Comm_split(MPI_COMM_WORLD, c->stage, c->number, &c->members);
	MPI_Comm_dup(MPI_COMM_WORLD, &c->messages);
	MPI_Comm_get_attr(c->messages, MPI_TAG_UB, &most, &there);
	return c->all->nchannels == 0 ||
	       (there && c->all->nchannels - 1 <= *most) ||
	       fail_with(f, CLI_MACHINE, "the plan has %d channels between "
			 "its stages, more than this MPI has tags",
			 c->all->nchannels);
}

static void close_ranks(void *state)
{
	ranks *c = state;
	mpi_heartbeat_watch(c->mpi_heartbeat, NULL, NULL);
	for (int i = 0; i < c->groups.n; i++)
		MPI_Comm_free(&c->groups.at[i].comm);
	MPI_Comm_free(&c->messages);
	MPI_Comm_free(&c->members);
	arena_free(c->a);
}

static void *open_ranks(void *run, const plan_pipeline *p, failure *f)
{
	int n, workers = pipeline_first(p, p->nstages);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	if (n != workers) {
		fail_with(f, CLI_MACHINE, "the plan has %d worker%s, and there "
			  "%s %d MPI process%s: start it with 'mpirun -n %d "
			  "tdlrun PLAN ..'", workers,
			  workers == 1 ? "" : "s", n == 1 ? "is" : "are", n,
			  n == 1 ? "" : "es", workers);
		return NULL;
	}
	arena *a = arena_new();
	ranks *c = ARENA_NEW(a, ranks);
	*c = (ranks){ .a = a, .mpi_heartbeat = run, .all = p, .at = -1 };
	if (open_stages(c, f))
		return c;
	close_ranks(c);
	return NULL;
}

static void here_ranks(void *state, int *first, int *n, int *neighbours)
{
	const ranks *c = state;
	MPI_Comm executor;
	*first = c->rank;
	*n = 1;
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0,
			    MPI_INFO_NULL, &executor);
	MPI_Comm_size(executor, neighbours);
	MPI_Comm_free(&executor);
}

static void attach_ranks(void *state, unsigned char *const *arenas)
{
	ranks *c = state;
	c->arena = arenas[c->rank];
	exchanges_open(c);
}

static bool launch_rank(void *state, comm_body *body, void *arg, failure *f)
{
	ranks *c = state;
	mpi_heartbeat_step(c->mpi_heartbeat, c->all);
	bool good = body(arg, c->rank, f);
	mpi_heartbeat_step(c->mpi_heartbeat, NULL);
	return good;
}

/* ---- transfers --------------------------------------------------------- */

static box part_box(const part *x, int n)
{
	box b = { .n = n };
	memcpy(b.lo, x->lo, (size_t)n * sizeof(*b.lo));
	memcpy(b.hi, x->hi, (size_t)n * sizeof(*b.hi));
	return b;
}

static region dense(const box *at)
{
	return (region){ .at = *at, .count = box_volume(at) };
}

static const plan_tensor *tensor_of(const ranks *c, const plan_instr *in)
{
	return &c->p->tensors[c->p->buffers[in->to].tensor];
}

static unsigned char *memory_of(const ranks *c, int buffer)
{
	return c->arena + c->p->buffers[buffer].offset;
}

/* Copies a part for a peer to the outbox. */
static void pack(const ranks *c, const exchange *of, const part *x)
{
	const plan_instr *in = &c->p->program[x->instr];
	const plan_tensor *t = tensor_of(c, in);
	size_t size = dtype_size(t->type);
	region mine = plan_region(c->p, in->from, c->number);
	const unsigned char *from = memory_of(c, in->from);
	char *to = of->outbox + x->at;
	box b = part_box(x, t->ndim);
	region packed = dense(&b);
	runs r = runs_of(&b, &packed, &mine);
	while (runs_next(&r))
		memcpy(to + (size_t)r.dst * size, from + (size_t)r.src * size,
		       (size_t)r.n * size);
}

/* Copies a part to its place, combines it with what is there, or sets it to
 * zeros.  The source is this rank's buffer for an own part, and the inbox for
 * another's. */
static void unpack(const ranks *c, const exchange *of, const part *x)
{
	const plan_instr *in = &c->p->program[x->instr];
	const plan_tensor *t = tensor_of(c, in);
	int64_t size = (int64_t)dtype_size(t->type);
	bool own = x->peer == c->number && of->ranks == c->members;
	box b = part_box(x, t->ndim);
	region dst = plan_region(c->p, in->to, c->number);
	region src = x->zeros ? dst
		     : own    ? plan_region(c->p, in->from, c->number)
			      : dense(&b);
	unsigned char *to = memory_of(c, in->to);
	const unsigned char *from = own ? memory_of(c, in->from)
					: (unsigned char *)of->inbox + x->at;
	reducer red = x->add ? plan_partial(c->p, in->node) : RED_NONE;
	runs r = runs_of(&b, &dst, &src);
	while (runs_next(&r)) {
		if (x->zeros)
			memset(to + r.dst * size, 0, (size_t)(r.n * size));
		else if (x->add)
			reducer_combine(red, t->type, to + r.dst * size,
					from + r.src * size, r.n);
		else
			memcpy(to + r.dst * size, from + r.src * size,
			       (size_t)(r.n * size));
	}
}

/* Starts the messages to or from all peers.  Long ones are sent in pieces. */
static void start_messages(ranks *c, exchange *x, const parcels *all,
			   char *memory, bool send)
{
	for (int i = 0; i < all->n; i++) {
		const parcel *q = &all->of[i];
		for (int64_t at = 0; at < q->nbytes; at += MOST_BYTES) {
			int64_t left = q->nbytes - at;
			int n = (int)(left < MOST_BYTES ? left : MOST_BYTES);
			char *data = memory + q->at + at;
			MPI_Request r;
			if (send)
				MPI_Isend(data, n, MPI_BYTE, q->peer, x->tag,
					  x->ranks, &r);
			else
				MPI_Irecv(data, n, MPI_BYTE, q->peer, x->tag,
					  x->ranks, &r);
			vec_push(c->a, &x->requests, r);
		}
	}
}

static void start_collective(ranks *c, exchange *x)
{
	MPI_Request r;
	int n;
	MPI_Comm_size(x->group, &n);
	MPI_Ialltoallv(x->outbox, x->counts, x->counts + n, MPI_BYTE,
		       x->inbox, x->counts + 2 * n, x->counts + 3 * n,
		       MPI_BYTE, x->group, &r);
	vec_push(c->a, &x->requests, r);
}

static void begin(ranks *c, int instr)
{
	exchange *x = &c->exchanges[instr];
	for (int i = 0; i < x->sent.n; i++)
		pack(c, x, &x->sent.at[i]);
	if (x->group != MPI_COMM_NULL) {
		start_collective(c, x);
		return;
	}
	start_messages(c, x, &x->from, x->inbox, false);
	start_messages(c, x, &x->to, x->outbox, true);
}

static void unpack_all(ranks *c, int instr)
{
	const exchange *x = &c->exchanges[instr];
	for (int i = 0; i < x->received.n; i++)
		unpack(c, x, &x->received.at[i]);
}

static void wait_for(ranks *c, int instr)
{
	exchange *x = &c->exchanges[instr];
	mpi_heartbeat_wait(c->mpi_heartbeat, instr,
			   x->to.nbytes + x->from.nbytes);
	mpi_wait_all(c->crowded, x->requests.n, x->requests.at);
	mpi_heartbeat_go_on(c->mpi_heartbeat);
	x->requests.n = 0;
}

static void end(ranks *c, int instr)
{
	exchange *x = &c->exchanges[instr];
	wait_for(c, instr);
	x->total += x->from.nbytes;
	unpack_all(c, instr);
}

/* Open MPI makes progress mainly during calls. */
static void go_on(void)
{
	int found;
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found,
		   MPI_STATUS_IGNORE);
}

/* Whether a transfer is done completely when its turn comes. */
static bool is_apart(const ranks *c, int instr)
{
	return c->apart && c->apart[instr];
}

static bool ready_ranks(void *state, int instr, int worker)
{
	ranks *c = state;
	const prefetch *s = &c->schedule;
	(void)worker;
	for (int i = s->first[instr]; i < s->first[instr + 1]; i++)
		if (is_apart(c, s->events[i].instr))
			continue;
		else if (s->events[i].begins)
			begin(c, s->events[i].instr);
		else
			end(c, s->events[i].instr);
	c->at = instr;
	go_on();
	return true;
}

/* The schedule does the exchanges.  Only parts that stay on the worker are
 * copied here. */
static bool transfer(void *state, int instr, int worker)
{
	ranks *c = state;
	(void)worker;
	if (c->exchanges[instr].local)
		unpack_all(c, instr);
	if (is_apart(c, instr)) {
		begin(c, instr);
		end(c, instr);
	}
	return true;
}

/* The first transfer of a phase stands for all of them. */
static void apart_ranks(void *state)
{
	ranks *c = state;
	const prefetch *s = &c->schedule;
	c->apart = ARENA_ARRAY(c->a, bool, c->p->ninstrs);
	for (int i = 0; i < s->first[c->p->ninstrs + 1]; i++)
		c->apart[s->events[i].instr] =
			plan_moves(&c->p->program[s->events[i].instr]);
}

/* Waits for a message that the place still has on its way. */
static void empty(ranks *c, place *of)
{
	if (of->sent >= 0)
		wait_for(c, of->sent);
	of->sent = -1;
}

static bool send_rank(void *state, int instr, int worker)
{
	ranks *c = state;
	(void)worker;
	empty(c, c->exchanges[instr].place);
	begin(c, instr);
	c->exchanges[instr].place->sent = instr;
	return true;
}

static void empty_all(ranks *c)
{
	for (int i = 0; i < c->all->nchannels; i++)
		for (int k = 0; k < c->places[i].n; k++)
			empty(c, c->places[i].at[k]);
}

/* Ends transfers that are still in progress when the program has ended. */
static bool wait_ranks(void *state, int worker)
{
	ranks *c = state;
	if (c->exchanges && c->at == c->p->ninstrs - 1) {
		ready_ranks(c, c->p->ninstrs, worker);
		empty_all(c);
	}
	MPI_Request all;
	mpi_heartbeat_wait(c->mpi_heartbeat, -1, 0);
	MPI_Ibarrier(MPI_COMM_WORLD, &all);
	mpi_wait_all(c->crowded, 1, &all);
	mpi_heartbeat_go_on(c->mpi_heartbeat);
	return true;
}

/* The progress of devices is not monitored here. */
static double watch_ranks(void *state, const comm_progress *x)
{
	ranks *c = state;
	mpi_heartbeat_watch(c->mpi_heartbeat, c->all, x);
	return 0;
}

static int64_t received_ranks(void *state, int stage, int instr)
{
	const ranks *c = state;
	return stage == c->stage ? c->exchanges[instr].total : 0;
}

static void share_ranks(void *state, int worker, void *data, int64_t n)
{
	const ranks *c = state;
	for (int64_t at = 0; at < n; at += MOST_BYTES) {
		int64_t left = n - at;
		MPI_Request all;
		MPI_Ibcast((char *)data + at,
			   (int)(left < MOST_BYTES ? left : MOST_BYTES),
			   MPI_BYTE, worker, MPI_COMM_WORLD, &all);
		mpi_wait_all(c->crowded, 1, &all);
	}
}

static int64_t of_all(const ranks *c, int64_t x, MPI_Op op)
{
	int64_t r;
	MPI_Request all;
	MPI_Iallreduce(&x, &r, 1, MPI_INT64_T, op, MPI_COMM_WORLD, &all);
	mpi_wait_all(c->crowded, 1, &all);
	return r;
}

static int64_t sum_ranks(void *state, int64_t x)
{
	return of_all(state, x, MPI_SUM);
}

static int64_t greatest_ranks(void *state, int64_t x)
{
	return of_all(state, x, MPI_MAX);
}

const communicator comm_mpi = {
	.name = "mpi",
	.moves = true,
	.start = start_ranks,
	.end = end_ranks,
	.gather = gather_ranks,
	.open = open_ranks,
	.here = here_ranks,
	.attach = attach_ranks,
	.launch = launch_rank,
	.ready = ready_ranks,
	.move = transfer,
	.combine = transfer,
	.send = send_rank,
	.receive = transfer,
	.barrier = wait_ranks,
	.apart = apart_ranks,
	.share = share_ranks,
	.sum = sum_ranks,
	.greatest = greatest_ranks,
	.watch = watch_ranks,
	.received = received_ranks,
	.close = close_ranks,
};

/* Workers as processes, one rank of Open MPI each.
 *
 * For a transfer every rank packs the pieces that its peers receive out of its
 * own buffer, and copies or combines what it receives in the order that
 * plan_pieces() gives, not by the library's reductions: so the results are
 * those of the threads, bit for bit.  A collective runs on the communicator of
 * the mesh axes that it goes along; halos and gathers by pieces are messages
 * between those that have something to send.  Transfers proceed while workers
 * compute, from the time their source is computed until their target is
 * needed. */
#include "config.h"

#include "runtime/exec/communicator.h"

#include <limits.h>
#include <mpi.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "kernel/eval.h"
#include "layout/runs.h"
#include "runtime/comm/mpi_heartbeat.h"
#include "runtime/comm/prefetch.h"

/* The most bytes of one message: MPI counts by int. */
enum { MOST_BYTES = 1 << 30 };

/* A piece, without the dimensions that a box has room for. */
typedef struct part {
	int instr; /* of its transfer */
	int peer; /* the worker that it comes from, or goes to */
	bool add, zeros; /* of piece */
	int64_t at, nbytes; /* in the staging memory */
	int64_t *lo, *hi;
} part;

typedef VEC(part) parts;

/* The data sent to one peer, or received from it, in the staging memory. */
typedef struct parcel {
	int peer;
	int64_t at, nbytes;
} parcel;

typedef struct parcels {
	int n;
	parcel *of; /* by ascending peer */
	int64_t nbytes;
} parcels;

/* A transfer as this rank sees it; of those of a bucket that are of one kind,
 * all of them, and the others have nothing to do. */
typedef struct exchange {
	MPI_Comm group; /* MPI_COMM_NULL: messages */
	parts sent;	/* by ascending peer, for each as it unpacks them */
	parts received; /* in the order of addition; this rank's own, too */
	parcels to, from;
	int *counts; /* of the group's ranks: sent, where, received, where */
	bool leads;  /* it is the first of its phase of a bucket, or alone */
	bool local;  /* no worker receives anything from another */
	int64_t total; /* bytes received, so far */
	char *outbox, *inbox;
	VEC(MPI_Request) requests; /* while it goes on */
} exchange;

/* The communicator of those that differ on some axes of the mesh only. */
typedef struct group {
	uint32_t axes;
	MPI_Comm comm;
} group;

typedef struct ranks {
	arena *a;
	mpi_heartbeat *mpi_heartbeat;
	const plan_pipeline *all;
	const plan *p;
	int rank;
	unsigned char *arena;
	exchange *exchanges; /* by instruction */
	VEC(group) groups;
	prefetch schedule;
	int at; /* all events before this instruction are done */
	char *staging;
} ranks;

/* ---- groups ------------------------------------------------------------ */

/* All ranks ask for the same groups in the same order. */
static MPI_Comm group_of(ranks *c, uint32_t axes)
{
	const mesh *m = &c->p->mesh;
	group g = { .axes = axes };
	for (int i = 0; i < c->groups.n; i++)
		if (c->groups.at[i].axes == axes)
			return c->groups.at[i].comm;
	MPI_Comm_split(MPI_COMM_WORLD, mesh_number_on(m, ~axes, c->rank),
		       mesh_number_on(m, axes, c->rank), &g.comm);
	vec_push(c->a, &c->groups, g);
	return g.comm;
}

/* ---- exchanges --------------------------------------------------------- */

static void note_part(ranks *c, parts *to, int instr, const piece *q, int peer)
{
	const plan *p = c->p;
	const plan_buffer *b = &p->buffers[p->program[instr].to];
	int64_t size = (int64_t)dtype_size(p->tensors[b->tensor].type);
	part x = { .instr = instr,
		   .peer = peer,
		   .add = q->add,
		   .zeros = q->zeros,
		   .nbytes = box_volume(&q->at) * size,
		   .lo = ARENA_COPY(c->a, q->at.lo, q->at.n),
		   .hi = ARENA_COPY(c->a, q->at.hi, q->at.n) };
	vec_push(c->a, to, x);
}

/* Data for one peer lie together, in the order of the parts. */
static void note_parcels(ranks *c, parts *all, parcels *to)
{
	int nranks = mesh_workers(&c->p->mesh);
	to->of = ARENA_ARRAY(c->a, parcel, all->n);
	for (int peer = 0; peer < nranks && all->n > 0; peer++) {
		parcel x = { peer, to->nbytes, 0 };
		for (int i = 0; i < all->n; i++) {
			part *y = &all->at[i];
			if (y->peer != peer || peer == c->rank)
				continue;
			y->at = x.at + x.nbytes;
			x.nbytes += y->nbytes;
		}
		if (x.nbytes == 0)
			continue;
		to->of[to->n++] = x;
		to->nbytes += x.nbytes;
	}
}

/* Counts and places for a collective; false where an int does not hold them. */
static bool note_counts(ranks *c, exchange *x, uint32_t axes, int n)
{
	const parcels *side[] = { &x->to, &x->from };
	x->counts = ARENA_ARRAY(c->a, int, 4 * n);
	for (int s = 0; s < 2; s++) {
		if (side[s]->nbytes > INT_MAX)
			return false;
		for (int i = 0; i < side[s]->n; i++) {
			const parcel *q = &side[s]->of[i];
			int r = mesh_number_on(&c->p->mesh, axes, q->peer);
			x->counts[2 * s * n + r] = (int)q->nbytes;
			x->counts[(2 * s + 1) * n + r] = (int)q->at;
		}
	}
	return true;
}

static bool is_collective(collective kind)
{
	return kind == COLL_ALL_GATHER || kind == COLL_ALL_TO_ALL ||
	       kind == COLL_REDUCE_SCATTER;
}

/* Notes the parts that a worker receives, if it is this rank, or from this
 * rank.  Returns the axes along which they move. */
static uint32_t note_worker(ranks *c, int instr, int worker, exchange *x)
{
	arena *work = arena_new();
	uint32_t axes = 0;
	piece *q;
	int n = plan_pieces(work, c->p, &c->p->program[instr], worker, &q);
	for (int i = 0; i < n; i++) {
		axes |= mesh_axes_between(&c->p->mesh, worker, q[i].peer);
		if (worker == c->rank)
			note_part(c, &x->received, instr, &q[i], q[i].peer);
		else if (q[i].peer == c->rank)
			note_part(c, &x->sent, instr, &q[i], worker);
	}
	arena_free(work);
	return axes;
}

/* Looks at the parts that every worker receives; the choice is the same on all
 * ranks.  A collective is used if all members of a group exchange something
 * with all others: the non-blocking ones of Open MPI have been seen to hang if
 * some counts are 0. */
static void note_exchange(ranks *c, int begin, int end, exchange *x)
{
	const plan_instr *in = &c->p->program[begin];
	const mesh *m = &c->p->mesh;
	uint32_t axes = 0;
	for (int i = begin; i < end; i++)
		for (int w = 0; w < mesh_workers(m); w++)
			axes |= note_worker(c, i, w, x);
	x->leads = true;
	x->local = axes == 0;
	note_parcels(c, &x->sent, &x->to);
	note_parcels(c, &x->received, &x->from);
	x->group = MPI_COMM_NULL;
	if (is_collective(in->collective) && !x->local) {
		MPI_Comm g = group_of(c, axes);
		int n, fits, all;
		MPI_Comm_size(g, &n);
		fits = note_counts(c, x, axes, n) &&
		       x->to.n == n - 1 && x->from.n == n - 1;
		MPI_Allreduce(&fits, &all, 1, MPI_INT, MPI_MIN,
			      MPI_COMM_WORLD);
		x->group = all ? g : MPI_COMM_NULL;
	}
}

/* ---- opening ----------------------------------------------------------- */

static bool start_ranks(const comm_options *o, void **run, int *rank,
			failure *f)
{
	int level;
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

/* A failure of all ranks is reported by the first only: it ends the others
 * while they wait.  A rank that has failed alone reports a little later. */
static void end_ranks(void *run, cli_status status)
{
	int n;
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	/* mpirun, or Slurm, ends the others when one leaves like that, and
	 * has its status; MPI_Abort() makes some mpiruns hang. */
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

static void *open_ranks(void *run, const plan_pipeline *all, failure *f)
{
	const plan *p = &all->stages[0];
	int n, workers = pipeline_first(all, all->nstages);
	if (!pipeline_is_plan(all)) {
		fail_with(f, CLI_INPUT, "the plan has stages, which --comm mpi "
			  "does not run; --comm threads does");
		return NULL;
	}
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
	*c = (ranks){ .a = a, .mpi_heartbeat = run, .all = all, .p = p,
		      .at = -1 };
	MPI_Comm_rank(MPI_COMM_WORLD, &c->rank);
	return c;
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

/* The bytes of the rank that needs the most, so that all have one schedule. */
static int64_t *staging_bytes(ranks *c)
{
	int n = c->p->ninstrs;
	int64_t *nbytes = ARENA_ARRAY(c->a, int64_t, n);
	for (int i = 0; i < n; i++) {
		const exchange *x = &c->exchanges[i];
		nbytes[i] = x->leads && !x->local
				    ? x->to.nbytes + x->from.nbytes
				    : -1;
	}
	MPI_Allreduce(MPI_IN_PLACE, nbytes, n, MPI_INT64_T, MPI_MAX,
		      MPI_COMM_WORLD);
	return nbytes;
}

static void attach_ranks(void *state, unsigned char *const *arenas)
{
	ranks *c = state;
	c->arena = arenas[c->rank];
	c->exchanges = ARENA_ARRAY(c->a, exchange, c->p->ninstrs);
	for (int i = 0, end; i < c->p->ninstrs; i = end) {
		end = plan_phase_end(c->p, i);
		if (plan_moves(&c->p->program[i]))
			note_exchange(c, i, end, &c->exchanges[i]);
	}
	c->schedule = prefetch_of(c->a, c->p, staging_bytes(c));
	c->staging = arena_alloc(c->a, (size_t)c->schedule.nbytes + 1);
	for (int i = 0; i < c->p->ninstrs; i++) {
		exchange *x = &c->exchanges[i];
		x->outbox = c->staging + c->schedule.at[i];
		x->inbox = x->outbox + x->to.nbytes;
	}
}

static void close_ranks(void *state)
{
	ranks *c = state;
	mpi_heartbeat_watch(c->mpi_heartbeat, NULL, NULL);
	for (int i = 0; i < c->groups.n; i++)
		MPI_Comm_free(&c->groups.at[i].comm);
	arena_free(c->a);
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

static unsigned char *place(const ranks *c, int buffer)
{
	return c->arena + c->p->buffers[buffer].offset;
}

/* Copies a part for a peer to the outbox. */
static void pack(const ranks *c, const exchange *of, const part *x)
{
	const plan_instr *in = &c->p->program[x->instr];
	const plan_tensor *t = tensor_of(c, in);
	size_t size = dtype_size(t->type);
	region mine = plan_region(c->p, in->from, c->rank);
	const unsigned char *from = place(c, in->from);
	char *to = of->outbox + x->at;
	box b = part_box(x, t->ndim);
	region packed = dense(&b);
	runs r = runs_of(&b, &packed, &mine);
	while (runs_next(&r))
		memcpy(to + (size_t)r.dst * size, from + (size_t)r.src * size,
		       (size_t)r.n * size);
}

/* Copies a part to where it belongs, or combines it with what is there: this
 * rank's own out of its buffer, another's out of the inbox; or makes it
 * zeros. */
static void unpack(const ranks *c, const exchange *of, const part *x)
{
	const plan_instr *in = &c->p->program[x->instr];
	const plan_tensor *t = tensor_of(c, in);
	int64_t size = (int64_t)dtype_size(t->type);
	bool own = x->peer == c->rank;
	box b = part_box(x, t->ndim);
	region dst = plan_region(c->p, in->to, c->rank);
	region src = x->zeros ? dst
		     : own    ? plan_region(c->p, in->from, c->rank)
			      : dense(&b);
	unsigned char *to = place(c, in->to);
	const unsigned char *from = own ? place(c, in->from)
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

/* Starts the messages to, or from, all peers; long ones go in pieces. */
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
				MPI_Isend(data, n, MPI_BYTE, q->peer, 0,
					  MPI_COMM_WORLD, &r);
			else
				MPI_Irecv(data, n, MPI_BYTE, q->peer, 0,
					  MPI_COMM_WORLD, &r);
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

static void end(ranks *c, int instr)
{
	exchange *x = &c->exchanges[instr];
	mpi_heartbeat_wait(c->mpi_heartbeat, instr,
			   x->to.nbytes + x->from.nbytes);
	MPI_Waitall(x->requests.n, x->requests.at, MPI_STATUSES_IGNORE);
	mpi_heartbeat_go_on(c->mpi_heartbeat);
	x->requests.n = 0;
	x->total += x->from.nbytes;
	unpack_all(c, instr);
}

/* Open MPI makes progress mostly while it is called. */
static void go_on(void)
{
	int found;
	MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &found,
		   MPI_STATUS_IGNORE);
}

static bool ready_ranks(void *state, int instr, int worker)
{
	ranks *c = state;
	const prefetch *s = &c->schedule;
	(void)worker;
	for (int i = s->first[instr]; i < s->first[instr + 1]; i++)
		if (s->events[i].begins)
			begin(c, s->events[i].instr);
		else
			end(c, s->events[i].instr);
	c->at = instr;
	go_on();
	return true;
}

/* The schedule does the exchanges; parts that stay on the worker are copied
 * here. */
static bool transfer(void *state, int instr, int worker)
{
	ranks *c = state;
	(void)worker;
	if (c->exchanges[instr].local)
		unpack_all(c, instr);
	return true;
}

/* Transfers still in progress when the program has ended end here. */
static bool wait_ranks(void *state, int worker)
{
	ranks *c = state;
	if (c->exchanges && c->at == c->p->ninstrs - 1)
		ready_ranks(c, c->p->ninstrs, worker);
	mpi_heartbeat_wait(c->mpi_heartbeat, -1, 0);
	MPI_Barrier(MPI_COMM_WORLD);
	mpi_heartbeat_go_on(c->mpi_heartbeat);
	return true;
}

/* The progress of devices is not monitored. */
static double watch_ranks(void *state, const comm_progress *x)
{
	ranks *c = state;
	mpi_heartbeat_watch(c->mpi_heartbeat, c->all, x);
	return 0;
}

static int64_t received_ranks(void *state, int stage, int instr)
{
	(void)stage;
	return ((ranks *)state)->exchanges[instr].total;
}

static void share_ranks(void *state, int worker, void *data, int64_t n)
{
	(void)state;
	for (int64_t at = 0; at < n; at += MOST_BYTES) {
		int64_t left = n - at;
		MPI_Bcast((char *)data + at,
			  (int)(left < MOST_BYTES ? left : MOST_BYTES),
			  MPI_BYTE, worker, MPI_COMM_WORLD);
	}
}

static int64_t of_all(int64_t x, MPI_Op op)
{
	int64_t r;
	MPI_Allreduce(&x, &r, 1, MPI_INT64_T, op, MPI_COMM_WORLD);
	return r;
}

static int64_t sum_ranks(void *state, int64_t x)
{
	(void)state;
	return of_all(x, MPI_SUM);
}

static int64_t greatest_ranks(void *state, int64_t x)
{
	(void)state;
	return of_all(x, MPI_MAX);
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
	.barrier = wait_ranks,
	.share = share_ranks,
	.sum = sum_ranks,
	.greatest = greatest_ranks,
	.watch = watch_ranks,
	.received = received_ranks,
	.close = close_ranks,
};

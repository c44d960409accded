#include "config.h"

#include "runtime/comm/mpi_exchange.h"
#include "runtime/comm/mpi_wait.h"

#include <limits.h>

/* ---- groups ------------------------------------------------------------ */

/* The communicator of a group.  All ranks of a stage ask for the same groups in
 * the same order. */
static MPI_Comm group_of(ranks *c, uint32_t axes)
{
	const mesh *m = &c->p->mesh;
	group g = { .axes = axes };
	for (int i = 0; i < c->groups.n; i++)
		if (c->groups.at[i].axes == axes)
			return c->groups.at[i].comm;
	MPI_Comm_split(c->members, mesh_number_on(m, ~axes, c->number),
		       mesh_number_on(m, axes, c->number), &g.comm);
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

/* Notes where the data for each peer are: together, in the order of the parts.
 * Peers are [first, end); `own' is this rank. */
static void note_parcels(ranks *c, parts *all, int first, int end, int own,
			 parcels *to)
{
	to->of = ARENA_ARRAY(c->a, parcel, all->n);
	for (int peer = first; peer < end && all->n > 0; peer++) {
		parcel x = { peer, to->nbytes, 0 };
		for (int i = 0; i < all->n; i++) {
			part *y = &all->at[i];
			if (y->peer != peer || peer == own)
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

/* Sets counts and places for a collective.  Returns false if an int cannot hold
 * them. */
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

/* Notes the parts that a worker of the stage receives, if this rank receives or
 * sends them.  Returns the axes along which they move. */
static uint32_t note_worker(ranks *c, int instr, int worker, exchange *x)
{
	arena *work = arena_new();
	uint32_t axes = 0;
	piece *q;
	int n = plan_pieces(work, c->p, &c->p->program[instr], worker, &q);
	for (int i = 0; i < n; i++) {
		axes |= mesh_axes_between(&c->p->mesh, worker, q[i].peer);
		if (worker == c->number)
			note_part(c, &x->received, instr, &q[i], q[i].peer);
		else if (q[i].peer == c->number)
			note_part(c, &x->sent, instr, &q[i], worker);
	}
	arena_free(work);
	return axes;
}

/* Notes an exchange, from the parts that every worker receives.  It has a group
 * if a collective may do it on this rank. */
static void note_exchange(ranks *c, int begin, int end, exchange *x)
{
	const plan_instr *in = &c->p->program[begin];
	const mesh *m = &c->p->mesh;
	uint32_t axes = 0;
	for (int i = begin; i < end; i++)
		for (int w = 0; w < mesh_workers(m); w++)
			axes |= note_worker(c, i, w, x);
	int workers = mesh_workers(m);
	x->leads = true;
	x->local = axes == 0;
	x->ranks = c->members;
	note_parcels(c, &x->sent, 0, workers, c->number, &x->to);
	note_parcels(c, &x->received, 0, workers, c->number, &x->from);
	x->group = MPI_COMM_NULL;
	if (is_collective(in->collective) && !x->local) {
		MPI_Comm g = group_of(c, axes);
		int n;
		MPI_Comm_size(g, &n);
		if (note_counts(c, x, axes, n) &&
		    x->to.n == n - 1 && x->from.n == n - 1)
			x->group = g;
	}
}

/* ---- messages between stages ------------------------------------------- */

/* Notes the parts of a message that worker `worker' of the receiving stage
 * takes, if this rank is the worker or sends them. */
static void note_taken(ranks *c, int instr, int worker, exchange *x)
{
	const plan_instr *in = &c->p->program[instr];
	const plan_channel *of = &c->all->channels[in->channel];
	int from = pipeline_first(c->all, of->from);
	int to = pipeline_first(c->all, of->to);
	arena *work = arena_new();
	piece *q;
	int n = pipeline_pieces(work, c->all, in->channel, in->turn, worker,
				&q);
	for (int i = 0; i < n; i++)
		if (in->op == PLAN_RECEIVE)
			note_part(c, &x->received, instr, &q[i],
				  from + q[i].peer);
		else if (q[i].peer == c->number)
			note_part(c, &x->sent, instr, &q[i], to + worker);
	arena_free(work);
}

static void note_message(ranks *c, int instr, exchange *x)
{
	const plan_instr *in = &c->p->program[instr];
	const plan_channel *of = &c->all->channels[in->channel];
	bool sends = in->op == PLAN_SEND;
	int other = sends ? of->to : of->from;
	int n = mesh_workers(&c->all->stages[other].mesh);
	int first = pipeline_first(c->all, other);
	x->leads = true;
	x->group = MPI_COMM_NULL;
	x->ranks = c->messages;
	x->tag = in->channel;
	for (int w = 0; w < n && sends; w++)
		note_taken(c, instr, w, x);
	if (!sends)
		note_taken(c, instr, c->number, x);
	note_parcels(c, &x->sent, first, first + n, -1, &x->to);
	note_parcels(c, &x->received, first, first + n, -1, &x->from);
}

/* The outbox for a place that a channel sends from. */
static place *place_for(ranks *c, int instr)
{
	const plan_instr *in = &c->p->program[instr];
	int64_t at = c->p->buffers[in->from].offset;
	places *of = &c->places[in->channel];
	for (int i = 0; i < of->n; i++)
		if (of->at[i]->offset == at)
			return of->at[i];
	place *new = ARENA_NEW(c->a, place);
	*new = (place){ .offset = at, .sent = -1 };
	vec_push(c->a, of, new);
	return new;
}

static void open_outboxes(ranks *c)
{
	c->places = ARENA_ARRAY(c->a, places, c->all->nchannels);
	for (int i = 0; i < c->p->ninstrs; i++) {
		exchange *x = &c->exchanges[i];
		if (c->p->program[i].op != PLAN_SEND)
			continue;
		x->place = place_for(c, i);
		if (x->to.nbytes > x->place->nbytes)
			x->place->nbytes = x->to.nbytes;
	}
	for (int i = 0; i < c->all->nchannels; i++)
		for (int k = 0; k < c->places[i].n; k++) {
			place *to = c->places[i].at[k];
			to->memory = arena_alloc(c->a, (size_t)to->nbytes + 1);
		}
}

/* ---- all of them ------------------------------------------------------- */

static void reduce_members(ranks *c, void *all, int n, MPI_Datatype type,
			   MPI_Op op)
{
	MPI_Request r;
	MPI_Iallreduce(MPI_IN_PLACE, all, n, type, op, c->members, &r);
	mpi_wait_all(c->crowded, 1, &r);
}

/* A collective does an exchange if it may on all ranks, which then do the same.
 * It may if all members of a group exchange something with all others, because
 * Open MPI's non-blocking collectives have been seen to hang if some counts are
 * 0. */
static void agree_on_groups(ranks *c)
{
	int n = c->p->ninstrs;
	int *may = ARENA_ARRAY(c->a, int, n);
	for (int i = 0; i < n; i++)
		may[i] = c->exchanges[i].leads &&
			 c->exchanges[i].group != MPI_COMM_NULL;
	reduce_members(c, may, n, MPI_INT, MPI_MIN);
	for (int i = 0; i < n; i++)
		if (!may[i])
			c->exchanges[i].group = MPI_COMM_NULL;
}

/* The staging bytes, those of the rank that needs most, so that all ranks of a
 * stage have the same schedule.  Messages are sent when their turn comes. */
static int64_t *staging_bytes(ranks *c)
{
	int n = c->p->ninstrs;
	int64_t *nbytes = ARENA_ARRAY(c->a, int64_t, n);
	for (int i = 0; i < n; i++) {
		const exchange *x = &c->exchanges[i];
		nbytes[i] = x->leads && !x->local && !x->place
				    ? x->to.nbytes + x->from.nbytes
				    : -1;
	}
	reduce_members(c, nbytes, n, MPI_INT64_T, MPI_MAX);
	return nbytes;
}

void exchanges_open(ranks *c)
{
	c->exchanges = ARENA_ARRAY(c->a, exchange, c->p->ninstrs);
	for (int i = 0, end; i < c->p->ninstrs; i = end) {
		const plan_instr *in = &c->p->program[i];
		end = plan_phase_end(c->p, i);
		if (plan_moves(in))
			note_exchange(c, i, end, &c->exchanges[i]);
		else if (plan_is_message(in))
			note_message(c, i, &c->exchanges[i]);
	}
	agree_on_groups(c);
	open_outboxes(c);
	c->schedule = prefetch_of(c->a, c->p, staging_bytes(c));
	c->staging = arena_alloc(c->a, (size_t)c->schedule.nbytes + 1);
	for (int i = 0; i < c->p->ninstrs; i++) {
		exchange *x = &c->exchanges[i];
		x->outbox = x->place ? x->place->memory
				     : c->staging + c->schedule.at[i];
		x->inbox = x->outbox + x->to.nbytes;
	}
}

/* Workers on the GPUs of one process.  A receiver copies or combines directly
 * from the others' arenas.  On one GPU the order of its queue makes that
 * correct.  With several GPUs each has a queue for transfers.  Before a
 * transfer the queues of the stage wait for each other, because it may read
 * what another has written and write what another has read.  Messages from
 * other stages are fetched by the receivers on separate queues.  Queues wait
 * for each other where the schedule says so, on all GPUs of the stages. */
#include "config.h"

#include "runtime/cuda/link.h"

#include <sched.h>
#include <string.h>

#include "plan/streams.h"
#include "runtime/cuda/pack.h"

/* The phases of a bucket: first everything except moves that spread what the
 * same bucket combines, then these.  Each is a list per GPU. */
enum { PHASES = 2 };

typedef struct bucket {
	bool within; /* within workers, on the queues of their kernels */
	pack_list **lists[PHASES]; /* by GPU */
} bucket;

/* The transfers of a stage. */
typedef struct local_stage {
	const cuda_stage *s;
	const plan *p;
	bucket *buckets; /* by first instruction */
	pack_list ***messages; /* by instruction, a RECEIVE, and GPU */
	int64_t *received; /* by instruction */
} local_stage;

typedef struct local {
	arena *a;
	cuda *c;
	local_stage *stages; /* by part */
	packer *packer;
	CUevent *came;	   /* by GPU */
} local;

/* ---- opening ----------------------------------------------------------- */

/* The block of a worker, which is numbered in its stage. */
static pack_block block_of(const local *l, const local_stage *s, int buffer,
			   int worker)
{
	return (pack_block){ cuda_place(l->c, s->s->first + worker, buffer),
			     plan_region(s->p, buffer, worker) };
}

static int64_t volume_bytes(const box *at, dtype t)
{
	return box_volume(at) * (int64_t)dtype_size(t);
}

static dtype type_of(const plan *p, int instr)
{
	return p->tensors[p->buffers[p->program[instr].to].tensor].type;
}

/* Adds a combination.  The worker gets the same boxes from each sharer, one
 * sharer after the other; those of the first come without `add'. */
static void add_combine(local *l, const local_stage *s, pack_list *to,
			int instr, int worker, const piece *pieces, int n)
{
	const plan_instr *in = &s->p->program[instr];
	dtype t = type_of(s->p, instr);
	reducer r = plan_partial(s->p, in->node);
	arena *work = arena_new();
	pack_block dst = block_of(l, s, in->to, worker);
	int nboxes = 0, nsharers;
	while (nboxes < n && !pieces[nboxes].add)
		nboxes++;
	nsharers = nboxes ? n / nboxes : 0;
	pack_block *from = ARENA_ARRAY(work, pack_block, nsharers);
	for (int i = 0; i < nboxes; i++) {
		for (int k = 0; k < nsharers; k++)
			from[k] = block_of(l, s, in->from,
					   pieces[k * nboxes + i].peer);
		pack_combine(to, t, r, &pieces[i].at, &dst, nsharers, from);
	}
	arena_free(work);
}

/* Adds copies of pieces from buffer `from' of a stage's workers. */
static void add_copies(local *l, const local_stage *s, pack_list *to, dtype t,
		       int from, const pack_block *dst, const piece *pieces,
		       int n)
{
	for (int i = 0; i < n; i++) {
		pack_block src = block_of(l, s, from, pieces[i].peer);
		if (pieces[i].zeros)
			pack_zeros(to, t, &pieces[i].at, dst);
		else
			pack_copy(to, t, &pieces[i].at, dst, &src);
	}
}

/* Adds a transfer.  All workers are in this process, with the plan's
 * numbers. */
static void add_transfer(local *l, local_stage *s, pack_list **lists, int instr)
{
	const plan_instr *in = &s->p->program[instr];
	dtype t = type_of(s->p, instr);
	for (int w = 0; w < s->s->nworkers; w++) {
		arena *work = arena_new();
		pack_list *to = lists[cuda_gpu_of(l->c, s->s->first + w)];
		pack_block dst = block_of(l, s, in->to, w);
		piece *pieces;
		int n = plan_pieces(work, s->p, in, w, &pieces);
		for (int i = 0; i < n; i++)
			if (pieces[i].peer != w)
				s->received[instr] +=
					volume_bytes(&pieces[i].at, t);
		if (in->op == PLAN_COMBINE)
			add_combine(l, s, to, instr, w, pieces, n);
		else
			add_copies(l, s, to, t, in->from, &dst, pieces, n);
		arena_free(work);
	}
}

static pack_list **lists_new(local *l)
{
	pack_list **lists = ARENA_ARRAY(l->a, pack_list *, l->c->ngpus);
	for (int g = 0; g < l->c->ngpus; g++)
		lists[g] = pack_new(l->packer, g);
	return lists;
}

static void add_bucket(local *l, local_stage *s, const stream_step *t)
{
	bucket *b = &s->buckets[t->instrs[0]];
	b->within = l->c->ngpus == 1 || t->on == STREAM_COMPUTE;
	for (int phase = 0; phase < PHASES; phase++)
		b->lists[phase] = lists_new(l);
	for (int i = 0; i < t->ninstrs; i++) {
		int instr = t->instrs[i];
		bool spreads = stream_combined(s->p, instr) >= 0;
		add_transfer(l, s, b->lists[spreads], instr);
	}
}

/* Adds the copies of a message's pieces; receivers fetch them. */
static void add_message(local *l, const link_message *m)
{
	const plan_channel *c = &l->c->p->channels[m->channel];
	const local_stage *from = &l->stages[c->from];
	local_stage *s = &l->stages[c->to];
	const plan_instr *in = &s->p->program[m->receive];
	int source = from->p->program[m->send].from;
	dtype t = type_of(s->p, m->receive);
	pack_list **lists = lists_new(l);
	for (int w = 0; w < s->s->nworkers; w++) {
		arena *work = arena_new();
		pack_list *to = lists[cuda_gpu_of(l->c, s->s->first + w)];
		pack_block dst = block_of(l, s, in->to, w);
		piece *pieces;
		int n = pipeline_pieces(work, l->c->p, m->channel, in->turn, w,
					&pieces);
		for (int i = 0; i < n; i++)
			s->received[m->receive] +=
				volume_bytes(&pieces[i].at, t);
		add_copies(l, from, to, t, source, &dst, pieces, n);
		arena_free(work);
	}
	s->messages[m->receive] = lists;
}

/* Adds a stage; all stages are in this process. */
static void add_stage(local *l, int part)
{
	local_stage *s = &l->stages[part];
	const stream_schedule *all = &l->c->parts[part].schedule;
	*s = (local_stage){ .s = &l->c->parts[part], .p = l->c->parts[part].p };
	s->buckets = ARENA_ARRAY(l->a, bucket, s->p->ninstrs);
	s->messages = ARENA_ARRAY(l->a, pack_list **, s->p->ninstrs);
	s->received = ARENA_ARRAY(l->a, int64_t, s->p->ninstrs);
	for (int i = 0; i < all->nsteps; i++)
		if (plan_moves(&s->p->program[all->steps[i].instrs[0]]))
			add_bucket(l, s, &all->steps[i]);
}

static bool open_events(local *l, failure *f)
{
	for (int g = 0; g < l->c->ngpus; g++)
		if (!cuda_enter(l->c, g, f) ||
		    !CUDA_CALL(&l->c->api, f, cuEventCreate, &l->came[g],
			       CU_EVENT_DISABLE_TIMING))
			return false;
	return true;
}

static void close_local(void *state)
{
	local *l = state;
	failure ignored = { 0 };
	for (int g = 0; g < l->c->ngpus; g++)
		if (l->came[g] && cuda_enter(l->c, g, &ignored))
			l->c->api.cuEventDestroy(l->came[g]);
	if (l->packer)
		pack_close(l->packer);
	arena_free(l->a);
}

static void *open_local(cuda *c, const communicator *comm, void *link,
			failure *f)
{
	arena *a = arena_new();
	local *l = ARENA_NEW(a, local);
	(void)comm;
	(void)link;
	*l = (local){ .a = a, .c = c };
	l->stages = ARENA_ARRAY(a, local_stage, c->nparts);
	l->came = ARENA_ARRAY(a, CUevent, c->ngpus);
	l->packer = pack_open(c, true, f);
	for (int i = 0; l->packer && i < c->nparts; i++)
		add_stage(l, i);
	for (int i = 0; l->packer && i < c->order.nmessages; i++)
		add_message(l, &c->order.messages[i]);
	if (l->packer && pack_upload(l->packer, f) && open_events(l, f))
		return l;
	close_local(l);
	return NULL;
}

/* ---- running ----------------------------------------------------------- */

/* Makes those queues of a stage that have something to do wait until all of
 * them have come here. */
static bool meet(const local *l, const cuda_stage *s, pack_list *const *lists,
		 failure *f)
{
	const cuda *c = l->c;
	for (int g = 0; g < c->ngpus; g++)
		if (cuda_is_on(c, s, g) &&
		    (!cuda_enter(c, g, f) ||
		     !CUDA_CALL(&c->api, f, cuEventRecord, l->came[g],
				c->gpus[g].comm)))
			return false;
	for (int g = 0; g < c->ngpus; g++) {
		if (!cuda_enter(c, g, f))
			return false;
		for (int h = 0; h < c->ngpus; h++)
			if (h != g && cuda_is_on(c, s, h) &&
			    !pack_is_empty(lists[g]) &&
			    !CUDA_CALL(&c->api, f, cuStreamWaitEvent,
				       c->gpus[g].comm, l->came[h], 0))
				return false;
	}
	return true;
}

static bool run_lists(const local *l, const cuda_stage *s, bool within,
		      pack_list *const *lists, failure *f)
{
	bool some = false;
	for (int g = 0; g < l->c->ngpus; g++)
		some |= !pack_is_empty(lists[g]);
	if (!some)
		return true;
	if (!within && !meet(l, s, lists, f))
		return false;
	for (int g = 0; g < l->c->ngpus; g++) {
		const cuda_gpu *gpu = &l->c->gpus[g];
		if (!cuda_enter(l->c, g, f) ||
		    !pack_run(l->packer, lists[g],
			      within ? gpu->compute : gpu->comm, f))
			return false;
	}
	return true;
}

static bool transfer_local(void *state, int part, const int *instrs, int n,
			   CUstream s, failure *f)
{
	const local *l = state;
	const local_stage *of = &l->stages[part];
	const bucket *b = &of->buckets[instrs[0]];
	(void)n;
	(void)s;
	for (int phase = 0; phase < PHASES; phase++)
		if (!run_lists(l, of->s, b->within, b->lists[phase], f))
			return false;
	return true;
}

static bool message_local(void *state, int part, int instr, int link,
			  failure *f)
{
	const local *l = state;
	pack_list *const *lists = l->stages[part].messages[instr];
	for (int g = 0; g < l->c->ngpus; g++) {
		const cuda_gpu *gpu = &l->c->gpus[g];
		CUstream s = l->c->ngpus > 1 ? gpu->messages[link]
					     : gpu->compute;
		if (!pack_is_empty(lists[g]) &&
		    (!cuda_enter(l->c, g, f) ||
		     !pack_run(l->packer, lists[g], s, f)))
			return false;
	}
	return true;
}

/* Whether a GPU's queues are done. */
static CUresult query(const cuda *c, int gpu)
{
	const cuda_gpu *g = &c->gpus[gpu];
	CUresult r = c->api.cuStreamQuery(g->compute);
	if (r == CUDA_SUCCESS)
		r = c->api.cuStreamQuery(g->comm);
	for (int l = 0; r == CUDA_SUCCESS && l < c->order.nlinks; l++)
		if (g->messages[l])
			r = c->api.cuStreamQuery(g->messages[l]);
	return r;
}

/* Waits for the GPUs.  All are asked, because one that has failed may not let
 * the others' queues go on. */
static bool wait_local(void *state, CUstream s, failure *f)
{
	const local *l = state;
	const cuda *c = l->c;
	CUresult r = CUDA_ERROR_NOT_READY;
	if (c->ngpus == 1)
		return CUDA_CALL(&c->api, f, cuStreamSynchronize, s);
	while (r == CUDA_ERROR_NOT_READY) {
		sched_yield();
		r = CUDA_SUCCESS;
		for (int g = 0; g < c->ngpus && r == CUDA_SUCCESS; g++) {
			if (!cuda_enter(c, g, f))
				return false;
			r = query(c, g);
		}
	}
	return cuda_good(&c->api, r, "cuStreamQuery", f);
}

static int64_t received_local(void *state, int part, int instr)
{
	return ((local *)state)->stages[part].received[instr];
}

const cuda_link link_local = {
	.open = open_local,
	.transfer = transfer_local,
	.message = message_local,
	.wait = wait_local,
	.received = received_local,
	.close = close_local,
};

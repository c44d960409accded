/* Workers on GPUs of one process: who receives copies, or combines, straight
 * out of the others' arenas.  On one GPU the order of its queue makes that
 * right.  On several each has a queue for transfers, and before a transfer
 * these wait for each other: it may read what another has written, and write
 * what another has read.  Kernels and transfers wait for each other where the
 * schedule says so, on all GPUs. */
#include "config.h"

#include "runtime/cuda/link.h"

#include <sched.h>
#include <string.h>

#include "plan/streams.h"
#include "runtime/cuda/pack.h"

/* A bucket: first all but the moves that spread what the same bucket combines,
 * then these; each a list per GPU. */
enum { PHASES = 2 };

typedef struct bucket {
	bool within; /* workers, on the queues of their kernels */
	pack_list **lists[PHASES]; /* by GPU */
} bucket;

typedef struct local {
	arena *a;
	cuda *c;
	const plan *p;
	packer *packer;
	bucket *buckets;   /* by the first instruction of each */
	int64_t *received; /* by instruction */
	CUevent *came;	   /* by GPU */
} local;

/* ---- opening ----------------------------------------------------------- */

static pack_block block_of(const local *l, int buffer, int worker)
{
	return (pack_block){ cuda_place(l->c, worker, buffer),
			     plan_region(l->p, buffer, worker) };
}

static int64_t volume_bytes(const box *at, dtype t)
{
	return box_volume(at) * (int64_t)dtype_size(t);
}

/* A worker that combines gets the same boxes from each sharer, one sharer after
 * the other: those of the first come without `add`. */
static void add_combine(local *l, pack_list *to, int instr, int worker,
			const piece *pieces, int n)
{
	const plan_instr *in = &l->p->program[instr];
	dtype t = l->p->tensors[l->p->buffers[in->to].tensor].type;
	reducer r = plan_partial(l->p, in->node);
	arena *work = arena_new();
	pack_block dst = block_of(l, in->to, worker);
	int nboxes = 0, nsharers;
	while (nboxes < n && !pieces[nboxes].add)
		nboxes++;
	nsharers = nboxes ? n / nboxes : 0;
	pack_block *from = ARENA_ARRAY(work, pack_block, nsharers);
	for (int i = 0; i < nboxes; i++) {
		for (int s = 0; s < nsharers; s++)
			from[s] = block_of(l, in->from,
					   pieces[s * nboxes + i].peer);
		pack_combine(to, t, r, &pieces[i].at, &dst, nsharers, from);
	}
	arena_free(work);
}

static void add_copies(local *l, pack_list *to, int instr, int worker,
		       const piece *pieces, int n)
{
	const plan_instr *in = &l->p->program[instr];
	dtype t = l->p->tensors[l->p->buffers[in->to].tensor].type;
	pack_block dst = block_of(l, in->to, worker);
	for (int i = 0; i < n; i++) {
		pack_block src = block_of(l, in->from, pieces[i].peer);
		if (pieces[i].zeros)
			pack_zeros(to, t, &pieces[i].at, &dst);
		else
			pack_copy(to, t, &pieces[i].at, &dst, &src);
	}
}

/* All workers are in this process, where they have the plan's numbers. */
static void add_transfer(local *l, pack_list **lists, int instr)
{
	const plan_instr *in = &l->p->program[instr];
	dtype t = l->p->tensors[l->p->buffers[in->to].tensor].type;
	for (int w = 0; w < l->c->nworkers; w++) {
		arena *work = arena_new();
		pack_list *to = lists[cuda_gpu_of(l->c, w)];
		piece *pieces;
		int n = plan_pieces(work, l->p, in, w, &pieces);
		for (int i = 0; i < n; i++)
			if (pieces[i].peer != w)
				l->received[instr] +=
					volume_bytes(&pieces[i].at, t);
		if (in->op == PLAN_COMBINE)
			add_combine(l, to, instr, w, pieces, n);
		else
			add_copies(l, to, instr, w, pieces, n);
		arena_free(work);
	}
}

static void add_bucket(local *l, const stream_step *t)
{
	bucket *b = &l->buckets[t->instrs[0]];
	b->within = l->c->ngpus == 1 || t->on == STREAM_COMPUTE;
	for (int phase = 0; phase < PHASES; phase++) {
		b->lists[phase] = ARENA_ARRAY(l->a, pack_list *, l->c->ngpus);
		for (int g = 0; g < l->c->ngpus; g++)
			b->lists[phase][g] = pack_new(l->packer, g);
	}
	for (int i = 0; i < t->ninstrs; i++) {
		int instr = t->instrs[i];
		bool spreads = stream_combined(l->p, instr) >= 0;
		add_transfer(l, b->lists[spreads], instr);
	}
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

static void *open_local(cuda *c, const plan *p, const communicator *comm,
			void *link, failure *f)
{
	arena *a = arena_new();
	local *l = ARENA_NEW(a, local);
	stream_schedule s = plan_streams(a, p);
	(void)comm;
	(void)link;
	*l = (local){ .a = a, .c = c, .p = p };
	l->buckets = ARENA_ARRAY(a, bucket, p->ninstrs);
	l->received = ARENA_ARRAY(a, int64_t, p->ninstrs);
	l->came = ARENA_ARRAY(a, CUevent, c->ngpus);
	l->packer = pack_open(c, p, f);
	for (int i = 0; l->packer && i < s.nsteps; i++)
		if (plan_moves(&p->program[s.steps[i].instrs[0]]))
			add_bucket(l, &s.steps[i]);
	if (l->packer && pack_upload(l->packer, f) && open_events(l, f))
		return l;
	close_local(l);
	return NULL;
}

/* ---- running ----------------------------------------------------------- */

/* The queues of transfers that have something to do go on when all have come
 * here. */
static bool meet(const local *l, pack_list *const *lists, failure *f)
{
	const cuda *c = l->c;
	for (int g = 0; g < c->ngpus; g++)
		if (!cuda_enter(c, g, f) ||
		    !CUDA_CALL(&c->api, f, cuEventRecord, l->came[g],
			       c->gpus[g].comm))
			return false;
	for (int g = 0; g < c->ngpus; g++) {
		if (!cuda_enter(c, g, f))
			return false;
		for (int h = 0; h < c->ngpus; h++)
			if (h != g && !pack_is_empty(lists[g]) &&
			    !CUDA_CALL(&c->api, f, cuStreamWaitEvent,
				       c->gpus[g].comm, l->came[h], 0))
				return false;
	}
	return true;
}

static bool run_lists(const local *l, bool within, pack_list *const *lists,
		      failure *f)
{
	bool some = false;
	for (int g = 0; g < l->c->ngpus; g++)
		some |= !pack_is_empty(lists[g]);
	if (!some)
		return true;
	if (!within && !meet(l, lists, f))
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

static bool transfer_local(void *state, const int *instrs, int n, CUstream s,
			   failure *f)
{
	const local *l = state;
	const bucket *b = &l->buckets[instrs[0]];
	(void)n;
	(void)s;
	for (int phase = 0; phase < PHASES; phase++)
		if (!run_lists(l, b->within, b->lists[phase], f))
			return false;
	return true;
}

/* A GPU that has failed need not let the others' queues go on, so that all are
 * asked. */
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
			r = c->api.cuStreamQuery(c->gpus[g].compute);
			if (r == CUDA_SUCCESS)
				r = c->api.cuStreamQuery(c->gpus[g].comm);
		}
	}
	return cuda_good(&c->api, r, "cuStreamQuery", f);
}

static int64_t received_local(void *state, int instr)
{
	return ((local *)state)->received[instr];
}

const cuda_link link_local = {
	.open = open_local,
	.transfer = transfer_local,
	.wait = wait_local,
	.received = received_local,
	.close = close_local,
};

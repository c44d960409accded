#include "config.h"

#include "compiler/cost/instr_time.h"

#include "plan/transfer.h"

typedef struct costs {
	const plan *p;
	const topology *t;
	int levels[MAX_AXES]; /* of the axes */
	arena *tmp;	      /* of one instruction */
} costs;

static double region_bytes(const plan *p, int buffer, int worker)
{
	const plan_buffer *b = &p->buffers[buffer];
	region r = plan_region(p, buffer, worker);
	return (double)r.count *
	       (double)dtype_size(p->tensors[b->tensor].type);
}

/* Points of the loops: a derived variable is none. */
static double points(const kernel *k, const box *space)
{
	double n = 1;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind != KVAR_DERIVED)
			n *= (double)(space->hi[v] - space->lo[v]);
	return n;
}

static double run_seconds(const costs *c, const plan_instr *in, int worker)
{
	const plan *p = c->p;
	const kernel *k = p->kernels[p->nodes[in->node].kernel].kernel;
	box space = plan_space(p, in->node, worker);
	double flops = points(k, &space) * (double)kernel_flops_per_point(k);
	double bytes = region_bytes(p, in->to, worker);
	for (int i = 0; i < k->ninputs; i++) {
		box need = kernel_need(k, &space, i);
		bytes += (double)box_volume(&need) *
			 (double)dtype_size(k->inputs[i].type);
	}
	return topology_kernel_seconds(c->t, k->type, flops, bytes);
}

/* Notes the axes on which two workers differ; returns the outermost one's
 * level, -1 for none. */
static int way_between(const costs *c, int v, int w, uint32_t *axes)
{
	int at[MAX_AXES], other[MAX_AXES], level = -1;
	const mesh *m = &c->p->mesh;
	mesh_coords(m, v, at);
	mesh_coords(m, w, other);
	for (int i = m->naxes; i-- > 0;) {
		if (at[i] == other[i])
			continue;
		*axes |= UINT32_C(1) << i;
		level = c->levels[i];
	}
	return level;
}

/* The bytes that a worker receives in a transfer, and the axes along which. */
static topology_move move_of(const costs *c, const plan_instr *in, int worker)
{
	const plan *p = c->p;
	const plan_tensor *x = &p->tensors[p->buffers[in->to].tensor];
	topology_move m = { .ring = in->collective == COLL_ALL_GATHER ||
				    in->collective == COLL_REDUCE_SCATTER };
	uint32_t axes = 0;
	piece *q;
	int n = transfer_pieces(c->tmp, p, in, worker, &q);
	for (int i = 0; i < n; i++) {
		int level = way_between(c, worker, q[i].peer, &axes);
		if (level >= 0)
			m.bytes[level] += (double)box_volume(&q[i].at) *
					  (double)dtype_size(x->type);
	}
	for (int i = 0; i < c->t->nlevels; i++)
		m.peers[i] = 1;
	for (int i = 0; i < p->mesh.naxes; i++)
		if (axes >> i & 1)
			m.peers[c->levels[i]] *= p->mesh.size[i];
	return m;
}

/* The part copied within the worker's own memory is read and written there. */
static double transfer_seconds(const costs *c, const plan_instr *in, int worker)
{
	topology_move m = move_of(c, in, worker);
	double local = region_bytes(c->p, in->to, worker) / c->t->bandwidth;
	return local + topology_move_seconds(c->t, &m);
}

double instr_time(const plan *p, const topology *t, const plan_instr *in,
		  int most)
{
	costs c = { .p = p, .t = t, .tmp = arena_new() };
	int n = mesh_workers(&p->mesh), looked_at = n < most ? n : most;
	double slowest = 0;
	topology_levels(t, &p->mesh, c.levels);
	for (int i = 0; i < looked_at; i++) {
		int64_t last = looked_at > 1 ? looked_at - 1 : 1;
		int w = (int)(i * (int64_t)(n - 1) / last);
		double s = in->op == PLAN_RUN ? run_seconds(&c, in, w)
					      : transfer_seconds(&c, in, w);
		slowest = s > slowest ? s : slowest;
	}
	arena_free(c.tmp);
	return slowest;
}

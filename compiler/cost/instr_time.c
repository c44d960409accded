#include "config.h"

#include "compiler/cost/instr_time.h"

static double region_bytes(const layout *l, const mesh *m, int worker)
{
	region r = layout_region_of(l, m, worker);
	return (double)r.count * (double)dtype_size(l->type);
}

/* The i-th of n workers, of which looked_at are examined. */
static int examined(int i, int n, int looked_at)
{
	int64_t last = looked_at > 1 ? looked_at - 1 : 1;
	return (int)(i * (int64_t)(n - 1) / last);
}

/* ---- kernels ----------------------------------------------------------- */

/* Points of the loops: a derived variable is none. */
static double points(const kernel *k, const box *space)
{
	double n = 1;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind != KVAR_DERIVED)
			n *= (double)(space->hi[v] - space->lo[v]);
	return n;
}

double run_time(const topology *t, const mesh *m, const layout *made,
		const layout *to, int most)
{
	const kernel *k = made->kernel;
	int n = mesh_workers(m), looked_at = n < most ? n : most;
	box whole = layout_space(made);
	double slowest = 0;
	for (int i = 0; i < looked_at; i++) {
		int coords[MAX_AXES], w = examined(i, n, looked_at);
		mesh_coords(m, w, coords);
		box part = cuts_block(&whole, m, made->space, m->naxes, coords);
		double flops = points(k, &part) *
			       (double)kernel_flops_per_point(k);
		double bytes = region_bytes(to, m, w);
		for (int j = 0; j < k->ninputs; j++) {
			box need = kernel_need(k, &part, j);
			bytes += (double)box_volume(&need) *
				 (double)dtype_size(k->inputs[j].type);
		}
		double s = topology_kernel_seconds(t, k->type, flops, bytes);
		slowest = s > slowest ? s : slowest;
	}
	return slowest;
}

/* ---- transfers --------------------------------------------------------- */

typedef struct mover {
	const topology *t;
	const layout_transfer *moves;
	int nmoves;
	int levels[MAX_AXES]; /* of the axes */
	bool ring;
	arena *tmp;
} mover;

/* Notes the axes on which two workers differ; returns the outermost one's
 * level, -1 for none. */
static int level_between(const mover *x, int v, int w, uint32_t *axes)
{
	uint32_t between = mesh_axes_between(x->moves->mesh, v, w);
	*axes |= between;
	return between ? x->levels[__builtin_ctz(between)] : -1;
}

/* Adds the bytes that a worker receives by one of the transfers. */
static void add_pieces(const mover *x, const layout_transfer *move, int worker,
		       topology_move *to, uint32_t *axes)
{
	piece *q;
	int n = transfer_pieces(x->tmp, move, worker, &q);
	for (int i = 0; i < n; i++) {
		int level = level_between(x, worker, q[i].peer, axes);
		if (level >= 0)
			to->bytes[level] += (double)box_volume(&q[i].at) *
					    (double)dtype_size(move->to.type);
	}
}

/* The bytes that a worker receives, and the axes along which. */
static topology_move move_of(const mover *x, int worker)
{
	const mesh *m = x->moves->mesh;
	topology_move to = { .ring = x->ring };
	uint32_t axes = 0;
	for (int i = 0; i < x->nmoves; i++)
		add_pieces(x, &x->moves[i], worker, &to, &axes);
	for (int i = 0; i < x->t->nlevels; i++)
		to.peers[i] = 1;
	for (int i = 0; i < m->naxes; i++)
		if (axes >> i & 1)
			to.peers[x->levels[i]] *= m->size[i];
	return to;
}

/* The bytes of the results that a worker writes. */
static double written_bytes(const mover *x, int worker)
{
	double bytes = 0;
	for (int i = 0; i < x->nmoves; i++)
		bytes += region_bytes(&x->moves[i].to, x->moves->mesh, worker);
	return bytes;
}

/* The part copied within the worker's own memory is read and written there. */
double transfers_time(const topology *t, const layout_transfer *moves,
		      int nmoves, collective c, int most)
{
	const mesh *m = moves->mesh;
	int n = mesh_workers(m), looked_at = n < most ? n : most;
	mover x = { .t = t, .moves = moves, .nmoves = nmoves,
		    .tmp = arena_new(),
		    .ring = c == COLL_ALL_GATHER || c == COLL_REDUCE_SCATTER };
	double slowest = 0;
	topology_levels(t, m, x.levels);
	for (int i = 0; i < looked_at; i++) {
		int w = examined(i, n, looked_at);
		topology_move received = move_of(&x, w);
		double s = written_bytes(&x, w) / t->bandwidth +
			   topology_move_seconds(t, &received);
		slowest = s > slowest ? s : slowest;
	}
	arena_free(x.tmp);
	return slowest;
}

double transfer_time(const topology *t, const layout_transfer *move,
		     collective c, int most)
{
	return transfers_time(t, move, 1, c, most);
}

double phase_time(const plan *p, const topology *t, int begin, int end,
		  int most)
{
	arena *tmp = arena_new();
	layout_transfer *moves = ARENA_ARRAY(tmp, layout_transfer, end - begin);
	for (int i = begin; i < end; i++)
		moves[i - begin] = plan_transfer(p, &p->program[i]);
	double s = transfers_time(t, moves, end - begin,
				  p->program[begin].collective, most);
	arena_free(tmp);
	return s;
}

double instr_time(const plan *p, const topology *t, const plan_instr *in,
		  int most)
{
	if (plan_moves(in)) {
		const layout_transfer move = plan_transfer(p, in);
		return transfer_time(t, &move, in->collective, most);
	}
	if (in->op != PLAN_RUN)
		return 0;
	const plan_buffer result = { .tensor = p->nodes[in->node].output,
				     .region = LAYOUT_PRODUCES,
				     .node = in->node,
				     .turn = in->turn };
	const layout made = plan_layout(p, &result);
	const layout to = plan_layout(p, &p->buffers[in->to]);
	return run_time(t, &p->mesh, &made, &to, most);
}

#include "config.h"

#include "compiler/cost/instr_time.h"

#include "compiler/cost/profiled.h"

static double region_bytes(const layout *l, const mesh *m, int worker)
{
	region r = layout_region_of(l, m, worker);
	return (double)r.count * (double)dtype_size(l->type);
}

/* The i-th of n workers, looked_at of which are examined. */
static int examined(int i, int n, int looked_at)
{
	int64_t last = looked_at > 1 ? looked_at - 1 : 1;
	return (int)(i * (int64_t)(n - 1) / last);
}

/* ---- kernels ----------------------------------------------------------- */

/* Points of the loops; derived variables have no loop. */
static double points(const kernel *k, const box *space)
{
	double n = 1;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind != KVAR_DERIVED)
			n *= (double)(space->hi[v] - space->lo[v]);
	return n;
}

double run_time(const topology *t, const mesh *m, const layout *made,
		const layout *to, int most, time_source *source)
{
	const kernel *k = made->kernel;
	int n = mesh_workers(m), looked_at = n < most ? n : most;
	box whole = layout_space(made);
	double slowest = 0;
	kernel_form form;
	bool asks = topology_asks_form(t);
	if (asks)
		form = kernel_form_of(k);
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
		const kernel_work work = { flops, bytes };
		time_source from;
		double s = topology_form_seconds(t, k, asks ? &form : NULL,
						 &part, &work, 1, &from);
		if (source && s > slowest)
			*source = from;
		slowest = s > slowest ? s : slowest;
	}
	return slowest;
}

/* ---- transfers --------------------------------------------------------- */

/* The work of one worker; levels: of the mesh's axes. */
static transfer_work work_of(const layout_transfer *move, const int *levels,
			     int worker)
{
	const mesh *m = move->mesh;
	const transfer_received from = transfer_receives(move, worker);
	transfer_work w = {
		.written = region_bytes(&move->to, m, worker),
		.axes = from.axes,
	};
	for (int a = 0; a < m->naxes; a++)
		w.received[levels[a]] += (double)from.bytes[a];
	return w;
}

static void add_work(transfer_work *to, const transfer_work *w, int nlevels)
{
	to->written += w->written;
	to->axes |= w->axes;
	for (int i = 0; i < nlevels; i++)
		to->received[i] += w->received[i];
}

static topology_move move_of(const topology *t, const mesh *m,
			     const int *levels, const transfer_work *w,
			     collective c)
{
	topology_move received = topology_move_of(c);
	for (int i = 0; i < t->nlevels; i++)
		received.bytes[i] = w->received[i];
	for (int a = 0; a < m->naxes; a++)
		if (w->axes >> a & 1)
			received.peers[levels[a]] *= m->size[a];
	return received;
}

/* Seconds of a worker's work.  The part copied within its own memory is read
 * and written there. */
static double work_seconds(const topology *t, const mesh *m, const int *levels,
			   const transfer_work *w, collective c,
			   time_source *source)
{
	const topology_move received = move_of(t, m, levels, w, c);
	double all = 0, exact = 0, times = 0;
	for (int i = 0; i < t->nlevels; i++)
		all += received.bytes[i];
	double s = topology_copy_seconds(t, w->written) +
		   topology_move_seconds(t, &received);
	if (t->profiled)
		times = profiled_transfer(t->profiled, c, mesh_workers(m),
					  all, w->written, &exact);
	if (source)
		*source = exact > 0  ? TIME_MEASURED
			  : times > 0 ? TIME_INTERPOLATED
				     : TIME_MODELLED;
	return exact > 0 ? exact : times > 0 ? times * s : s;
}

static int number_examined(const mesh *m, int most)
{
	int n = mesh_workers(m);
	return n < most ? n : most;
}

transfer_work *transfer_work_of(arena *a, const topology *t,
				const layout_transfer *move, int most)
{
	const mesh *m = move->mesh;
	int n = mesh_workers(m), looked_at = number_examined(m, most);
	transfer_work *all = ARENA_ARRAY(a, transfer_work, looked_at);
	int levels[MAX_AXES];
	topology_levels(t, m, levels);
	for (int i = 0; i < looked_at; i++)
		all[i] = work_of(move, levels, examined(i, n, looked_at));
	return all;
}

/* The work of the i-th examined worker in n transfers. */
static transfer_work sum_of(const topology *t,
			    const transfer_work *const *works, int n, int i)
{
	transfer_work sum = works[0][i];
	for (int j = 1; j < n; j++)
		add_work(&sum, &works[j][i], t->nlevels);
	return sum;
}

void transfers_bytes(const topology *t, const mesh *m,
		     const transfer_work *const *works, int n, collective c,
		     int most, double *bytes)
{
	int levels[MAX_AXES], looked_at = number_examined(m, most);
	topology_levels(t, m, levels);
	for (int i = 0; i < t->nlevels; i++)
		bytes[i] = 0;
	for (int i = 0; i < looked_at; i++) {
		const transfer_work sum = sum_of(t, works, n, i);
		const topology_move own = move_of(t, m, levels, &sum, c);
		double brought[MAX_AXES];
		topology_move_bytes(t, &own, brought);
		for (int j = 0; j < t->nlevels; j++)
			if (brought[j] > bytes[j])
				bytes[j] = brought[j];
	}
}

/* *source, unless NULL, receives the slowest worker's source. */
static double works_time(const topology *t, const mesh *m,
			 const transfer_work *const *works, int n,
			 collective c, int most, time_source *source)
{
	int levels[MAX_AXES], looked_at = number_examined(m, most);
	double slowest = 0;
	topology_levels(t, m, levels);
	for (int i = 0; i < looked_at; i++) {
		const transfer_work sum = sum_of(t, works, n, i);
		time_source from;
		double s = work_seconds(t, m, levels, &sum, c, &from);
		if (source && s > slowest)
			*source = from;
		slowest = s > slowest ? s : slowest;
	}
	return slowest;
}

double transfers_time(const topology *t, const mesh *m,
		      const transfer_work *const *works, int n, collective c,
		      int most)
{
	return works_time(t, m, works, n, c, most, NULL);
}

double transfer_time(const topology *t, const layout_transfer *move,
		     collective c, int most, time_source *source)
{
	arena *tmp = arena_new();
	const transfer_work *work = transfer_work_of(tmp, t, move, most);
	double s = works_time(t, move->mesh, &work, 1, c, most, source);
	arena_free(tmp);
	return s;
}

double phase_time(const plan *p, const topology *t, int begin, int end,
		  int most, time_source *source)
{
	arena *tmp = arena_new();
	const transfer_work **works =
		ARENA_ARRAY(tmp, const transfer_work *, end - begin);
	for (int i = begin; i < end; i++) {
		const layout_transfer move = plan_transfer(p, &p->program[i]);
		works[i - begin] = transfer_work_of(tmp, t, &move, most);
	}
	double s = works_time(t, &p->mesh, works, end - begin,
			      p->program[begin].collective, most, source);
	arena_free(tmp);
	return s;
}

double instr_time(const plan *p, const topology *t, const plan_instr *in,
		  int most, time_source *source)
{
	if (plan_moves(in)) {
		const layout_transfer move = plan_transfer(p, in);
		return transfer_time(t, &move, in->collective, most, source);
	}
	if (in->op != PLAN_RUN)
		return 0;
	const plan_buffer result = { .tensor = p->nodes[in->node].output,
				     .region = LAYOUT_PRODUCES,
				     .node = in->node,
				     .turn = in->turn };
	const layout made = plan_layout(p, &result);
	const layout to = plan_layout(p, &p->buffers[in->to]);
	return run_time(t, &p->mesh, &made, &to, most, source);
}

/* ---- sources ----------------------------------------------------------- */

static double turns_of(const plan *p, int i)
{
	bool body = i >= p->loop.begin && i < p->loop.end;
	return p->loop.turns > 0 && body ? p->loop.turns : 1;
}

void instr_time_sources(const plan *p, const topology *t, double times,
			double seconds[TIME_SOURCES])
{
	enum { MOST = 8 };
	for (int i = 0, next; i < p->ninstrs; i = next) {
		const plan_instr *in = &p->program[i];
		time_source from = TIME_MODELLED;
		double s = 0;
		next = plan_is_message(in) ? i + 1 : plan_phase_end(p, i);
		if (next > i + 1)
			s = phase_time(p, t, i, next, MOST, &from);
		else if (!plan_is_message(in))
			s = instr_time(p, t, in, MOST, &from);
		seconds[from] += s * times * turns_of(p, i);
	}
}

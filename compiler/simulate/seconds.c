/* The seconds of instructions and messages, by the time model. */
#include "config.h"

#include "base/vec.h"
#include "compiler/cost/instr_times.h"
#include "compiler/simulate/simulate.h"

/* ---- devices ----------------------------------------------------------- */

/* The level of links between two devices, by their numbers: the outermost at
 * which they are in different parts; the number of levels for one device. */
static int level_between(const topology *t, int v, int w)
{
	int level = t->nlevels;
	for (int i = t->nlevels; i-- > 0 && v != w;) {
		int size = t->levels[i].size;
		bool last = i == 0 || size == 0;
		if (last || v % size != w % size)
			level = i;
		if (last)
			break;
		v /= size;
		w /= size;
	}
	return level;
}

/* Whether each axis of the mesh of devices first, first + 1, .. is within the
 * level that topology_levels() says. */
static bool fits_levels(const topology *t, const mesh *m, int first)
{
	int levels[MAX_AXES], stride = mesh_workers(m), n = stride;
	topology_levels(t, m, levels);
	for (int i = 0; i < m->naxes; i++) {
		int block = stride;
		stride /= m->size[i];
		for (int w = 0; w < n; w++)
			if (w % block + stride < block &&
			    level_between(t, first + w, first + w + stride) <
				    levels[i])
				return false;
	}
	return true;
}

/* The machine as a stage on devices first, first + 1, .. has it.  Where these
 * are not whole parts of it, all its links are taken to be as the slowest that
 * it crosses. */
static topology machine_of(const topology *t, const mesh *m, int first)
{
	topology own = *t;
	if (fits_levels(t, m, first))
		return own;
	int level = level_between(t, first, first + mesh_workers(m) - 1);
	own.nlevels = 1;
	own.levels[0] = t->levels[level];
	own.levels[0].size = 0;
	return own;
}

/* The speed of the slowest of n devices. */
static double speed_of(const topology *t, int first, int n)
{
	double least = t->nkinds == 0 ? 1 : -1;
	int64_t begin = 0;
	for (int i = 0; i < t->nkinds; i++) {
		int64_t end = begin + t->kinds[i].count;
		bool last = i == t->nkinds - 1;
		if (begin < first + n && (end > first || last) &&
		    (least < 0 || t->kinds[i].speed < least))
			least = t->kinds[i].speed;
		begin = end;
	}
	return least;
}

/* ---- instructions ------------------------------------------------------ */

/* Seconds by class, of stages with equal meshes on alike devices. */
typedef struct shared {
	mesh mesh;
	topology machine;
	double speed;
	instr_times *times;
} shared;

typedef struct clocks {
	arena *tmp;
	const topology *t;
	VEC(shared *) all;
} clocks;

static bool is_same_mesh(const mesh *x, const mesh *y)
{
	bool same = x->naxes == y->naxes;
	for (int i = 0; same && i < x->naxes; i++)
		same = x->size[i] == y->size[i];
	return same;
}

static bool is_same_machine(const topology *x, const topology *y)
{
	bool same = x->nlevels == y->nlevels;
	for (int i = 0; same && i < x->nlevels; i++)
		same = x->levels[i].latency == y->levels[i].latency &&
		       x->levels[i].bandwidth == y->levels[i].bandwidth;
	return same;
}

static shared *shared_of(clocks *c, const mesh *m, int first)
{
	topology machine = machine_of(c->t, m, first);
	double speed = speed_of(c->t, first, mesh_workers(m));
	for (int i = 0; i < c->all.n; i++) {
		shared *x = c->all.at[i];
		if (is_same_mesh(&x->mesh, m) && x->speed == speed &&
		    is_same_machine(&x->machine, &machine))
			return x;
	}
	shared *x = ARENA_NEW(c->tmp, shared);
	*x = (shared){ .mesh = *m, .machine = machine, .speed = speed };
	x->times = instr_times_at(c->tmp, layout_classes_new(c->tmp, &x->mesh),
				  &x->machine, speed);
	vec_push(c->tmp, &c->all, x);
	return x;
}

/* A stage as one of its turns has it. */
static plan in_turn(arena *a, const plan *p, int turn)
{
	plan own = *p;
	own.buffers = ARENA_COPY(a, p->buffers, p->nbuffers);
	own.program = ARENA_COPY(a, p->program, p->ninstrs);
	for (int b = 0; b < p->nbuffers; b++)
		own.buffers[b].turn = turn;
	for (int i = 0; i < p->ninstrs; i++)
		own.program[i].turn = turn;
	return own;
}

/* ---- lengths of turns -------------------------------------------------- */

turn_length simulated_length(const plan_loop *l, int turn)
{
	if (l->turns == 0)
		return TURN_SHORT;
	if (turn < 0)
		turn = l->turns - 1;
	layout_turn x = layout_turn_of(l->batch, l->turns, turn);
	return x.end - x.begin == l->batch / l->turns ? TURN_SHORT
						      : TURN_LONG;
}

/* The last turn of a length; -1: there is none. */
static int turn_with(const plan_loop *l, turn_length length)
{
	int turn = l->turns - 1;
	while (turn >= 0 && simulated_length(l, turn) != length)
		turn--;
	return turn;
}

/* ---- messages ---------------------------------------------------------- */

/* The bytes of a worker's pieces by the level that they cross. */
static void add_piece(const topology *t, topology_move *to, int level,
		      double bytes)
{
	if (level >= t->nlevels)
		return;
	to->peers[level] = 2;
	to->bytes[level] += bytes;
}

static double slowest_of(const topology *t, const topology_move *moves, int n)
{
	double slowest = 0;
	for (int w = 0; w < n; w++) {
		double s = topology_move_seconds(t, &moves[w]);
		slowest = s > slowest ? s : slowest;
	}
	return slowest;
}

/* Seconds of a channel's message: of the worker that sends, or receives, for
 * the longest time. */
static double message_seconds(const plan_pipeline *p, const topology *t,
			      int channel, int turn)
{
	arena *tmp = arena_new();
	const plan_channel *c = &p->channels[channel];
	const plan *from = &p->stages[c->from], *to = &p->stages[c->to];
	int nfrom = mesh_workers(&from->mesh), nto = mesh_workers(&to->mesh);
	int first = pipeline_first(p, c->from), second =
		pipeline_first(p, c->to);
	topology_move *sent = ARENA_ARRAY(tmp, topology_move, nfrom);
	topology_move *taken = ARENA_ARRAY(tmp, topology_move, nto);
	double size = (double)dtype_size(to->tensors[c->target].type);
	for (int w = 0; w < nto; w++) {
		piece *q;
		int n = pipeline_pieces(tmp, p, channel, turn, w, &q);
		for (int i = 0; i < n; i++) {
			double bytes = (double)box_volume(&q[i].at) * size;
			int level = level_between(t, first + q[i].peer,
						  second + w);
			add_piece(t, &sent[q[i].peer], level, bytes);
			add_piece(t, &taken[w], level, bytes);
		}
	}
	double x = slowest_of(t, sent, nfrom), y = slowest_of(t, taken, nto);
	arena_free(tmp);
	return x > y ? x : y;
}

/* ---- all --------------------------------------------------------------- */

static void set_length(arena *a, clocks *c, const plan_pipeline *p,
		       turn_length length, simulated_seconds *to)
{
	int first = 0;
	to->instrs[length] = ARENA_ARRAY(a, double *, p->nstages);
	for (int s = 0; s < p->nstages; s++) {
		const plan *q = &p->stages[s];
		int turn = turn_with(&q->loop, length);
		shared *x = shared_of(c, &q->mesh, first);
		first += mesh_workers(&q->mesh);
		if (turn < 0 && (q->loop.turns > 0 || length != TURN_SHORT))
			continue;
		plan own = in_turn(c->tmp, q, turn < 0 ? 0 : turn);
		to->instrs[length][s] = ARENA_ARRAY(a, double, own.ninstrs);
		instr_times_each(x->times, &own, to->instrs[length][s]);
	}
	to->messages[length] = ARENA_ARRAY(a, double, p->nchannels);
	for (int i = 0; i < p->nchannels; i++) {
		int turn = turn_with(&p->stages[p->channels[i].from].loop,
				     length);
		if (turn >= 0)
			to->messages[length][i] =
				message_seconds(p, c->t, i, turn);
	}
}

simulated_seconds simulated_seconds_of(arena *a, const plan_pipeline *p,
				       const topology *t)
{
	simulated_seconds all;
	clocks c = { .tmp = arena_new(), .t = t };
	for (int i = 0; i < TURN_LENGTHS; i++)
		set_length(a, &c, p, i, &all);
	arena_free(c.tmp);
	return all;
}

/* The seconds that instructions and messages take, by the time model. */
#include "config.h"

#include <math.h>

#include "base/vec.h"
#include "compiler/cost/instr_times.h"
#include "compiler/simulate/simulate.h"

/* ---- devices ----------------------------------------------------------- */

/* The level of links between two devices, given by number: the outermost level
 * at which they are in different parts.  For one and the same device the number
 * of levels. */
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

/* Whether each axis of a mesh on devices first, first + 1, .. lies within the
 * level given by topology_levels(). */
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

/* The machine as seen by a stage on devices first, first + 1, ..  If these are
 * not whole parts of the machine, all links count as the slowest level that the
 * stage crosses, *level; otherwise *level is -1. */
static topology machine_of(const topology *t, const mesh *m, int first,
			   int *level)
{
	int n = mesh_workers(m);
	topology own = *t;
	topology_share(&own, n);
	*level = -1;
	if (fits_levels(t, m, first))
		return own;
	*level = level_between(t, first, first + n - 1);
	own.nlevels = 1;
	own.levels[0] = own.levels[*level];
	own.levels[0].size = 0;
	return own;
}

/* The speed of the slowest of n devices from `first' on. */
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

/* Seconds by class, for stages with equal meshes on equal devices. */
typedef struct shared {
	mesh mesh;
	topology machine;
	int level; /* the level of all its links in the whole machine; -1 */
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
		       x->levels[i].bandwidth == y->levels[i].bandwidth &&
		       x->levels[i].shared == y->levels[i].shared;
	return same;
}

static shared *shared_of(clocks *c, const mesh *m, int first)
{
	int level;
	topology machine = machine_of(c->t, m, first, &level);
	double speed = speed_of(c->t, first, mesh_workers(m));
	for (int i = 0; i < c->all.n; i++) {
		shared *x = c->all.at[i];
		if (is_same_mesh(&x->mesh, m) && x->speed == speed &&
		    x->level == level &&
		    is_same_machine(&x->machine, &machine))
			return x;
	}
	shared *x = ARENA_NEW(c->tmp, shared);
	*x = (shared){ .mesh = *m, .machine = machine, .level = level,
			.speed = speed };
	x->times = instr_times_at(c->tmp, layout_classes_new(c->tmp, &x->mesh),
				  &x->machine, speed);
	vec_push(c->tmp, &c->all, x);
	return x;
}

/* The plan of a stage for one of its turns. */
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

/* The last turn of this length; -1 if there is none. */
static int turn_with(const plan_loop *l, turn_length length)
{
	int turn = l->turns - 1;
	while (turn >= 0 && simulated_length(l, turn) != length)
		turn--;
	return turn;
}

/* ---- links ------------------------------------------------------------- */

/* Loads of links, being added up. */
typedef struct loads {
	VEC(simulated_load) all;
	double rate;
} loads;

/* Numbers of links.  At each level there are the links of each stage's devices,
 * out and in.  If the machine gives shared links at a level, those of its parts
 * follow. */
typedef struct links {
	const topology *t;
	int nstages, n;
	int first_part[MAX_AXES]; /* -1: nothing is shared at the level */
} links;

enum { LINK_OUT, LINK_IN, LINK_WAYS };

static links links_of(const topology *t, const plan_pipeline *p)
{
	links x = { .t = t, .nstages = p->nstages };
	int devices = pipeline_first(p, p->nstages);
	x.n = t->nlevels * p->nstages * LINK_WAYS;
	for (int i = 0; i < t->nlevels; i++) {
		int part = topology_part(t, i);
		x.first_part[i] = -1;
		if (t->levels[i].shared <= 0)
			continue;
		x.first_part[i] = x.n;
		x.n += ((devices - 1) / part + 1) * LINK_WAYS;
	}
	return x;
}

static int stage_link(const links *x, int stage, int level, int way)
{
	return (level * x->nstages + stage) * LINK_WAYS + way;
}

/* The number of the link of a device's part. */
static int part_link(const links *x, int device, int level, int way)
{
	return x->first_part[level] +
	       device / topology_part(x->t, level) * LINK_WAYS + way;
}

static simulated_load *load_of(arena *a, loads *to, int link)
{
	for (int i = 0; i < to->all.n; i++)
		if (to->all.at[i].link == link)
			return &to->all.at[i];
	vec_push(a, &to->all, ((simulated_load){ .link = link }));
	return &to->all.at[to->all.n - 1];
}

/* Adds a load for a stage's devices; the device with most bytes counts. */
static void load_stage(arena *a, const links *x, loads *to, int stage,
		       int level, int way, double bytes)
{
	if (bytes <= 0)
		return;
	simulated_load *l = load_of(a, to, stage_link(x, stage, level, way));
	double seconds = bytes / x->t->levels[level].bandwidth;
	l->seconds = seconds > l->seconds ? seconds : l->seconds;
	to->rate = bytes > to->rate ? bytes : to->rate;
}

/* Adds a load for a device's part, where the bytes of all devices add up. */
static void load_part(arena *a, const links *x, loads *to, int device,
		      int level, int way, double bytes)
{
	if (bytes <= 0 || x->first_part[level] < 0)
		return;
	load_of(a, to, part_link(x, device, level, way))->seconds +=
		bytes / x->t->levels[level].shared;
}

/* The longest time among links `from' and later. */
static double longest_of(const loads *x, int from)
{
	double longest = 0;
	for (int i = 0; i < x->all.n; i++)
		if (x->all.at[i].link >= from &&
		    x->all.at[i].seconds > longest)
			longest = x->all.at[i].seconds;
	return longest;
}

/* Converts loads to rates as transfers share them: the most bytes of a device
 * become its rate. */
static simulated_links taken_links(arena *a, const loads *x)
{
	double longest = longest_of(x, 0);
	if (longest <= 0)
		return (simulated_links){ 0 };
	return (simulated_links){
		x->all.n, ARENA_COPY(a, x->all.at, x->all.n),
		x->rate / longest,
	};
}

/* The links of a stage whose devices each receive these bytes over the levels
 * of its machine.  As many go out as come in. */
static simulated_links collective_links(arena *a, const links *x,
					const shared *of, int stage, int first,
					const double *bytes)
{
	arena *tmp = arena_new();
	loads all = { 0 };
	int n = mesh_workers(&of->mesh);
	for (int i = 0; i < of->machine.nlevels; i++)
		for (int way = 0; way < LINK_WAYS; way++) {
			int level = of->level < 0 ? i : of->level;
			load_stage(tmp, x, &all, stage, level, way, bytes[i]);
			for (int w = 0; w < n; w++)
				load_part(tmp, x, &all, first + w, level, way,
					  bytes[i]);
		}
	simulated_links to = taken_links(a, &all);
	arena_free(tmp);
	return to;
}

/* The links of each instruction of a stage.  The first instruction of a phase
 * has those of the whole phase. */
static simulated_links *each_links(arena *a, const links *x, const shared *of,
				   const plan *p, int stage, int first)
{
	simulated_links *all = ARENA_ARRAY(a, simulated_links, p->ninstrs);
	for (int i = 0, next; i < p->ninstrs; i = next) {
		const plan_instr *in = &p->program[i];
		double bytes[MAX_AXES];
		next = plan_phase_end(p, i);
		if (!plan_moves(in) || in->collective == COLL_LOCAL)
			continue;
		instr_times_bytes(of->times, p, i, next, bytes);
		all[i] = collective_links(a, x, of, stage, first, bytes);
	}
	return all;
}

/* ---- messages ---------------------------------------------------------- */

/* Adds the bytes of a worker's piece at the level that it crosses. */
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

/* Adds the bytes of a stage's worker to the loads. */
static void load_worker(arena *a, const links *x, loads *to, int stage,
			int device, int way, const topology_move *move)
{
	for (int i = 0; i < x->t->nlevels; i++) {
		load_stage(a, x, to, stage, i, way, move->bytes[i]);
		load_part(a, x, to, device, i, way, move->bytes[i]);
	}
}

static double latency_of(const topology *t, const topology_move *moves, int n)
{
	double latency = 0;
	for (int w = 0; w < n; w++)
		for (int i = 0; i < t->nlevels; i++)
			if (moves[w].peers[i] > 1 &&
			    t->levels[i].latency > latency)
				latency = t->levels[i].latency;
	return latency;
}

/* Finds the pieces of a message by worker: those sent and those received. */
static void find_pieces(arena *tmp, const plan_pipeline *p, const topology *t,
			int channel, int turn, topology_move *sent,
			topology_move *taken)
{
	const plan_channel *c = &p->channels[channel];
	const plan *to = &p->stages[c->to];
	int first = pipeline_first(p, c->from);
	int second = pipeline_first(p, c->to);
	double size = (double)dtype_size(to->tensors[c->target].type);
	for (int w = 0; w < mesh_workers(&to->mesh); w++) {
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
}

/* The seconds of a channel's message: those of the worker that sends or
 * receives longest, or of what the devices of a part share.  Sets *on to its
 * links. */
static double message_seconds(arena *a, const links *x, const plan_pipeline *p,
			      int channel, int turn, simulated_links *on)
{
	arena *tmp = arena_new();
	const plan_channel *c = &p->channels[channel];
	int nfrom = mesh_workers(&p->stages[c->from].mesh);
	int nto = mesh_workers(&p->stages[c->to].mesh);
	topology own = *x->t;
	loads all = { 0 };
	topology_move *sent = ARENA_ARRAY(tmp, topology_move, nfrom);
	topology_move *taken = ARENA_ARRAY(tmp, topology_move, nto);
	topology_share(&own, 1);
	find_pieces(tmp, p, x->t, channel, turn, sent, taken);
	for (int w = 0; w < nfrom; w++)
		load_worker(tmp, x, &all, c->from,
			    pipeline_first(p, c->from) + w, LINK_OUT,
			    &sent[w]);
	for (int w = 0; w < nto; w++)
		load_worker(tmp, x, &all, c->to, pipeline_first(p, c->to) + w,
			    LINK_IN, &taken[w]);
	*on = taken_links(a, &all);
	double s = fmax(slowest_of(&own, sent, nfrom),
			slowest_of(&own, taken, nto));
	int parts = stage_link(x, 0, x->t->nlevels, 0);
	double least = longest_of(&all, parts);
	if (least > 0)
		least += latency_of(&own, taken, nto);
	arena_free(tmp);
	return fmax(s, least);
}

/* ---- all --------------------------------------------------------------- */

static void set_stage(arena *a, clocks *c, const plan_pipeline *p,
		      const links *x, int s, turn_length length,
		      simulated_seconds *to)
{
	const plan *q = &p->stages[s];
	int turn = turn_with(&q->loop, length), first = pipeline_first(p, s);
	const shared *of = shared_of(c, &q->mesh, first);
	if (turn < 0 && (q->loop.turns > 0 || length != TURN_SHORT))
		return;
	plan own = in_turn(c->tmp, q, turn < 0 ? 0 : turn);
	to->instrs[length][s] = ARENA_ARRAY(a, double, own.ninstrs);
	instr_times_each(of->times, &own, to->instrs[length][s]);
	if (p->nstages > 1)
		to->instr_links[length][s] =
			each_links(a, x, of, &own, s, first);
}

static void set_length(arena *a, clocks *c, const plan_pipeline *p,
		       const links *x, turn_length length,
		       simulated_seconds *to)
{
	to->instrs[length] = ARENA_ARRAY(a, double *, p->nstages);
	to->instr_links[length] = NULL;
	if (p->nstages > 1)
		to->instr_links[length] =
			ARENA_ARRAY(a, simulated_links *, p->nstages);
	for (int s = 0; s < p->nstages; s++)
		set_stage(a, c, p, x, s, length, to);
	to->messages[length] = ARENA_ARRAY(a, double, p->nchannels);
	to->message_links[length] =
		ARENA_ARRAY(a, simulated_links, p->nchannels);
	for (int i = 0; i < p->nchannels; i++) {
		int turn = turn_with(&p->stages[p->channels[i].from].loop,
				     length);
		if (turn >= 0)
			to->messages[length][i] = message_seconds(
				a, x, p, i, turn,
				&to->message_links[length][i]);
	}
}

/* A stage does one transfer at a time. */
simulated_seconds simulated_seconds_of(arena *a, const plan_pipeline *p,
				       const topology *t)
{
	simulated_seconds all;
	clocks c = { .tmp = arena_new(), .t = t };
	const links x = links_of(t, p);
	all.nlinks = x.n;
	for (int i = 0; i < TURN_LENGTHS; i++)
		set_length(a, &c, p, &x, i, &all);
	arena_free(c.tmp);
	return all;
}

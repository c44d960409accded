/* Local search among all splits of the hypergraph for the least load.
 *
 * A move takes one group to another device and changes only the loads of these
 * two: an edge counts for every accelerator with one of its pins, if its pins
 * are on more than one device.  The objective is the sum over devices of a high
 * power of the load, which is smooth where the greatest load is not.  Simulated
 * annealing (Kirkpatrick et al. 1983) accepts worse moves at random.  Passes of
 * descent, with the gains of Fiduccia and Mattheyses (1982), accept none.  A
 * split on the way may exceed an accelerator's memory, at a price. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "compiler/placement/load_chain.h"

enum { POWER = 24, STARTS = 6, EXCESS = 100 };

/* The new loads of the device that a group leaves and of the one to which it
 * moves. */
typedef struct change {
	int64_t from, to;
} change;

typedef struct split_state {
	const groups *r;
	const load_options *o;
	int ndevices;
	int *first_edge, *edges; /* group v has edges[first_edge[v] .. ] */
	int *device;		 /* by group */
	/* by edge and device; number of devices by edge */
	int *pins, *span;
	int64_t *load, *nbytes;
	double unit; /* a load that counts as 1 */
	double *energy; /* by device: its term in the objective, see weigh() */
	uint64_t random;
	int64_t best; /* LOAD_NONE: none that fits yet */
	int *best_device;
} split_state;

static uint64_t random_bits(split_state *s)
{
	uint64_t x = s->random += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static int random_below(split_state *s, int n)
{
	return (int)(random_bits(s) % (uint64_t)n);
}

/* A random number with 0 <= value < 1. */
static double random_real(split_state *s)
{
	return (double)(random_bits(s) >> 11) * 0x1p-53;
}

static bool core(const split_state *s, int d)
{
	return d >= s->o->accelerators;
}

static int64_t time_on(const split_state *s, int v, int d)
{
	return core(s, d) ? s->r->core_ns[v] : s->r->ns[v];
}

static int *pins_on(const split_state *s, int e, int d)
{
	return &s->pins[(int64_t)e * s->ndevices + d];
}

/* Whether group v can run on device d, apart from memory. */
static bool allowed(const split_state *s, int v, int d)
{
	return !core(s, d) || s->r->core_ns[v] != GROUP_NEVER;
}

static int64_t excess(const split_state *s, int d, int64_t nbytes)
{
	bool fits = core(s, d) || nbytes <= s->o->memory_nbytes;
	return fits ? 0 : nbytes - s->o->memory_nbytes;
}

/* ---- moves -------------------------------------------------------------- */

/* The loads after the move.  An edge whose last pin leaves `a' no longer counts
 * there.  Whether it counts on `to' depends on its number of devices. */
static change change_of(const split_state *s, int v, int to)
{
	int a = s->device[v];
	change c = { s->load[a] - time_on(s, v, a),
		     s->load[to] + time_on(s, v, to) };
	for (int i = s->first_edge[v]; i < s->first_edge[v + 1]; i++) {
		int e = s->edges[i], span = s->span[e];
		bool leaves = *pins_on(s, e, a) == 1;
		bool comes = *pins_on(s, e, to) == 0;
		int64_t ns = s->r->edges[e].ns;
		int after = span - leaves + comes;
		if (!core(s, a))
			c.from += ns * ((after > 1 && !leaves) - (span > 1));
		if (!core(s, to))
			c.to += ns * ((after > 1) - (span > 1 && !comes));
	}
	return c;
}

/* The term of a device in the objective. */
static double energy(const split_state *s, int d, int64_t load, int64_t nbytes)
{
	double x = (double)load / s->unit, y = x * x * x;
	int64_t more = excess(s, d, nbytes);
	y *= y;
	y *= y; /* x ^ 12 */
	y *= y;
	return more == 0 ? y : y + EXCESS * (double)more /
					   ((double)s->o->memory_nbytes + 1);
}

/* Computes the terms of all devices.  Moves then keep them up to date. */
static void weigh(split_state *s)
{
	for (int d = 0; d < s->ndevices; d++)
		s->energy[d] = energy(s, d, s->load[d], s->nbytes[d]);
}

static double gain_of(const split_state *s, int v, int to, change c)
{
	int a = s->device[v];
	int64_t size = s->r->nbytes[v];
	return energy(s, a, c.from, s->nbytes[a] - size) +
		energy(s, to, c.to, s->nbytes[to] + size) -
		s->energy[a] - s->energy[to];
}

static void move(split_state *s, int v, int to, change c)
{
	int a = s->device[v];
	for (int i = s->first_edge[v]; i < s->first_edge[v + 1]; i++) {
		int e = s->edges[i];
		s->span[e] -= --*pins_on(s, e, a) == 0;
		s->span[e] += ++*pins_on(s, e, to) == 1;
	}
	s->nbytes[a] -= s->r->nbytes[v];
	s->nbytes[to] += s->r->nbytes[v];
	s->load[a] = c.from;
	s->load[to] = c.to;
	s->energy[a] = energy(s, a, c.from, s->nbytes[a]);
	s->energy[to] = energy(s, to, c.to, s->nbytes[to]);
	s->device[v] = to;
}

static int64_t greatest(const split_state *s)
{
	int64_t most = 0;
	for (int d = 0; d < s->ndevices; d++)
		if (s->load[d] > most)
			most = s->load[d];
	return most;
}

/* Keeps the split if it fits and is better. */
static void note_best(split_state *s)
{
	int64_t most = greatest(s);
	if (most >= s->best)
		return;
	for (int d = 0; d < s->ndevices; d++)
		if (excess(s, d, s->nbytes[d]) > 0)
			return;
	s->best = most;
	memcpy(s->best_device, s->device, sizeof(int) * (size_t)s->r->n);
}

/* ---- starts ------------------------------------------------------------- */

/* Begins at a split. */
static void reset(split_state *s, const int *device)
{
	const groups *r = s->r;
	int n = s->ndevices;
	memset(s->pins, 0, sizeof(int) * (size_t)r->nedges * (size_t)n);
	memset(s->load, 0, sizeof(int64_t) * (size_t)n);
	memset(s->nbytes, 0, sizeof(int64_t) * (size_t)n);
	memmove(s->device, device, sizeof(int) * (size_t)r->n);
	for (int v = 0; v < r->n; v++) {
		s->load[device[v]] += time_on(s, v, device[v]);
		s->nbytes[device[v]] += r->nbytes[v];
	}
	for (int e = 0; e < r->nedges; e++) {
		const hyperedge *h = &r->edges[e];
		s->span[e] = 0;
		for (int i = h->first; i < h->first + h->n; i++)
			s->span[e] += ++*pins_on(s, e,
						 s->device[r->pins[i]]) == 1;
		for (int d = 0; d < s->o->accelerators && s->span[e] > 1; d++)
			if (*pins_on(s, e, d) > 0)
				s->load[d] += h->ns;
	}
}

/* Places groups in random order, each on the accelerator with the fewest
 * bytes. */
static void spread(split_state *s, int *device)
{
	int n = s->r->n;
	arena *own = arena_new();
	int *order = ARENA_ARRAY(own, int, n);
	int64_t *nbytes = ARENA_ARRAY(own, int64_t, s->ndevices);
	for (int v = 0; v < n; v++) {
		int i = random_below(s, v + 1);
		order[v] = order[i];
		order[i] = v;
	}
	for (int i = 0; i < n; i++) {
		int at = 0;
		for (int d = 1; d < s->o->accelerators; d++)
			if (nbytes[d] < nbytes[at])
				at = d;
		device[order[i]] = at;
		nbytes[at] += s->r->nbytes[order[i]];
	}
	arena_free(own);
}

/* ---- search ------------------------------------------------------------- */

/* The temperature over the moves of a search. */
typedef struct cooling {
	int64_t moves;
	double hot, cold;
	double least; /* least e / temperature, per e, for some moves */
} cooling;

static double temperature(const cooling *c, int64_t i)
{
	return c->hot * pow(c->cold / c->hot, (double)i / (double)c->moves);
}

/* Whether move i of cost e > 0 is accepted, with probability exp(-e / t).  Most
 * moves are not, and 1 / (1 + x + .. + x^4 / 24), which is above exp(-x), shows
 * this faster. */
static bool accepts(split_state *s, const cooling *c, int64_t i, double e)
{
	double random = random_real(s), x = e * c->least;
	double above = 1 + x * (1 + x / 2 * (1 + x / 3 * (1 + x / 4)));
	return random * above < 1 + 1e-9 &&
	       random < exp(-e / temperature(c, i));
}

/* Makes random moves.  Worse ones are accepted less and less often. */
static void anneal(split_state *s, int64_t moves, double hot, double cold)
{
	enum { WHILE = 4096 };
	cooling c = { moves, hot, cold, 0 };
	weigh(s);
	for (int64_t i = 0; i < moves; i++) {
		if (i % WHILE == 0)
			c.least = 1 / temperature(&c, i);
		int v = random_below(s, s->r->n);
		int to = random_below(s, s->ndevices), from = s->device[v];
		if (to == from || !allowed(s, v, to))
			continue;
		change after = change_of(s, v, to);
		double e = gain_of(s, v, to, after);
		if (e > 0 && !accepts(s, &c, i, e))
			continue;
		move(s, v, to, after);
		note_best(s);
	}
}

/* Makes the best move as long as one helps. */
static void descend(split_state *s)
{
	weigh(s);
	for (;;) {
		int best = -1, best_to = -1;
		double gain = -1e-12;
		change chosen = { 0, 0 };
		for (int v = 0; v < s->r->n; v++)
			for (int to = 0; to < s->ndevices; to++) {
				if (to == s->device[v] || !allowed(s, v, to))
					continue;
				change c = change_of(s, v, to);
				double e = gain_of(s, v, to, c);
				if (e >= gain)
					continue;
				gain = e;
				best = v;
				best_to = to;
				chosen = c;
			}
		if (best < 0)
			return;
		move(s, best, best_to, chosen);
		note_best(s);
	}
}

static void connect(arena *a, split_state *s)
{
	const groups *r = s->r;
	s->first_edge = ARENA_ARRAY(a, int, r->n + 2);
	for (int e = 0; e < r->nedges; e++)
		for (int i = 0; i < r->edges[e].n; i++)
			s->first_edge[r->pins[r->edges[e].first + i] + 2]++;
	for (int v = 0; v < r->n; v++)
		s->first_edge[v + 2] += s->first_edge[v + 1];
	s->edges = ARENA_ARRAY(a, int, s->first_edge[r->n + 1]);
	for (int e = 0; e < r->nedges; e++)
		for (int i = 0; i < r->edges[e].n; i++)
			s->edges[s->first_edge[
				r->pins[r->edges[e].first + i] + 1]++] = e;
}

static split_state *state_new(arena *a, const groups *r, const load_options *o)
{
	split_state *s = ARENA_NEW(a, split_state);
	int n = o->accelerators + o->cores;
	s->r = r;
	s->o = o;
	s->ndevices = n;
	connect(a, s);
	s->device = ARENA_ARRAY(a, int, r->n);
	s->best_device = ARENA_ARRAY(a, int, r->n);
	s->pins = ARENA_ARRAY(a, int, (size_t)r->nedges * (size_t)n);
	s->span = ARENA_ARRAY(a, int, r->nedges);
	s->load = ARENA_ARRAY(a, int64_t, n);
	s->nbytes = ARENA_ARRAY(a, int64_t, n);
	s->energy = ARENA_ARRAY(a, double, n);
	s->best = LOAD_NONE;
	return s;
}

/* Searches from start k: the given split, or a random one. */
static void search_from(split_state *s, const int *given, int k, int64_t moves,
			int *device)
{
	/* Temperatures.  A device with the greatest load has energy 1. */
	static const double hot[] = { 3, 1, 0.03 }, cold[] = { 1e-2, 1e-3,
							       1e-4 };
	if (given && k < STARTS / 2)
		memcpy(device, given, sizeof(int) * (size_t)s->r->n);
	else
		spread(s, device);
	reset(s, device);
	note_best(s);
	for (int round = 0; round < 2; round++) {
		s->unit = (double)(s->best < LOAD_NONE ? s->best :
				   greatest(s)) + 1;
		anneal(s, moves / 2, hot[k % 3], cold[k % 3]);
		if (s->best < LOAD_NONE)
			reset(s, s->best_device);
		descend(s);
	}
}

const load_result *load_any(arena *a, const cost_graph *g,
			    const load_options *o, const load_result *from,
			    int64_t moves)
{
	load_result *r = ARENA_NEW(a, load_result);
	arena *own = arena_new();
	group_options how = { o->transfer_ns, o->nbytes,
			      o->cores > 0, false, false };
	const groups *all = groups_new(own, g, &how);
	split_state *s = state_new(own, all, o);
	int *device = ARENA_ARRAY(own, int, all->n), *given = NULL;
	if (from) {
		given = ARENA_ARRAY(own, int, all->n);
		for (int v = 0; v < g->nops; v++)
			given[all->of[v]] = from->device[v];
	}
	for (int k = 0; k < STARTS; k++)
		search_from(s, given, k, moves / STARTS, device);
	r->ns = s->best;
	r->bound_ns = load_bound(all, o);
	r->optimal = r->ns == r->bound_ns;
	r->ngroups = all->n;
	r->device = ARENA_ARRAY(a, int, g->nops);
	for (int v = 0; v < g->nops && s->best != LOAD_NONE; v++)
		r->device[v] = s->best_device[all->of[v]];
	arena_free(own);
	return r->ns == LOAD_NONE ? NULL : r;
}

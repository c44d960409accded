#include "config.h"

#include "compiler/placement/improve.h"

#include <string.h>

enum { MOST_LEVELS = 40 };

/* Groups of units that are on one device.  The members of group i are operators
 * member[first[i]] .. [i + 1]. */
typedef struct level {
	int n;
	int *of; /* by operator */
	int *first, *member;
} level;

typedef struct search {
	const place_task *t;
	const machine *m;
	const cost_graph *g;
	int *place;
	place_cost cost;
	int64_t bound, left; /* evaluations */
	uint64_t random;
	int64_t *nbytes; /* resident, by device */
	int64_t *group_nbytes, *group_ns;
	int *order, *mate, *mark; /* by group, at most nops */
	int64_t *tie;		  /* by group */
	int *near;		  /* by device */
} search;

static uint64_t draw(search *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return s->random >> 11;
}

static int draw_below(search *s, int n)
{
	return (int)(draw(s) % (uint64_t)n);
}

static int64_t overflow_of(const machine *m, const int64_t *nbytes)
{
	int64_t sum = 0;
	for (int d = 0; d < m->ndevices; d++)
		if (nbytes[d] > m->limit[d])
			sum += nbytes[d] - m->limit[d];
	return sum;
}

place_cost place_cost_of(const place_task *t, const int *place)
{
	verdict v = judge_run(t->j, place, INT64_MAX);
	return (place_cost){ overflow_of(t->m, v.peak), v.makespan };
}

/* ---- levels -------------------------------------------------------------- */

static void list_members(search *s, arena *a, level *l)
{
	int n = s->g->nops;
	l->first = ARENA_ARRAY(a, int, l->n + 2);
	l->member = ARENA_ARRAY(a, int, n);
	for (int v = 0; v < n; v++)
		l->first[l->of[v] + 2]++;
	for (int i = 0; i < l->n; i++)
		l->first[i + 2] += l->first[i + 1];
	for (int v = 0; v < n; v++)
		l->member[l->first[l->of[v] + 1]++] = v;
}

static level units(search *s, arena *a)
{
	level l = { .n = s->t->nunits,
		    .of = ARENA_COPY(a, s->t->unit_of, s->g->nops) };
	list_members(s, a, &l);
	return l;
}

static void shuffle(search *s, int n)
{
	for (int i = 0; i < n; i++)
		s->order[i] = i;
	for (int i = n - 1; i > 0; i--) {
		int k = draw_below(s, i + 1), x = s->order[i];
		s->order[i] = s->order[k];
		s->order[k] = x;
	}
}

/* Adds what group i exchanges with other groups over the edges of operator
 * v. */
static int add_ties(search *s, const level *l, int i, int v, int *list, int n)
{
	const cost_graph *g = s->g;
	for (int side = 0; side < 2; side++) {
		const int *first = side ? g->first_pred : g->first_succ;
		const cost_edge *e = side ? g->pred : g->succ;
		for (int k = first[v]; k < first[v + 1]; k++) {
			int o = l->of[e[k].op];
			if (o == i || s->place[e[k].op] != s->place[v])
				continue;
			if (s->mark[o] != i + 1) {
				s->mark[o] = i + 1;
				s->tie[o] = 0;
				list[n++] = o;
			}
			s->tie[o] += 1 + machine_least_move(s->m, e[k].result);
		}
	}
	return n;
}

/* The group to join with i: free, on its device, and together not too large.
 * Of these the one with which it exchanges most; -1. */
static int choose_mate(search *s, const level *l, int i, int64_t most_ns,
		       int64_t most_nbytes, int *list)
{
	int n = 0, best = -1;
	double much = 0;
	for (int k = l->first[i]; k < l->first[i + 1]; k++)
		n = add_ties(s, l, i, l->member[k], list, n);
	for (int k = 0; k < n; k++) {
		int o = list[k];
		double value = (double)s->tie[o] /
			       (double)(1 + s->group_ns[i] + s->group_ns[o]);
		if (s->mate[o] < 0 && value > much &&
		    s->group_ns[i] + s->group_ns[o] <= most_ns &&
		    s->group_nbytes[i] + s->group_nbytes[o] <= most_nbytes) {
			much = value;
			best = o;
		}
	}
	return best;
}

static void weigh(search *s, const level *l)
{
	for (int i = 0; i < l->n; i++)
		s->group_ns[i] = s->group_nbytes[i] = 0;
	for (int v = 0; v < s->g->nops; v++) {
		s->group_ns[l->of[v]] += place_mean_ns(s->m, v);
		s->group_nbytes[l->of[v]] += s->m->resident[v];
	}
}

/* A level with pairs of groups joined.  It has as many groups if none can be
 * joined. */
static level coarser(search *s, arena *a, const level *l, int64_t most_ns,
		     int64_t most_nbytes)
{
	level c = { .of = ARENA_ARRAY(a, int, s->g->nops) };
	int *list = ARENA_ARRAY(a, int, l->n), *new = ARENA_ARRAY(a, int, l->n);
	weigh(s, l);
	shuffle(s, l->n);
	for (int i = 0; i < l->n; i++) {
		s->mate[i] = -1;
		s->mark[i] = 0;
	}
	for (int k = 0; k < l->n; k++) {
		int i = s->order[k];
		if (s->mate[i] >= 0)
			continue;
		int o = choose_mate(s, l, i, most_ns, most_nbytes, list);
		s->mate[i] = o < 0 ? i : o;
		s->mate[s->mate[i]] = i;
	}
	for (int i = 0; i < l->n; i++)
		new[i] = s->mate[i] < i ? new[s->mate[i]] : c.n++;
	for (int v = 0; v < s->g->nops; v++)
		c.of[v] = new[l->of[v]];
	list_members(s, a, &c);
	return c;
}

/* ---- moves --------------------------------------------------------------- */

static void move_group(search *s, const level *l, int i, int to)
{
	for (int k = l->first[i]; k < l->first[i + 1]; k++) {
		int v = l->member[k];
		s->nbytes[s->place[v]] -= s->m->resident[v];
		s->nbytes[to] += s->m->resident[v];
		s->place[v] = to;
	}
}

/* Moves group i if that is not worse.  Returns whether it is better. */
static bool try_move(search *s, const level *l, int i, int to)
{
	int from = s->place[l->member[l->first[i]]];
	move_group(s, l, i, to);
	/* Resident bytes alone are a lower bound of the excess. */
	int64_t over = overflow_of(s->m, s->nbytes);
	if (over <= s->cost.overflow) {
		bool strict = over == 0 && s->cost.overflow == 0;
		verdict v = judge_run(s->t->j, s->place,
				      strict ? s->cost.makespan : INT64_MAX);
		place_cost new = { 0, v.makespan };
		s->left--;
		if (v.makespan < INT64_MAX) {
			new.overflow = overflow_of(s->m, v.peak);
			if (!place_cost_less(s->cost, new)) {
				bool better = place_cost_less(new, s->cost);
				s->cost = new;
				return better;
			}
		}
	}
	move_group(s, l, i, from);
	return false;
}

/* Lists the devices of a group's neighbours except its own, and one other. */
static int list_devices(search *s, const level *l, int i, int *devices)
{
	const cost_graph *g = s->g;
	int n = 0, own = s->place[l->member[l->first[i]]];
	int other = draw_below(s, s->m->ndevices);
	s->near[own] = 1;
	for (int k = l->first[i]; k < l->first[i + 1]; k++) {
		int v = l->member[k];
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++)
			if (!s->near[s->place[g->succ[e].op]]++)
				devices[n++] = s->place[g->succ[e].op];
		for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++)
			if (!s->near[s->place[g->pred[e].op]]++)
				devices[n++] = s->place[g->pred[e].op];
	}
	if (!s->near[other] && (n > 0 || draw_below(s, 4) == 0))
		devices[n++] = other;
	s->near[own] = 0;
	for (int d = 0; d < n; d++)
		s->near[devices[d]] = 0;
	return n;
}

static bool ended(const search *s)
{
	return s->left <= 0 || place_is_late(s->t) ||
	       (s->cost.overflow == 0 && s->cost.makespan <= s->bound);
}

/* Tries each group once in random order.  Returns whether one became better. */
static bool pass(search *s, arena *a, const level *l)
{
	int *devices = ARENA_ARRAY(a, int, s->m->ndevices);
	bool better = false;
	shuffle(s, l->n);
	for (int k = 0; k < l->n && !ended(s); k++) {
		int n = list_devices(s, l, s->order[k], devices);
		for (int d = 0; d < n && !ended(s); d++)
			better |= try_move(s, l, s->order[k], devices[d]);
	}
	return better;
}

/* ---- all ----------------------------------------------------------------- */

static void cycle(search *s)
{
	arena *a = arena_new();
	level levels[MOST_LEVELS] = { units(s, a) };
	int n = 1, k = s->m->ndevices;
	int64_t most_ns = 1, most_nbytes = s->m->most_limit;
	for (int v = 0; v < s->g->nops; v++)
		most_ns += place_mean_ns(s->m, v);
	if (draw_below(s, 2) == 0)
		most_ns /= 1 + draw_below(s, 2 * k);
	while (n < MOST_LEVELS && levels[n - 1].n > k) {
		levels[n] = coarser(s, a, &levels[n - 1], most_ns,
				    most_nbytes);
		if (levels[n].n > levels[n - 1].n * 19 / 20)
			break;
		n++;
	}
	while (n-- > 0 && !ended(s))
		for (int i = 0; i < 3 && pass(s, a, &levels[n]); i++)
			;
	arena_free(a);
}

/* Moves operators around a random one, up to a tenth of all, from its device to
 * another.  Evaluates the result. */
static void kick(search *s, arena *a)
{
	const cost_graph *g = s->g;
	int *list = ARENA_ARRAY(a, int, g->nops + 1), n = 0;
	int most = 1 + draw_below(s, 1 + g->nops / 10);
	int v = draw_below(s, g->nops), from = s->place[v];
	int to = (from + 1 + draw_below(s, s->m->ndevices - 1)) %
		 s->m->ndevices;
	list[n++] = v;
	for (int i = 0; i < n && n < most; i++) {
		int u = s->t->unit_of[list[i]];
		for (int k = s->t->first_member[u];
		     k < s->t->first_member[u + 1]; k++) {
			int x = s->t->member[k];
			s->nbytes[s->place[x]] -= s->m->resident[x];
			s->nbytes[to] += s->m->resident[x];
			s->place[x] = to;
		}
		for (int e = g->first_succ[list[i]];
		     e < g->first_succ[list[i] + 1] && n < most; e++)
			if (s->place[g->succ[e].op] == from)
				list[n++] = g->succ[e].op;
		for (int e = g->first_pred[list[i]];
		     e < g->first_pred[list[i] + 1] && n < most; e++)
			if (s->place[g->pred[e].op] == from)
				list[n++] = g->pred[e].op;
	}
	s->cost = place_cost_of(s->t, s->place);
	s->left--;
}

static void set_place(search *s, const int *place)
{
	memset(s->nbytes, 0, sizeof(*s->nbytes) * (size_t)s->m->ndevices);
	for (int v = 0; v < s->g->nops; v++) {
		s->place[v] = place[v];
		s->nbytes[place[v]] += s->m->resident[v];
	}
}

/* Runs cycles from the best placement so far.  If two in a row gain nothing,
 * the next one starts with a kick (iterated local search; Lourenco, Martin,
 * Stutzle 2003). */
static void iterate(search *s, int *best)
{
	place_cost least = s->cost;
	for (int idle = 0; !ended(s);) {
		arena *work = arena_new();
		int64_t before = s->left;
		if (idle >= 2) {
			set_place(s, best);
			kick(s, work);
		}
		cycle(s);
		idle = place_cost_less(s->cost, least) ? 0 : idle + 1;
		if (!place_cost_less(least, s->cost)) {
			least = s->cost;
			memcpy(best, s->place,
			       sizeof(*best) * (size_t)s->g->nops);
		}
		arena_free(work);
		if (s->left == before && idle < 2)
			idle = 2;
	}
}

void place_improve(const place_task *t, int *place, int64_t bound,
		   int64_t *evaluations, uint64_t seed)
{
	arena *a = arena_new();
	int n = t->m->g->nops, k = t->m->ndevices;
	search s = { .t = t, .m = t->m, .g = t->m->g,
		     .place = ARENA_COPY(a, place, t->m->g->nops),
		     .cost = place_cost_of(t, place), .bound = bound,
		     .left = *evaluations - 1,
		     .random = seed * 0x9e3779b97f4a7c15u | 1,
		     .nbytes = ARENA_ARRAY(a, int64_t, k),
		     .group_nbytes = ARENA_ARRAY(a, int64_t, n),
		     .group_ns = ARENA_ARRAY(a, int64_t, n),
		     .order = ARENA_ARRAY(a, int, n),
		     .mate = ARENA_ARRAY(a, int, n),
		     .mark = ARENA_ARRAY(a, int, n),
		     .tie = ARENA_ARRAY(a, int64_t, n),
		     .near = ARENA_ARRAY(a, int, k) };
	set_place(&s, place);
	if (k > 1)
		iterate(&s, place);
	*evaluations = s.left;
	arena_free(a);
}

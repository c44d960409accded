#include "config.h"

#include "compiler/placement/slice.h"

#include <stdlib.h>

#include "base/vec.h"

typedef struct slicer {
	const machine *m;
	const cost_graph *g;
	int64_t *rank; /* longest path to the end without taken operators */
	bool *taken;
	int n; /* paths */
	int *of, *member, nmembers;
	VEC(int) first;
	arena *a;
} slicer;

static void measure(slicer *s)
{
	const cost_graph *g = s->g;
	for (int i = g->nops; i-- > 0;) {
		int v = g->order[i];
		int64_t most = 0;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			int c = g->succ[e].op;
			int64_t t = s->taken[c] ? 0 :
				    s->rank[c] +
					    place_mean_move(s->m,
							    g->succ[e].result);
			most = t > most ? t : most;
		}
		s->rank[v] = place_mean_ns(s->m, v) + most;
	}
}

static void walk(slicer *s, int v)
{
	const cost_graph *g = s->g;
	vec_push(s->a, &s->first, s->nmembers);
	while (v >= 0) {
		int next = -1;
		s->taken[v] = true;
		s->of[v] = s->n;
		s->member[s->nmembers++] = v;
		for (int e = g->first_succ[v]; e < g->first_succ[v + 1]; e++) {
			int c = g->succ[e].op;
			if (!s->taken[c] &&
			    (next < 0 || s->rank[c] > s->rank[next]))
				next = c;
		}
		v = next;
	}
	s->n++;
}

typedef struct ranked {
	int64_t rank;
	int op;
} ranked;

static int by_rank(const void *a, const void *b)
{
	const ranked *x = a, *y = b;
	if (x->rank != y->rank)
		return x->rank > y->rank ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static void walk_rest(slicer *s)
{
	ranked *list = ARENA_ARRAY(s->a, ranked, s->g->nops);
	measure(s);
	for (int v = 0; v < s->g->nops; v++)
		list[v] = (ranked){ s->rank[v], v };
	qsort(list, (size_t)s->g->nops, sizeof(*list), by_rank);
	for (int i = 0; i < s->g->nops; i++)
		if (!s->taken[list[i].op])
			walk(s, list[i].op);
}

place_slices place_slice(arena *a, const machine *m)
{
	int n = m->g->nops;
	slicer s = { .m = m, .g = m->g, .a = a,
		     .rank = ARENA_ARRAY(a, int64_t, n),
		     .taken = ARENA_ARRAY(a, bool, n),
		     .of = ARENA_ARRAY(a, int, n),
		     .member = ARENA_ARRAY(a, int, n) };
	for (int i = 0; i < m->ndevices && s.nmembers < n; i++) {
		int top = -1;
		measure(&s);
		for (int v = 0; v < n; v++)
			if (!s.taken[v] &&
			    (top < 0 || s.rank[v] > s.rank[top]))
				top = v;
		walk(&s, top);
	}
	walk_rest(&s);
	vec_push(a, &s.first, s.nmembers);
	return (place_slices){ s.n, s.of, s.first.at, s.member };
}

/* ---- mapping ------------------------------------------------------------- */

enum { MOMENTS = 2048 };

/* A tree of prefix sums (Fenwick 1994) of work by earliest begin. */
typedef struct timeline {
	int64_t sum[MOMENTS + 1];
} timeline;

typedef struct group {
	int64_t ns;    /* work */
	int from, to;  /* when it begins; when its first reader begins */
	int length;    /* operators */
	int device;    /* -1 */
} group;

typedef struct mapper {
	const machine *m;
	const cost_graph *g;
	const place_slices *s;
	int *moment; /* by operator */
	int *group_of; /* by path: parent in the forest of groups */
	group *groups; /* by path, for roots of the forest */
	timeline *work; /* by device; one more for all */
	int64_t *exchange; /* by path or device */
} mapper;

static void add_work(timeline *t, int moment, int64_t ns)
{
	for (int i = moment + 1; i <= MOMENTS; i += i & -i)
		t->sum[i] += ns;
}

/* The work that begins between two moments, inclusive. */
static int64_t work_between(const timeline *t, int from, int to)
{
	int64_t sum = 0;
	for (int i = to + 1; i > 0; i -= i & -i)
		sum += t->sum[i];
	for (int i = from; i > 0; i -= i & -i)
		sum -= t->sum[i];
	return sum;
}

static void find_moments(mapper *p, arena *a)
{
	const cost_graph *g = p->g;
	int64_t *begin = ARENA_ARRAY(a, int64_t, g->nops), last = 1;
	for (int i = 0; i < g->nops; i++) {
		int v = g->order[i];
		for (int e = g->first_pred[v]; e < g->first_pred[v + 1]; e++) {
			int u = g->pred[e].op;
			int64_t t = begin[u] + place_mean_ns(p->m, u);
			begin[v] = t > begin[v] ? t : begin[v];
		}
		last = begin[v] > last ? begin[v] : last;
	}
	for (int v = 0; v < g->nops; v++) {
		p->moment[v] = (int)((double)begin[v] / (double)last *
				     (MOMENTS - 1));
		add_work(&p->work[p->m->ndevices], p->moment[v],
			 place_mean_ns(p->m, v));
	}
}

static int group_of(mapper *p, int path)
{
	int *of = p->group_of;
	while (of[path] != path)
		path = of[path] = of[of[path]];
	return path;
}

static void measure_path(mapper *p, int i)
{
	const cost_graph *g = p->g;
	const int *beg = p->s->member + p->s->first[i];
	const int *end = p->s->member + p->s->first[i + 1];
	group *x = &p->groups[i];
	*x = (group){ .from = p->moment[*beg], .to = MOMENTS - 1,
		      .length = (int)(end - beg), .device = -1 };
	for (const int *v = beg; v < end; v++)
		x->ns += place_mean_ns(p->m, *v);
	for (int e = g->first_succ[end[-1]]; e < g->first_succ[end[-1] + 1];
	     e++)
		if (p->moment[g->succ[e].op] < x->to)
			x->to = p->moment[g->succ[e].op];
	x->to = x->to < x->from ? x->from : x->to;
}

/* The path with which path i exchanges most; -1 if there is none.  *most: the
 * time of all that i sends, or of all that it receives, whichever is longer. */
static int closest_path(mapper *p, int i, int64_t *most)
{
	const cost_graph *g = p->g;
	const place_slices *s = p->s;
	int64_t sum[2] = { 0, 0 };
	int best = -1;
	for (int clear = 0; clear < 2; clear++)
		for (int k = s->first[i]; k < s->first[i + 1]; k++)
			for (int side = 0; side < 2; side++) {
				int v = s->member[k];
				const int *first = side ? g->first_pred :
							  g->first_succ;
				const cost_edge *e = side ? g->pred : g->succ;
				for (int j = first[v]; j < first[v + 1]; j++) {
					int o = s->of[e[j].op];
					int64_t ns = place_mean_move(
						p->m, e[j].result);
					if (o == i || clear) {
						p->exchange[o] = 0;
						continue;
					}
					sum[side] += ns;
					p->exchange[o] += ns + 1;
					if (best < 0 || p->exchange[o] >
							    p->exchange[best])
						best = o;
				}
			}
	*most = sum[0] > sum[1] ? sum[0] : sum[1];
	return best;
}

/* Joins paths whose transfers cannot be hidden behind other work. */
static void join_paths(mapper *p)
{
	const timeline *all = &p->work[p->m->ndevices];
	for (int i = p->s->n; i-- > 0;) {
		group *x = &p->groups[i];
		int64_t most, hidden = work_between(all, x->from, x->to) -
				       x->ns;
		int o = closest_path(p, i, &most);
		if (o < 0 || (most < hidden && x->ns > 0))
			continue;
		int from = group_of(p, i), to = group_of(p, o);
		if (from == to)
			continue;
		group *y = &p->groups[to], *z = &p->groups[from];
		y->ns += z->ns;
		y->length += z->length;
		y->from = z->from < y->from ? z->from : y->from;
		y->to = z->to > y->to ? z->to : y->to;
		p->group_of[from] = to;
	}
}

typedef struct weighed {
	double weight;
	int group;
} weighed;

static int by_weight(const void *a, const void *b)
{
	const weighed *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight > y->weight ? -1 : 1;
	return (x->group > y->group) - (x->group < y->group);
}

static void put(mapper *p, const int *members, int n, int d, int *place)
{
	for (int i = 0; i < n; i++) {
		place[members[i]] = d;
		add_work(&p->work[d], p->moment[members[i]],
			 place_mean_ns(p->m, members[i]));
	}
}

/* The device with the least sum of simultaneous work and remaining transfers.
 * Ties go to the device with which the group exchanges most. */
static int least_device(mapper *p, const group *x, const int *members, int n,
			const int *place)
{
	const cost_graph *g = p->g;
	int best = 0, k = p->m->ndevices;
	int64_t least = INT64_MAX;
	for (int d = 0; d < k; d++)
		p->exchange[d] = 0;
	for (int i = 0; i < n; i++)
		for (int side = 0; side < 2; side++) {
			int v = members[i];
			const int *first = side ? g->first_pred :
						  g->first_succ;
			const cost_edge *e = side ? g->pred : g->succ;
			for (int j = first[v]; j < first[v + 1]; j++)
				if (place[e[j].op] >= 0)
					p->exchange[place[e[j].op]] +=
						place_mean_move(p->m,
								e[j].result);
		}
	for (int d = 0; d < k; d++) {
		int64_t cost = work_between(&p->work[d], x->from, x->to) -
			       p->exchange[d];
		if (cost < least || (cost == least &&
				     p->exchange[d] > p->exchange[best])) {
			least = cost;
			best = d;
		}
	}
	return best;
}

/* Lists the members of groups like those of paths. */
static int *list_groups(mapper *p, arena *a, int **first_of)
{
	const place_slices *s = p->s;
	int n = p->g->nops, *first = ARENA_ARRAY(a, int, s->n + 2);
	int *list = ARENA_ARRAY(a, int, n);
	for (int v = 0; v < n; v++)
		first[group_of(p, s->of[v]) + 2]++;
	for (int i = 0; i < s->n; i++)
		first[i + 2] += first[i + 1];
	for (int i = 0; i < n; i++) {
		int v = p->g->order[i];
		list[first[group_of(p, s->of[v]) + 1]++] = v;
	}
	*first_of = first;
	return list;
}

static void map_groups(mapper *p, arena *a, int *place)
{
	int *first, *list = list_groups(p, a, &first), n = 0;
	weighed *order = ARENA_ARRAY(a, weighed, p->s->n);
	double heaviest = 1, longest = 1;
	for (int i = 0; i < p->s->n; i++) {
		const group *x = &p->groups[i];
		if (p->group_of[i] != i)
			continue;
		heaviest = (double)x->ns > heaviest ? (double)x->ns : heaviest;
		longest = x->length > longest ? x->length : longest;
		order[n++] = (weighed){ (double)x->ns, i };
	}
	qsort(order, (size_t)n, sizeof(*order), by_weight);
	for (int i = p->m->ndevices; i < n; i++) {
		const group *x = &p->groups[order[i].group];
		order[i].weight = (double)x->ns / heaviest +
				  (double)x->length / longest +
				  (double)x->ns / heaviest /
					  (1 + x->to - x->from);
	}
	if (n > p->m->ndevices)
		qsort(order + p->m->ndevices, (size_t)(n - p->m->ndevices),
		      sizeof(*order), by_weight);
	for (int i = 0; i < n; i++) {
		int o = order[i].group;
		const int *members = list + first[o];
		int count = first[o + 1] - first[o];
		int d = i < p->m->ndevices ? i :
					     least_device(p, &p->groups[o],
							  members, count,
							  place);
		put(p, members, count, d, place);
	}
}

void place_map_slices(const machine *m, const place_slices *s, int *place)
{
	arena *a = arena_new();
	int most = s->n > m->ndevices ? s->n : m->ndevices;
	mapper p = { .m = m, .g = m->g, .s = s,
		     .moment = ARENA_ARRAY(a, int, m->g->nops),
		     .group_of = ARENA_ARRAY(a, int, s->n),
		     .groups = ARENA_ARRAY(a, group, s->n),
		     .work = ARENA_ARRAY(a, timeline, m->ndevices + 1),
		     .exchange = ARENA_ARRAY(a, int64_t, most) };
	for (int v = 0; v < m->g->nops; v++)
		place[v] = -1;
	find_moments(&p, a);
	for (int i = 0; i < s->n; i++) {
		p.group_of[i] = i;
		measure_path(&p, i);
	}
	join_paths(&p);
	map_groups(&p, a, place);
	arena_free(a);
}

/* Branch and bound: a variable is given its most promising value, or else loses
 * that value.  Before branching, a node improves its bound by message passing
 * that starts from its parent's messages, so that little search remains.  Nodes
 * do not share costs; they work on copies. */
#include "config.h"

#include "compiler/solver/branch.h"

#include <string.h>

#include "compiler/solver/messages.h"

enum {
	MAX_CELLS = 1 << 22, /* in all copies */
	MAX_SWEEPS = 20,     /* in the first node; each must .. */
	/* .. close this fraction of the gap; other nodes have one */
	GAIN = 8,
	SLICE = 64,	     /* nodes between two looks at the clock, .. */
	MANY_CELLS = 100000, /* .. unless each takes long */
};

/* The search ends before moved costs exceed this. */
#define FAR ((int64_t)1 << 58)

typedef struct brancher {
	messages r;
	int64_t ncosts, nmoved; /* of all variables; of all tables */
	int64_t *costs, *moved;
	int64_t **copies; /* copies of both, by depth */
	int **nlive;	  /* copies of the numbers of remaining values */
	int64_t cells;	 /* in all tables */
	int64_t *steps;
	int64_t open; /* least bound of what was given up, in units */
	deadline deadline;
	int nnodes;
	bool stops;
} brancher;

static int64_t state_size(const problem *p)
{
	int64_t n = 0;
	for (int v = 0; v < p->vars.n; v++)
		n += p->vars.at[v].nvalues;
	for (int i = 0; i < p->tables.n; i++)
		n += p->vars.at[p->tables.at[i].x].nvalues +
		     p->vars.at[p->tables.at[i].y].nvalues;
	return n;
}

bool branch_fits(const problem *p)
{
	return p->top <= CAP &&
	       cost_mul(state_size(p), p->vars.n) <= MAX_CELLS;
}

/* ---- costs that move --------------------------------------------------- */

/* The number of links of v, among first .. end - 1, whose other end is not
 * settled. */
static int count_open(const messages *r, const msg_var *v, int first, int end)
{
	int n = 0;
	for (int i = first; i < end; i++)
		n += !r->nodes[v->links[i].other].settled;
	return n;
}

/* v gives costs to the variables after it, holding back what it will give on
 * the way back, and takes the value that is best for these. */
static bool visit(messages *r, int v, bool forward)
{
	msg_var *o = &r->nodes[v];
	if (!messages_prune(r, v))
		return false;
	int first = forward ? o->nbefore : 0;
	int end = forward ? o->nlinks : o->nbefore;
	if (!forward)
		messages_choose(r, v, o->nbefore, o->nlinks);
	int to = count_open(r, o, first, end);
	int from = count_open(r, o, 0, o->nlinks) - to;
	if (to == 0)
		return true;
	int share = to > from ? to : from;
	double part = share > 1 ? (1 - 0x1p-50) / share : 1;
	minplus_share(r->give, o->cost, o->n, part, to, GONE);
	for (int i = first; i < end; i++)
		if (!r->nodes[o->links[i].other].settled)
			messages_send(r, o, &o->links[i]);
	return true;
}

/* Visits all variables forward and back; false if nothing better remains. */
static bool sweep(brancher *b)
{
	messages *r = &b->r;
	for (int i = 0; i < 2 * r->n; i++) {
		int v = r->order[i < r->n ? i : 2 * r->n - 1 - i];
		if (!r->nodes[v].settled && !visit(r, v, i < r->n))
			return false;
	}
	*b->steps -= b->cells;
	messages_keep_best(r);
	return r->bound < r->limit;
}

/* ---- nodes ------------------------------------------------------------- */

/* The cost that remains in the table of v and u for their choices. */
static int64_t left_of(const messages *r, const msg_var *v, const msg_link *l,
		       int x, int y)
{
	const msg_var *u = &r->nodes[l->other];
	int64_t at = l->side ? (int64_t)y * v->n + x : (int64_t)x * u->n + y;
	return minplus_scaled(l->e->cost[at], r->scale) -
	       l->e->moved[l->side][x] - l->e->moved[!l->side][y];
}

/* The variable whose choice costs most: that is where the gap is. */
static int most_open(const messages *r)
{
	double most = -1;
	int best = -1;
	for (int v = 0; v < r->n; v++) {
		const msg_var *o = &r->nodes[v];
		if (o->settled || o->nlive < 2)
			continue;
		double sum = (double)o->cost[o->choice];
		for (int i = 0; i < o->nlinks; i++) {
			const msg_var *u = &r->nodes[o->links[i].other];
			if (!u->settled)
				sum += (double)left_of(r, o, &o->links[i],
						       o->choice, u->choice);
		}
		sum /= o->nlive;
		if (sum > most) {
			most = sum;
			best = v;
		}
	}
	return best;
}

/* Gives v the value x. */
static void settle(messages *r, int v, int x)
{
	msg_var *o = &r->nodes[v];
	r->bound += o->cost[x];
	r->live -= o->nlive - 1;
	o->settled = true;
	r->value[v] = o->value ? o->value[x] : x;
	for (int i = 0; i < o->nlinks; i++) {
		msg_var *u = &r->nodes[o->links[i].other];
		for (int y = 0; !u->settled && y < u->n; y++)
			u->cost[y] = least(u->cost[y] +
					   left_of(r, o, &o->links[i], x, y),
					   GONE);
	}
}

static void save(brancher *b, int depth)
{
	if (!b->copies[depth]) {
		b->copies[depth] = ARENA_ARRAY(b->r.tmp, int64_t,
					       b->ncosts + b->nmoved);
		b->nlive[depth] = ARENA_ARRAY(b->r.tmp, int, b->r.n);
	}
	int64_t *to = b->copies[depth];
	memcpy(to, b->costs, (size_t)b->ncosts * sizeof(*to));
	memcpy(to + b->ncosts, b->moved, (size_t)b->nmoved * sizeof(*to));
	for (int v = 0; v < b->r.n; v++)
		b->nlive[depth][v] = b->r.nodes[v].nlive;
}

/* Whether costs have moved very far in one direction, which has not been
 * observed but is not ruled out. */
static bool moved_far(const brancher *b)
{
	int64_t bits = 0;
	for (int64_t i = 0; i < b->nmoved; i++)
		bits |= b->moved[i] ^ (b->moved[i] >> 63);
	return bits >= FAR;
}

static void restore(brancher *b, int depth)
{
	const int64_t *from = b->copies[depth];
	memcpy(b->costs, from, (size_t)b->ncosts * sizeof(*from));
	memcpy(b->moved, from + b->ncosts,
	       (size_t)b->nmoved * sizeof(*from));
	for (int v = 0; v < b->r.n; v++)
		b->r.nodes[v].nlive = b->nlive[depth][v];
}

/* Whether the search ends here.  Between two looks at what was moved, at most 4
 * SLICE CAP are added. */
static bool is_spent(brancher *b)
{
	bool looks = ++b->nnodes % SLICE == 0;
	if (b->stops || *b->steps <= 0)
		return true;
	if (looks || b->cells > MANY_CELLS)
		b->stops = deadline_is_over(b->deadline);
	return b->stops || (looks && moved_far(b));
}

/* Moves costs as long as that closes a good part of the gap; false if nothing
 * better remains. */
static bool begin(brancher *b)
{
	for (int i = 0; i < MAX_SWEEPS; i++) {
		int64_t gap = b->r.limit - b->r.bound;
		if (gap <= 0 || !sweep(b))
			return false;
		if (b->r.limit - b->r.bound > gap - gap / GAIN || is_spent(b))
			break;
	}
	return true;
}

/* Finds everything better than the best, using the remaining values. */
static void search(brancher *b, int depth)
{
	messages *r = &b->r;
	while (r->bound < r->limit) {
		if (is_spent(b)) {
			b->open = least(b->open, r->bound);
			return;
		}
		if (!sweep(b))
			return;
		int v = most_open(r);
		if (v < 0)
			return;
		int x = r->nodes[v].choice;
		int64_t bound = r->bound;
		save(b, depth);
		settle(r, v, x);
		search(b, depth + 1);
		restore(b, depth);
		r->nodes[v].settled = false;
		r->bound = bound;
		r->nodes[v].cost[x] = GONE;
		r->nodes[v].nlive--;
	}
}

solution branch(arena *a, const problem *p, int64_t *steps, deadline end)
{
	arena *tmp = arena_new();
	brancher b = { .r = messages_new(a, tmp, p), .steps = steps,
		       .open = INT64_MAX, .deadline = end };
	messages *r = &b.r;
	for (int v = 0; v < r->n; v++)
		b.ncosts += r->nodes[v].n;
	b.nmoved = state_size(p) - b.ncosts;
	for (int i = 0; i < p->tables.n; i++)
		b.cells += (int64_t)r->nodes[r->edges[i].var[0]].n *
			   r->nodes[r->edges[i].var[1]].n;
	b.costs = r->n ? r->nodes[0].cost : NULL;
	b.moved = p->tables.n ? r->edges[0].moved[0] : NULL;
	b.copies = ARENA_ARRAY(tmp, int64_t *, r->n);
	b.nlive = ARENA_ARRAY(tmp, int *, r->n);
	if (begin(&b))
		search(&b, 0);
	int64_t bound = least(b.open, r->limit);
	solution s = { .value = r->best,
		       .cost = r->best_cost,
		       .lower_bound = r->best_cost };
	if (bound < r->limit)
		s.lower_bound = least(messages_round_up(r, bound), s.cost);
	s.cost = problem_cost(p, s.value);
	s.optimal = s.cost == s.lower_bound;
	arena_free(tmp);
	return s;
}

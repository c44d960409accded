#include "config.h"

#include "compiler/solver/message_passing.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/solver/messages.h"

enum {
	MAX_SHIFT = 16,
	MAX_PASSES = 200, /* forward or backward */
	MAX_IDLE = 3,	  /* consecutive passes that gain too little */
	/* values in excess of the one that each variable keeps */
	FEW_LEFT = 8,
	MAX_POLISH = 4,	  /* rounds of polish() */
	FEW = 5,	  /* for so few values calls of minplus cost too much */
	SOME = 8,	  /* values of a variable that are averaged */
	/* the gap, relative to average differences between the values of a
	 * variable */
	HOPELESS = 2,
};

/* ---- set-up ------------------------------------------------------------ */

static void make_edges(messages *r)
{
	const problem *p = r->p;
	msg_link *links =
		ARENA_ARRAY(r->tmp, msg_link, 2 * (size_t)p->tables.n);
	int64_t nmoved = 0;
	for (int i = 0; i < p->tables.n; i++) {
		msg_var *x = &r->nodes[p->tables.at[i].x];
		msg_var *y = &r->nodes[p->tables.at[i].y];
		nmoved += x->n + y->n;
		x->nlinks++;
		y->nlinks++;
	}
	int64_t *moved = ARENA_ARRAY(r->tmp, int64_t, nmoved);
	for (int v = 0; v < r->n; v++) {
		r->nodes[v].links = links;
		links += r->nodes[v].nlinks;
		r->nodes[v].nlinks = 0;
	}
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		msg_table *e = &r->edges[i];
		*e = (msg_table){ .var = { t->x, t->y }, .cost = t->cost };
		for (int side = 0; side < 2; side++) {
			msg_var *o = &r->nodes[e->var[side]];
			e->moved[side] = moved;
			moved += o->n;
			o->links[o->nlinks++] =
				(msg_link){ e->var[!side], e, side };
		}
	}
}

/* Orders breadth first, so that neighbours are close whatever their numbers. */
static void order_by_breadth(messages *r)
{
	int n = 0;
	for (int v = 0; v < r->n; v++)
		r->nodes[v].place = -1;
	for (int v = 0, head = 0; v < r->n; v++) {
		if (r->nodes[v].place < 0) {
			r->nodes[v].place = n;
			r->order[n++] = v;
		}
		for (; head < n; head++) {
			const msg_var *o = &r->nodes[r->order[head]];
			for (int i = 0; i < o->nlinks; i++) {
				msg_var *u = &r->nodes[o->links[i].other];
				if (u->place >= 0)
					continue;
				u->place = n;
				r->order[n++] = o->links[i].other;
			}
		}
	}
}

/* Orders by number if numbers follow the flow of data, or keep neighbours as
 * close as a breadth-first order does; else breadth first. */
static void make_order(messages *r)
{
	int64_t by_number = 0, by_breadth = 0;
	r->order = ARENA_ARRAY(r->tmp, int, r->n);
	if (!r->p->along_flow)
		order_by_breadth(r);
	for (int i = 0; i < r->p->tables.n && !r->p->along_flow; i++) {
		const int *v = r->edges[i].var;
		by_number += abs(v[0] - v[1]);
		by_breadth += abs(r->nodes[v[0]].place - r->nodes[v[1]].place);
	}
	for (int v = 0; v < r->n && by_number <= by_breadth; v++)
		r->order[r->nodes[v].place = v] = v;
}

/* Puts links to variables before v first. */
static void sort_links(messages *r, int v)
{
	msg_var *o = &r->nodes[v];
	for (int i = 0; i < o->nlinks; i++) {
		msg_link l = o->links[i];
		if (r->nodes[l.other].place > o->place)
			continue;
		o->links[i] = o->links[o->nbefore];
		o->links[o->nbefore++] = l;
	}
}

/* Sets the best cost; a better assignment costs at least one unit less. */
static void set_best(messages *r, int64_t cost)
{
	int64_t better = (cost - 1) / r->p->unit * r->p->unit;
	r->best_cost = cost;
	r->limit = cost > 0 ? (better << r->scale.shift) + 1 : 0;
}

/* Sets the scale, from the cost of a first assignment if the top is too
 * high. */
static void set_scale(messages *r)
{
	int64_t most = r->p->top;
	if (most > CAP)
		most = least(most, problem_cost(r->p, r->best));
	while (r->scale.shift < MAX_SHIFT &&
	       most << (r->scale.shift + 1) <= CAP)
		r->scale.shift++;
	r->scale.cap = CAP >> r->scale.shift;
	set_best(r, most);
}

messages messages_new(arena *a, arena *tmp, const problem *p)
{
	messages r = { .a = a, .tmp = tmp, .p = p, .n = p->vars.n };
	r.nodes = ARENA_ARRAY(tmp, msg_var, r.n);
	r.edges = ARENA_ARRAY(tmp, msg_table, p->tables.n);
	r.value = ARENA_ARRAY(tmp, int, r.n);
	r.best = ARENA_ARRAY(a, int, r.n);
	set_scale(&r);
	int most = 1;
	for (int v = 0; v < r.n; v++)
		r.live += p->vars.at[v].nvalues;
	int64_t *cost = ARENA_ARRAY(tmp, int64_t, r.live);
	for (int v = 0; v < r.n; v++) {
		msg_var *o = &r.nodes[v];
		o->n = o->nlive = p->vars.at[v].nvalues;
		most = o->n > most ? o->n : most;
		o->cost = cost;
		cost += o->n;
		for (int x = 0; x < o->n; x++)
			o->cost[x] = minplus_scaled(p->vars.at[v].cost[x],
						    r.scale);
	}
	r.own = ARENA_ARRAY(tmp, int64_t, most);
	r.new = ARENA_ARRAY(tmp, int64_t, most);
	r.give = ARENA_ARRAY(tmp, int64_t, most);
	make_edges(&r);
	make_order(&r);
	for (int v = 0; v < r.n; v++)
		sort_links(&r, v);
	r.bound = p->constant < r.best_cost ?
			  p->constant << r.scale.shift : r.limit;
	return r;
}

/* ---- removal of values ------------------------------------------------- */

/* The table of e restricted to n values, kept[], of one side's variable. */
static const int64_t *narrow_table(const messages *r, const msg_table *e,
				   int side, const int *kept, int n)
{
	int64_t nother = r->nodes[e->var[!side]].n;
	int64_t width = r->nodes[e->var[side]].n;
	int64_t *to = ARENA_ARRAY(r->tmp, int64_t, n * nother), *at = to;
	if (side == 0) {
		for (int i = 0; i < n; i++, at += nother)
			memcpy(at, e->cost + kept[i] * nother,
			       (size_t)nother * sizeof(*at));
		return to;
	}
	const int64_t *row = e->cost;
	for (int64_t x = 0; x < nother; x++, row += width, at += n)
		for (int i = 0; i < n; i++)
			at[i] = row[kept[i]];
	return to;
}

/* Removes the deleted values of v from its arrays once they are three quarters
 * of all. */
static void compact(messages *r, int v)
{
	msg_var *o = &r->nodes[v];
	if (4 * o->nlive > o->n)
		return;
	int n = 0, *value = ARENA_ARRAY(r->tmp, int, o->nlive);
	for (int x = 0; x < o->n; x++)
		if (o->cost[x] < GONE)
			value[n++] = x;
	for (int i = 0; i < o->nlinks; i++) {
		msg_table *e = o->links[i].e;
		int64_t *moved = e->moved[o->links[i].side];
		e->cost = narrow_table(r, e, o->links[i].side, value, n);
		for (int k = 0; k < n; k++)
			moved[k] = moved[value[k]];
	}
	for (int k = 0; k < n; k++) {
		o->cost[k] = o->cost[value[k]];
		value[k] = value_at(o, value[k]);
	}
	o->value = value;
	o->n = n;
}

/* The average cost of some of the values. */
static double spread_of(const msg_var *o)
{
	const int step = o->n / SOME + 1;
	double sum = 0;
	for (int x = 0; x < o->n; x += step)
		sum += (double)o->cost[x];
	return sum / ((o->n - 1) / step + 1);
}

bool messages_prune(messages *r, int v)
{
	msg_var *o = &r->nodes[v];
	int64_t m = least(minplus_least(o->cost, o->n), r->limit - r->bound);
	r->bound += m;
	int nlive = (int)minplus_prune(o->cost, o->n, m, r->limit - r->bound,
				       CAP, GONE);
	r->spread += spread_of(o);
	r->live += nlive - o->nlive;
	o->nlive = nlive;
	return nlive > 0;
}

/* ---- messages ---------------------------------------------------------- */

/* messages_send() for few values, where calls of minplus would cost more than
 * their work. */
static void send_few(messages *r, msg_var *o, const msg_link *l)
{
	const msg_table *e = l->e;
	msg_var *to = &r->nodes[l->other];
	int64_t *moved = e->moved[l->side], *other = e->moved[!l->side];
	int step = l->side ? 1 : to->n, across = l->side ? o->n : 1;
	for (int x = 0; x < o->n; x++) {
		bool gone = o->cost[x] >= GONE;
		moved[x] -= gone ? 0 : r->give[x];
		r->own[x] = gone ? GONE : -moved[x];
	}
	for (int y = 0; y < to->n; y++) {
		const int64_t *c = e->cost + y * across;
		int64_t m = GONE;
		for (int x = 0; x < o->n; x++)
			m = least(m, r->own[x] +
				  minplus_scaled(c[x * step], r->scale));
		to->cost[y] = least(to->cost[y] + m - other[y], GONE);
		other[y] = m;
	}
}

void messages_send(messages *r, msg_var *o, const msg_link *l)
{
	msg_table *e = l->e;
	msg_var *to = &r->nodes[l->other];
	int64_t *moved = e->moved[l->side], *other = e->moved[!l->side];
	if (o->n <= FEW && to->n <= FEW) {
		send_few(r, o, l);
		return;
	}
	minplus_give(moved, r->own, r->give, o->cost, o->n, GONE);
	if (l->side == 0)
		minplus_columns(r->new, e->cost, o->n, to->n, r->own,
				r->scale);
	else
		minplus_rows(r->new, e->cost, to->n, o->n, r->own, r->scale);
	minplus_take(to->cost, other, r->new, to->n, GONE);
}

void messages_choose(messages *r, int v, int first, int end)
{
	msg_var *o = &r->nodes[v];
	memcpy(r->own, o->cost, (size_t)o->n * sizeof(*r->own));
	for (int i = first; i < end; i++) {
		const msg_link *l = &o->links[i];
		const msg_var *u = &r->nodes[l->other];
		const int64_t *moved = l->e->moved[l->side];
		if (u->settled)
			continue;
		int64_t step = l->side ? 1 : u->n;
		const int64_t *c = l->e->cost +
				   u->choice * (l->side ? o->n : 1);
		minplus_choose(r->own, c, step, moved, o->n, r->scale, GONE);
	}
	int best = -1;
	for (int x = 0; x < o->n; x++)
		if (o->cost[x] < GONE && (best < 0 || r->own[x] < r->own[best]))
			best = x;
	o->choice = best;
	r->value[v] = value_at(o, best);
}

/* One variable's turn in a pass; false if the best assignment is proven
 * optimal.  The variable sends all of its costs in the direction of the pass,
 * which is fast but may converge below the best bound; or it holds back a share
 * for the pass in the other direction, as in TRW-S. */
static bool visit(messages *r, int v, bool forward)
{
	msg_var *o = &r->nodes[v];
	if (!messages_prune(r, v))
		return false;
	compact(r, v);
	if (r->chooses)
		messages_choose(r, v, forward ? 0 : o->nbefore,
		       forward ? o->nbefore : o->nlinks);
	int first = forward ? o->nbefore : 0;
	int end = forward ? o->nlinks : o->nbefore;
	if (first == end)
		return true;
	int share = end - first;
	if (r->holds_back && share < o->nlinks - share)
		share = o->nlinks - share;
	double part = share > 1 ? (1 - 0x1p-50) / share : 1;
	minplus_share(r->give, o->cost, o->n, part, end - first, GONE);
	for (int i = first; i < end; i++)
		messages_send(r, o, &o->links[i]);
	return true;
}

/* Gives each variable the best value given all others, until nothing changes;
 * skips variables none of whose neighbours has changed.  Returns whether
 * anything has changed. */
static bool polish(messages *r)
{
	bool better = false, again = true;
	for (int v = 0; v < r->n; v++)
		r->nodes[v].stale = true;
	for (int i = 0; i < MAX_POLISH && again; i++) {
		again = false;
		for (int k = 0; k < r->n; k++) {
			msg_var *o = &r->nodes[r->order[k]];
			int was = o->choice;
			if (!o->stale)
				continue;
			messages_choose(r, r->order[k], 0, o->nlinks);
			o->stale = false;
			if (o->choice == was)
				continue;
			again = better = true;
			for (int l = 0; l < o->nlinks; l++)
				r->nodes[o->links[l].other].stale = true;
		}
	}
	return better;
}

void messages_keep_best(messages *r)
{
	int64_t cost = problem_cost(r->p, r->value);
	if (cost >= r->best_cost)
		return;
	set_best(r, cost);
	memcpy(r->best, r->value, (size_t)r->n * sizeof(*r->best));
}

/* Whether the last pass in this direction has produced a new assignment.  An
 * old one has been polished already. */
static bool is_new(messages *r, bool forward)
{
	size_t nbytes = (size_t)r->n * sizeof(*r->value);
	int **had = &r->chosen[forward];
	bool same = *had && !memcmp(*had, r->value, nbytes);
	if (!*had)
		*had = ARENA_ARRAY(r->tmp, int, r->n);
	memcpy(*had, r->value, nbytes);
	return !same;
}

/* Visits all variables in order, or in reverse. */
static bool pass(messages *r, bool forward)
{
	r->spread = 0;
	for (int i = 0; i < r->n; i++)
		if (!visit(r, r->order[forward ? i : r->n - 1 - i], forward))
			return false;
	if (r->chooses)
		messages_keep_best(r);
	if (r->chooses && r->bound < r->limit && is_new(r, forward) &&
	    polish(r))
		messages_keep_best(r);
	return r->bound < r->limit;
}

/* ---- results ----------------------------------------------------------- */

/* The costs of a table for the remaining values: the original ones, or those
 * after moves. */
static const int64_t *rest_table(const messages *r, const msg_table *e,
				 bool moved)
{
	const msg_var *x = &r->nodes[e->var[0]], *y = &r->nodes[e->var[1]];
	int64_t *to = ARENA_ARRAY(r->a, int64_t, (int64_t)x->nlive * y->nlive);
	int64_t *at = to;
	for (int i = 0; i < x->n; i++) {
		const int64_t *row = e->cost + (int64_t)i * y->n;
		int64_t off = moved ? e->moved[0][i] : 0;
		for (int j = 0; j < y->n && x->cost[i] < GONE; j++)
			if (y->cost[j] < GONE)
				*at++ = moved ? minplus_scaled(row[j],
							       r->scale) -
						off - e->moved[1][j] :
						row[j];
	}
	return to;
}

/* The remaining problem.  If costs were moved, those above CAP are not exact,
 * but no assignment below CAP has one. */
static problem *rest_problem(const messages *r, bool moved)
{
	problem *q = problem_new(r->a);
	q->along_flow = r->p->along_flow;
	q->constant = moved ? r->bound : r->p->constant;
	q->top = moved ? r->limit : r->best_cost;
	/* The unit after scaling; 1 if that is too large. */
	int shift = moved ? r->scale.shift : 0;
	q->unit = r->p->unit <= COST_MAX >> shift ? r->p->unit << shift : 1;
	for (int v = 0; v < r->n; v++) {
		const msg_var *o = &r->nodes[v];
		const int64_t *cost = r->p->vars.at[v].cost;
		problem_add_var(q, o->nlive);
		for (int x = 0, i = 0; x < o->n; x++)
			if (o->cost[x] < GONE)
				problem_add_cost(q, v, i++,
						 moved ? o->cost[x] :
							 cost[value_at(o, x)]);
	}
	for (int i = 0; i < r->p->tables.n; i++) {
		const msg_table *e = &r->edges[i];
		problem_add_table(q, e->var[0], e->var[1],
				  rest_table(r, e, moved));
	}
	return q;
}

int64_t messages_round_up(const messages *r, int64_t bound)
{
	int64_t round_up = ((int64_t)1 << r->scale.shift) - 1;
	int64_t unit = r->p->unit, whole = (bound + round_up) >> r->scale.shift;
	return (whole + unit - 1) / unit * unit;
}

static reduction result_of(messages *r, bool open, bool hopeless)
{
	int64_t bound = messages_round_up(r, r->bound);
	bool moved = r->best_cost <= r->scale.cap;
	reduction s = { r->best, r->best_cost, open ? bound : r->best_cost };
	if (hopeless)
		return s;
	s.nvalues = ARENA_ARRAY(r->a, int, r->n);
	s.values = ARENA_ARRAY(r->a, int *, r->n);
	for (int v = 0; open && v < r->n; v++) {
		const msg_var *o = &r->nodes[v];
		s.values[v] = ARENA_ARRAY(r->a, int, o->nlive);
		for (int x = 0; x < o->n; x++)
			if (o->cost[x] < GONE)
				s.values[v][s.nvalues[v]++] = value_at(o, x);
	}
	s.rest = open ? rest_problem(r, moved) : NULL;
	s.shift = moved ? r->scale.shift : 0;
	return s;
}
/* ---- the loop ---------------------------------------------------------- */

/* The state of convergence.  Passes continue while they reduce the gap or the
 * number of values by enough. */
typedef struct progress {
	int64_t gap, live;
	int idle;
} progress;

/* Whether enough values remain for more passes to be worth their time. */
static bool many_left(const messages *r)
{
	return r->live - r->n > FEW_LEFT + r->n / 16;
}

/* Whether, after the first two passes, the gap is so large that hardly any
 * value will be removed soon. */
static bool is_hopeless(const messages *r)
{
	return HOPELESS * (double)(r->limit - r->bound) > r->spread / r->n;
}

static bool goes_on(const messages *r, progress *before, bool glance)
{
	int64_t gap = r->limit - r->bound;
	bool moves = gap < before->gap - before->gap / (glance ? 2 : 32) ||
		     r->live < before->live - (before->live - r->n) / 16;
	*before = (progress){ gap, r->live, moves ? 0 : before->idle + 1 };
	return before->idle < (glance ? 1 : MAX_IDLE) && many_left(r);
}

/* Runs passes as long as they are worth it.  Returns whether an assignment
 * below the limit may remain. */
static bool run_passes(messages *r, deadline end, bool glance, bool *hopeless)
{
	bool open = r->bound < r->limit;
	progress before = { INT64_MAX, INT64_MAX, 0 };
	*hopeless = false;
	for (int i = 0; open && i < MAX_PASSES; i++) {
		r->chooses = i > 0;
		open = pass(r, i % 2 == 0);
		if (open && glance && i == 1 && is_hopeless(r)) {
			*hopeless = true;
			break;
		}
		if (open && !goes_on(r, &before, glance)) {
			if (glance || r->holds_back || !many_left(r))
				break;
			r->holds_back = true;
			before.idle = 0;
		}
		if (i > 0 && deadline_is_over(end))
			break;
	}
	return open;
}

reduction message_passing(arena *a, const problem *p, deadline end,
			  bool glance)
{
	arena *tmp = arena_new();
	messages r = messages_new(a, tmp, p);
	bool hopeless, open = run_passes(&r, end, glance, &hopeless);
	reduction s = result_of(&r, open, hopeless);
	arena_free(tmp);
	return s;
}

glance_outlook message_glance(const problem *p, deadline end)
{
	arena *tmp = arena_new();
	messages r = messages_new(tmp, tmp, p);
	bool hopeless, open = run_passes(&r, end, true, &hopeless);
	bool found = r.best_cost < p->top;
	arena_free(tmp);
	return hopeless	     ? GLANCE_HOPELESS :
	       open || found ? GLANCE_OPEN :
			       GLANCE_NOTHING;
}

/* Branch and bound, for what is too dense to eliminate.
 *
 * The bound: costs are moved between a variable and its tables, which changes
 * no assignment's total, so that the sum of the least costs of all variables
 * grows (the sequential message passing of TRW-S; Kolmogorov, IEEE PAMI 28,
 * 2006, in whole numbers).  The search is depth first; a partial assignment
 * is bounded by what it costs and the least costs of all free variables, the
 * rows of their tables with what is assigned included. */
#include "config.h"

#include <string.h>
#include <time.h>

#include "compiler/search/solve.h"

enum {
	MAX_PASSES = 200, /* of messages, there and back */
	IDLE_PASSES = 10, /* without a better bound, then it is enough */
	MAX_ROUNDS = 6,	  /* of improving an assignment */
	MAX_CELLS = 1 << 28, /* of tables that all passes look at */
	LOOK_AT_CLOCK = 256, /* after so many nodes */
};

/* Costs pile up to here, so that no sum of two overflows. More than COST_MAX:
 * who pays it is not better than anything. */
#define PILE ((int64_t)1 << 61)

/* Sums of piles. */
typedef __int128 wide;

/* A table as seen from one of its two variables. */
typedef struct side {
	int other, nother;
	int64_t *cost;
	int64_t step, other_step; /* between values, in cost[] */
} side;

typedef VEC(side) side_vec;

/* A variable that is being assigned, values[0..next) were tried: in ascending
 * order of cost, and so is the next one. */
typedef struct frame {
	int var, next;
	int *values;
	wide spent; /* by the variables above */
	wide rest;  /* the least costs of all variables below */
	int mark;   /* of the trail */
} frame;

/* What a variable's costs were before they grew. */
typedef struct change {
	int var;
	int64_t *cost;
	int64_t least, second;
} change;

typedef struct branch {
	arena *tmp;
	const problem *p;
	int n;
	int *nvalues;
	int64_t **cost; /* per variable and value */
	side_vec *sides;
	wide constant; /* taken out of all costs */
	int64_t *give, *moved; /* work space, per value */
	int *best;
	int64_t best_cost;
	int *value;		 /* of the search; -1 is free */
	int64_t *least, *second; /* of cost[] of the free variables */
	wide rest;		 /* sum of least[] of the free variables */
	VEC(change) trail;
	int64_t *saved; /* costs on the trail */
	size_t nsaved;
	int **values; /* of a variable that is being assigned, the next first */
	int64_t steps; /* left to take */
	double deadline;
} branch;

static inline int64_t pile(int64_t x, int64_t y)
{
	return x + y < PILE ? x + y : PILE;
}

static inline int64_t min64(int64_t x, int64_t y)
{
	return x < y ? x : y;
}

/* ---- set-up ------------------------------------------------------------ */

static void add_sides(branch *b, const problem_table *t)
{
	int64_t nx = b->nvalues[t->x], ny = b->nvalues[t->y];
	int64_t *cost = ARENA_COPY(b->tmp, t->cost, nx * ny);
	side of_x = { t->y, (int)ny, cost, ny, 1 };
	side of_y = { t->x, (int)nx, cost, 1, ny };
	vec_push(b->tmp, &b->sides[t->x], of_x);
	vec_push(b->tmp, &b->sides[t->y], of_y);
}

static branch start(arena *a, arena *tmp, const problem *p)
{
	branch b = { .tmp = tmp, .p = p, .n = p->vars.n };
	b.nvalues = ARENA_ARRAY(tmp, int, b.n);
	b.cost = ARENA_ARRAY(tmp, int64_t *, b.n);
	b.sides = ARENA_ARRAY(tmp, side_vec, b.n);
	b.best = ARENA_ARRAY(a, int, b.n);
	b.value = ARENA_ARRAY(tmp, int, b.n);
	b.least = ARENA_ARRAY(tmp, int64_t, b.n);
	b.second = ARENA_ARRAY(tmp, int64_t, b.n);
	b.values = ARENA_ARRAY(tmp, int *, b.n);
	for (int v = 0; v < b.n; v++) {
		const problem_var *x = &p->vars.at[v];
		b.values[v] = ARENA_ARRAY(tmp, int, x->nvalues);
		b.nvalues[v] = x->nvalues;
		b.cost[v] = ARENA_COPY(tmp, x->cost, x->nvalues);
	}
	int most = 0;
	for (int v = 0; v < b.n; v++)
		most = b.nvalues[v] > most ? b.nvalues[v] : most;
	b.give = ARENA_ARRAY(tmp, int64_t, most);
	b.moved = ARENA_ARRAY(tmp, int64_t, most);
	int64_t nsaved = 0;
	for (int i = 0; i < p->tables.n; i++) {
		const problem_table *t = &p->tables.at[i];
		add_sides(&b, t);
		nsaved += b.nvalues[t->x] > b.nvalues[t->y] ?
				  b.nvalues[t->x] : b.nvalues[t->y];
	}
	b.saved = ARENA_ARRAY(tmp, int64_t, nsaved);
	b.constant = p->constant;
	b.best_cost = min64(problem_cost(p, b.best), p->top);
	return b;
}

/* ---- good assignments -------------------------------------------------- */

/* The best value for v, given those of its neighbours that have one. */
static int best_value(const branch *b, const int *value, int v)
{
	int64_t *cost = b->give;
	int n = b->nvalues[v], best = 0;
	memcpy(cost, b->cost[v], (size_t)n * sizeof(*cost));
	for (int i = 0; i < b->sides[v].n; i++) {
		const side *s = &b->sides[v].at[i];
		if (value[s->other] < 0)
			continue;
		const int64_t *c = s->cost + value[s->other] * s->other_step;
		for (int x = 0; x < n; x++)
			cost[x] = pile(cost[x], c[x * s->step]);
	}
	for (int x = 1; x < n; x++)
		if (cost[x] < cost[best])
			best = x;
	return best;
}

/* One assignment, read off the costs as they are, then improved variable by
 * variable while that helps. */
static void try_greedy(branch *b)
{
	for (int v = 0; v < b->n; v++)
		b->value[v] = -1;
	for (int v = 0; v < b->n; v++)
		b->value[v] = best_value(b, b->value, v);
	bool better = true;
	for (int round = 0; better && round < MAX_ROUNDS; round++) {
		better = false;
		for (int v = 0; v < b->n; v++) {
			int x = best_value(b, b->value, v);
			better |= x != b->value[v];
			b->value[v] = x;
		}
	}
	int64_t cost = problem_cost(b->p, b->value);
	if (cost >= b->best_cost)
		return;
	b->best_cost = cost;
	memcpy(b->best, b->value, (size_t)b->n * sizeof(*b->best));
}

/* ---- the bound --------------------------------------------------------- */

/* Adds give[x] to the row of each value x of v, walking along the memory. */
static void add_to_rows(const branch *b, int v, const side *s,
			const int64_t *give, int64_t sign)
{
	int nx = b->nvalues[v], ny = s->nother;
	if (s->step == 1)
		for (int y = 0; y < ny; y++)
			for (int x = 0; x < nx; x++)
				s->cost[y * s->other_step + x] +=
					sign * give[x];
	else
		for (int x = 0; x < nx; x++)
			for (int y = 0; y < ny; y++)
				s->cost[x * s->step + y] += sign * give[x];
}

/* most[x] = min(most[x], cost or PILE - cost of each cell of the row of x). */
static void limit_by_rows(const branch *b, int v, const side *s,
			  int64_t *restrict most, int64_t pile_up)
{
	int64_t nx = b->nvalues[v], ny = s->nother;
	int64_t sign = pile_up ? -1 : 1;
	if (s->step == 1) {
		for (int64_t y = 0; y < ny; y++) {
			const int64_t *c = s->cost + y * s->other_step;
			for (int64_t x = 0; x < nx; x++)
				most[x] = min64(most[x], pile_up + sign * c[x]);
		}
		return;
	}
	for (int64_t x = 0; x < nx; x++) {
		const int64_t *c = s->cost + x * s->step;
		int64_t m = most[x];
		for (int64_t y = 0; y < ny; y++)
			m = min64(m, pile_up + sign * c[y]);
		most[x] = m;
	}
}

/* Moves to each value of v what all cells of its row have. */
static void pull(branch *b, int v, const side *s)
{
	int64_t *m = b->moved;
	for (int x = 0; x < b->nvalues[v]; x++)
		m[x] = PILE - b->cost[v][x];
	limit_by_rows(b, v, s, m, 0);
	add_to_rows(b, v, s, m, -1);
	for (int x = 0; x < b->nvalues[v]; x++)
		b->cost[v][x] += m[x];
}

/* The reverse: moves give[x], or what the rows can take, to the rows. */
static void push(branch *b, int v, const side *s, const int64_t *give)
{
	int64_t *m = b->moved;
	memcpy(m, give, (size_t)b->nvalues[v] * sizeof(*m));
	limit_by_rows(b, v, s, m, PILE);
	add_to_rows(b, v, s, m, 1);
	for (int x = 0; x < b->nvalues[v]; x++)
		b->cost[v][x] -= m[x];
}

/* Pulls from all tables of v, and takes the least cost out. */
static void gather(branch *b, int v)
{
	int64_t least = PILE;
	for (int i = 0; i < b->sides[v].n; i++)
		pull(b, v, &b->sides[v].at[i]);
	for (int x = 0; x < b->nvalues[v]; x++)
		least = min64(least, b->cost[v][x]);
	for (int x = 0; x < b->nvalues[v]; x++)
		b->cost[v][x] -= least;
	b->constant += least;
}

/* One step of a pass: what v has is shared out to the variables that come
 * after it in the pass's direction. */
static void message(branch *b, int v, bool forward)
{
	int after = 0, share;
	int64_t *give = b->give;
	gather(b, v);
	for (int i = 0; i < b->sides[v].n; i++)
		after += (b->sides[v].at[i].other > v) == forward;
	share = b->sides[v].n - after > after ? b->sides[v].n - after : after;
	for (int x = 0; x < b->nvalues[v]; x++)
		give[x] = share ? b->cost[v][x] / share : 0;
	for (int i = 0; i < b->sides[v].n; i++)
		if ((b->sides[v].at[i].other > v) == forward)
			push(b, v, &b->sides[v].at[i], give);
}

static int passes_for(const branch *b)
{
	int64_t cells = 1;
	for (int i = 0; i < b->p->tables.n; i++) {
		const problem_table *t = &b->p->tables.at[i];
		cells += (int64_t)b->nvalues[t->x] * b->nvalues[t->y];
	}
	int64_t n = MAX_CELLS / (4 * cells) + 1;
	return (int)min64(n, MAX_PASSES);
}

static bool late(const branch *b)
{
	struct timespec t;
	if (b->deadline <= 0)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec > b->deadline;
}

static void raise_bound(branch *b)
{
	int passes = passes_for(b);
	try_greedy(b);
	for (int pass = 0, idle = 0; pass < passes && idle < IDLE_PASSES;
	     pass++) {
		wide before = b->constant;
		for (int v = 0; v < b->n; v++)
			message(b, v, true);
		for (int v = b->n - 1; v >= 0; v--)
			message(b, v, false);
		try_greedy(b);
		if (b->constant >= b->best_cost)
			return;
		idle = b->constant > before ? 0 : idle + 1;
		if (late(b))
			break;
	}
	for (int v = 0; v < b->n; v++)
		gather(b, v);
}

/* ---- the search -------------------------------------------------------- */

static void find_least(branch *b, int v)
{
	int64_t least = PILE, second = PILE;
	for (int x = 0; x < b->nvalues[v]; x++) {
		int64_t c = b->cost[v][x];
		second = c < least ? least : min64(second, c);
		least = min64(least, c);
	}
	b->least[v] = least;
	b->second[v] = second;
}

/* Adds to a free neighbour's costs the row of its table with value x. */
static void add_row(branch *b, const side *s, int x)
{
	int u = s->other;
	int64_t *cost = b->cost[u], *old = b->saved + b->nsaved;
	const int64_t *row = s->cost + x * s->step;
	change c = { u, old, b->least[u], b->second[u] };
	memcpy(old, cost, (size_t)s->nother * sizeof(*old));
	b->nsaved += (size_t)s->nother;
	vec_push(b->tmp, &b->trail, c);
	for (int y = 0; y < s->nother; y++)
		cost[y] = pile(cost[y], row[y * s->other_step]);
	b->rest -= b->least[u];
	find_least(b, u);
	b->rest += b->least[u];
	b->steps -= s->nother;
}

static void undo(branch *b, int mark)
{
	while (b->trail.n > mark) {
		const change *c = &b->trail.at[--b->trail.n];
		size_t n = (size_t)b->nvalues[c->var];
		memcpy(b->cost[c->var], c->cost, n * sizeof(*c->cost));
		b->nsaved -= n;
		b->least[c->var] = c->least;
		b->second[c->var] = c->second;
	}
}

/* The free variable for which a wrong value is worst. */
static int pick(const branch *b)
{
	int best = -1;
	for (int v = 0; v < b->n; v++)
		if (b->value[v] < 0 &&
		    (best < 0 || b->second[v] - b->least[v] >
					 b->second[best] - b->least[best]))
			best = v;
	return best;
}

/* Puts the cheapest value that was not tried, the lowest of them, next. */
static void choose_next(branch *b, frame *f)
{
	const int64_t *cost = b->cost[f->var];
	int n = b->nvalues[f->var], best = f->next;
	for (int i = f->next + 1; i < n; i++) {
		int x = f->values[i], y = f->values[best];
		if (cost[x] < cost[y] || (cost[x] == cost[y] && x < y))
			best = i;
	}
	b->steps -= n - f->next;
	if (f->next == n)
		return;
	int x = f->values[best];
	f->values[best] = f->values[f->next];
	f->values[f->next] = x;
}

static void open_frame(branch *b, frame *f, wide spent)
{
	int v = pick(b), n = b->nvalues[v];
	*f = (frame){ .var = v, .values = b->values[v], .spent = spent,
		      .rest = b->rest - b->least[v], .mark = b->trail.n };
	b->steps -= b->n;
	for (int x = 0; x < n; x++)
		f->values[x] = x;
	choose_next(b, f);
}

/* What the next value of a frame costs at least, all others included. */
static wide frame_bound(const branch *b, const frame *f)
{
	return f->spent + f->rest + b->cost[f->var][f->values[f->next]];
}

/* Assigns the next value of a frame; returns what is spent then. */
static wide descend(branch *b, frame *f)
{
	int x = f->values[f->next++];
	b->value[f->var] = x;
	b->rest = f->rest;
	for (int i = 0; i < b->sides[f->var].n; i++)
		if (b->value[b->sides[f->var].at[i].other] < 0)
			add_row(b, &b->sides[f->var].at[i], x);
	return f->spent + b->cost[f->var][x];
}

static void keep_best(branch *b)
{
	int64_t cost = problem_cost(b->p, b->value);
	if (cost >= b->best_cost)
		return;
	b->best_cost = cost;
	memcpy(b->best, b->value, (size_t)b->n * sizeof(*b->best));
}

/* Searches until there are no steps left; returns a lower bound of what it did
 * not look at. */
static wide search(branch *b)
{
	frame *frames = ARENA_ARRAY(b->tmp, frame, b->n);
	wide left = PILE;
	for (int v = 0; v < b->n; v++) {
		b->value[v] = -1;
		find_least(b, v);
		b->rest += b->least[v];
	}
	open_frame(b, &frames[0], b->constant);
	for (int64_t depth = 0, n = 0; depth >= 0; n++) {
		frame *f = &frames[depth];
		if (n % LOOK_AT_CLOCK == 0 && late(b))
			b->steps = 0;
		if (b->value[f->var] >= 0) {
			undo(b, f->mark);
			b->value[f->var] = -1;
			choose_next(b, f);
		}
		if (f->next == b->nvalues[f->var] ||
		    frame_bound(b, f) >= b->best_cost) {
			depth--;
		} else if (b->steps <= 0) {
			wide bound = frame_bound(b, f);
			left = bound < left ? bound : left;
			depth--;
		} else {
			wide spent = descend(b, f);
			if (depth + 1 == b->n)
				keep_best(b);
			else
				open_frame(b, &frames[++depth], spent);
		}
	}
	return left;
}

solution solve_branch(arena *a, const problem *p, int64_t *steps,
		      double deadline)
{
	arena *tmp = arena_new();
	branch b = start(a, tmp, p);
	b.steps = *steps;
	b.deadline = deadline;
	wide left = p->vars.n ? 0 : PILE;
	if (p->vars.n)
		raise_bound(&b);
	if (b.constant >= b.best_cost)
		left = b.constant;
	else if (p->vars.n)
		left = search(&b);
	*steps = b.steps > 0 ? b.steps : 0;
	solution s = { .value = b.best, .cost = problem_cost(p, b.best) };
	s.lower_bound = left < b.best_cost ? (int64_t)left : b.best_cost;
	s.optimal = s.lower_bound == s.cost;
	arena_free(tmp);
	return s;
}

/* Tests: compiler/cost layout kernel */
/* Values that stay partial: the exact solver against all layouts there are of
 * small graphs of training. */
#include "config.h"

#include <check.h>

#include "compiler/analysis/strategy.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/joint_problem.h"
#include "compiler/solver/solve.h"
#include "tests/unit/graphs.h"
#include "tests/unit/suite.h"

/* Meshes, the number of graphs for each, and the nodes of the largest. */
static const struct {
	mesh mesh;
	int graphs, nodes;
} cases[] = {
	{ { 1, { 2 } }, 200, 6 },
	{ { 1, { 3 } }, 200, 6 },
	{ { 2, { 2, 2 } }, 100, 4 },
	{ { 2, { 3, 2 } }, 100, 4 },
};

enum {
	NCASES = sizeof(cases) / sizeof(*cases),
	MOST_LAYOUTS = 400, /* of one tensor or node */
	MOST_TENSORS = 4,   /* of one node */
};

/* ---- all layouts ------------------------------------------------------- */

typedef struct layouts {
	int n;
	cuts at[MOST_LAYOUTS];
} layouts;

static void add_layout(layouts *l, const cuts *c)
{
	ck_assert_int_lt(l->n, MOST_LAYOUTS);
	l->at[l->n++] = *c;
}

/* Goes through the codes from `low' up to n - 1 on all axes. */
static bool next_code(const mesh *m, cuts *c, int low, int n)
{
	for (int a = 0; a < m->naxes; a++) {
		if (++c->dim[a] < n)
			return true;
		c->dim[a] = (signed char)low;
	}
	return false;
}

static bool is_long_enough(const mesh *m, const cuts *c, const int64_t *n)
{
	for (int a = 0; a < m->naxes; a++) {
		int d = c->dim[a];
		if (d >= 0 &&
		    cuts_smallest(n[d], m, c, a, d) < m->size[a])
			return false;
	}
	return true;
}

/* Of a tensor everything that cuts of it can say; only results that are read,
 * and that nobody keeps, may be partial.  Only results may be replicated: else
 * all workers compute all, and nothing moves. */
static layouts *tensor_layouts(arena *a, const graph *g, const mesh *m,
			       tensor_id t, const bool *kept)
{
	const tensor *x = &g->tensors[t];
	layouts *l = ARENA_NEW(a, layouts);
	int low = kept[t] ? CUT_NONE : cut_partial(RED_MIN);
	cuts c = cuts_none();
	for (int i = 0; i < m->naxes; i++)
		c.dim[i] = (signed char)low;
	do {
		bool real = true;
		for (int i = 0; i < m->naxes; i++)
			real &= c.dim[i] != cut_partial(RED_NONE) &&
				(x->kind == TENSOR_RESULT ||
				 c.dim[i] != CUT_NONE);
		if (real && is_long_enough(m, &c, x->type.dims))
			add_layout(l, &c);
	} while (next_code(m, &c, low, x->type.ndim));
	return l;
}

static bool one_reducer(const mesh *m, const kernel *k, const cuts *c)
{
	reducer by = RED_NONE;
	for (int a = 0; a < m->naxes; a++) {
		int v = c->dim[a];
		if (v >= 0 && !strategy_offered(k, v, NULL))
			return false;
		reducer r = v < CUT_NONE ? k->passings[-2 - v].to
			    : v >= 0	 ? strategy_reducer(k, v)
					 : RED_NONE;
		if (r != RED_NONE && by != RED_NONE && r != by)
			return false;
		by = r != RED_NONE ? r : by;
	}
	return true;
}

static layouts *node_layouts(arena *a, const graph *g, const mesh *m,
			     node_id n)
{
	const kernel *k = g->nodes[n].kernel;
	layouts *l = ARENA_NEW(a, layouts);
	int64_t extents[MAX_NVARS];
	cuts c = cuts_none();
	int low = cut_passing(k->npassings - 1);
	for (int v = 0; v < k->nvars; v++)
		extents[v] = k->vars[v].extent;
	for (int i = 0; i < m->naxes; i++)
		c.dim[i] = (signed char)low;
	do {
		if (one_reducer(m, k, &c) && is_long_enough(m, &c, extents))
			add_layout(l, &c);
	} while (next_code(m, &c, low, k->nvars));
	return l;
}

/* ---- brute force ------------------------------------------------------- */

/* The least bytes of a node by the layouts of its tensors; -1: not known. */
typedef struct memo {
	int ntensors;
	tensor_id tensors[MOST_TENSORS];
	int64_t *least;
} memo;

typedef struct judge {
	const graph *g;
	const mesh *m;
	assignment as;
	const tensor_id *tied;
	layouts **tensors, **nodes;
	memo *memos;
	int *chosen; /* by tensor that decides */
} judge;

static memo memo_of(arena *a, const judge *j, const node *n)
{
	memo x = { 0 };
	size_t size = 1;
	for (int i = -1; i < n->kernel->ninputs; i++) {
		tensor_id t = j->tied[i < 0 ? n->output : n->inputs[i]];
		bool again = false;
		for (int o = 0; o < x.ntensors; o++)
			again |= x.tensors[o] == t;
		if (again)
			continue;
		ck_assert_int_lt(x.ntensors, MOST_TENSORS);
		x.tensors[x.ntensors++] = t;
		size *= (size_t)j->tensors[t]->n;
	}
	x.least = ARENA_ARRAY(a, int64_t, size);
	for (size_t i = 0; i < size; i++)
		x.least[i] = -1;
	return x;
}

static judge judge_of(arena *a, const graph *g, const mesh *m)
{
	judge j = { g, m, { *m, ARENA_ARRAY(a, cuts, g->ntensors),
			    ARENA_ARRAY(a, cuts, g->nnodes) },
		    tied_tensors(a, g), ARENA_ARRAY(a, layouts *, g->ntensors),
		    ARENA_ARRAY(a, layouts *, g->nnodes) };
	bool *kept = ARENA_ARRAY(a, bool, g->ntensors);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		bool read = false;
		for (node_id n = 0; n < g->nnodes; n++)
			for (int i = 0; i < g->nodes[n].kernel->ninputs; i++)
				read |= g->nodes[n].inputs[i] == t;
		kept[t] |= x->kind != TENSOR_RESULT || x->output || !read;
		if (x->kind == TENSOR_STATE && x->next != NONE)
			kept[x->next] = true;
	}
	for (tensor_id t = 0; t < g->ntensors; t++)
		j.tensors[t] = tensor_layouts(a, g, m, t, kept);
	for (node_id n = 0; n < g->nnodes; n++)
		j.nodes[n] = node_layouts(a, g, m, n);
	j.chosen = ARENA_ARRAY(a, int, g->ntensors);
	j.memos = ARENA_ARRAY(a, memo, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		j.memos[n] = memo_of(a, &j, &g->nodes[n]);
	return j;
}

static int64_t find_best(judge *j, node_id n)
{
	int64_t least = COST_MAX;
	for (int i = 0; i < j->nodes[n]->n; i++) {
		j->as.node_cuts[n] = j->nodes[n]->at[i];
		int64_t b = byte_model_node(j->g, &j->as, n, j->m->naxes);
		least = b < least ? b : least;
	}
	return least;
}

static int64_t best_of_node(judge *j, node_id n)
{
	const memo *x = &j->memos[n];
	size_t at = 0;
	for (int i = 0; i < x->ntensors; i++)
		at = at * (size_t)j->tensors[x->tensors[i]]->n +
		     (size_t)j->chosen[x->tensors[i]];
	if (x->least[at] < 0)
		x->least[at] = find_best(j, n);
	return x->least[at];
}

/* The least bytes of nodes n.. and on, tensors being decided as nodes need
 * them; `so_far' by those before. */
static void brute(judge *j, bool *decided, node_id n, int64_t so_far,
		  int64_t *best)
{
	if (so_far >= *best)
		return;
	if (n == j->g->nnodes) {
		*best = so_far;
		return;
	}
	const node *x = &j->g->nodes[n];
	tensor_id open = NONE;
	for (int i = -1; i < x->kernel->ninputs && open == NONE; i++) {
		tensor_id t = j->tied[i < 0 ? x->output : x->inputs[i]];
		open = decided[t] ? NONE : t;
	}
	if (open == NONE) {
		brute(j, decided, n + 1, so_far + best_of_node(j, n), best);
		return;
	}
	decided[open] = true;
	for (int i = 0; i < j->tensors[open]->n; i++) {
		j->chosen[open] = i;
		for (tensor_id t = 0; t < j->g->ntensors; t++)
			if (j->tied[t] == open)
				j->as.tensor_cuts[t] = j->tensors[open]->at[i];
		brute(j, decided, n, so_far, best);
	}
	decided[open] = false;
}

/* ---- the solver -------------------------------------------------------- */

static choices any_dims(const void *state, const step *s, tensor_id t)
{
	(void)state;
	return s->g->tensors[t].kind == TENSOR_RESULT
		       ? choices_or_whole(step_dims(s, t))
		       : step_dims(s, t);
}

static choices any_vars(const void *state, const step *s, node_id n)
{
	(void)state;
	return choices_or_whole(step_vars(s, n));
}

static int64_t solved(arena *a, const graph *g, const mesh *m, bool partial)
{
	const rules all = {
		.dims = any_dims, .vars = any_vars,
		.partial = partial ? partial_values_of(a, g, false) : NULL,
	};
	candidate_set w = candidates_find(a, g, m, &all, MOST_LAYOUTS);
	ck_assert(w.complete);
	solve_limits limits = solve_defaults();
	solution best = solve(a, joint_problem(a, g, m, &w), &limits);
	ck_assert(best.optimal);
	return best.cost;
}

START_TEST(solver_equals_brute_force)
{
	const mesh *m = &cases[_i].mesh;
	int n = cases_asked(cases[_i].graphs), from = cases_from();
	int better = 0;
	for (int seed = from; seed < from + n; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = { 70000 + (uint64_t)(seed * NCASES + _i) };
		int nnodes = pick(&r, 2, cases[_i].nodes);
		int64_t batch = pick(&r, 0, 1) ? 12 : 24;
		graph *g = graph_of_sums(a, &r, 4, batch, nnodes);
		judge j = judge_of(a, g, m);
		int64_t whole = solved(a, g, m, false), best = whole + 1;
		brute(&j, ARENA_ARRAY(a, bool, g->ntensors), 0, 0, &best);
		ck_assert_int_le(best, whole);
		ck_assert_msg(solved(a, g, m, true) == best, "seed %d", seed);
		better += best < whole;
		arena_free(a);
	}
	ck_assert_int_ge(better, at_least(n / 100));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("partial");
	TCase *t = tcase_create("partial");
	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, solver_equals_brute_force, 0, NCASES);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: compiler/cost compiler/planners layout kernel */
/* Values that stay partial: the exact solver against all layouts there are of
 * small graphs of training. */
#include "config.h"

#include <check.h>

#include "compiler/analysis/strategy.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/joint_problem.h"
#include "compiler/planners/search.h"
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

static bool has_parts(const mesh *m, const cuts *c, const int64_t *n, int a,
		      int d)
{
	return cuts_smallest(n[d], m, c, a, d) >= m->size[a];
}

static bool is_long_enough(const mesh *m, const cuts *c, const int64_t *n)
{
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] >= 0 && !has_parts(m, c, n, a, c->dim[a]))
			return false;
	return true;
}

/* Whether an axis leaves something whole that it could divide along one of the
 * ndim dimensions. */
static bool leaves_whole(const mesh *m, const cuts *c, const int64_t *n,
			 int ndim)
{
	for (int a = 0; a < m->naxes; a++)
		for (int d = 0; d < ndim; d++)
			if (c->dim[a] == CUT_NONE && has_parts(m, c, n, a, d))
				return true;
	return false;
}

/* Of a tensor everything that cuts of it can say; only results that are read,
 * and that nobody keeps, may be partial.  Only results may be replicated, or,
 * where all that can be cut is, none: else all workers compute all, and nothing
 * moves. */
static layouts *tensor_layouts(arena *a, const graph *g, const mesh *m,
			       tensor_id t, const bool *kept, bool all_cut)
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
				(x->kind == TENSOR_RESULT || all_cut ||
				 c.dim[i] != CUT_NONE);
		if (all_cut)
			real &= !leaves_whole(m, &c, x->type.dims,
					      x->type.ndim);
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

/* Whether an axis could divide the node, and does not. */
static bool could_divide(const mesh *m, const kernel *k, const cuts *c,
			 const int64_t *extents)
{
	for (int a = 0; a < m->naxes; a++)
		for (int v = 0; c->dim[a] == CUT_NONE && v < k->nvars; v++) {
			cuts other = *c;
			mesh before = *m;
			other.dim[a] = (signed char)v;
			before.naxes = a + 1;
			if (has_parts(m, c, extents, a, v) &&
			    one_reducer(&before, k, &other))
				return true;
		}
	return false;
}

/* Where all is divided that can be, kernels that reduce hand nothing on. */
static layouts *node_layouts(arena *a, const graph *g, const mesh *m,
			     node_id n, bool all_cut)
{
	const kernel *k = g->nodes[n].kernel;
	layouts *l = ARENA_NEW(a, layouts);
	int64_t extents[MAX_NVARS];
	cuts c = cuts_none();
	bool hands_on = !all_cut || k->reducer == RED_NONE;
	int low = hands_on ? cut_passing(k->npassings - 1) : CUT_NONE;
	for (int v = 0; v < k->nvars; v++)
		extents[v] = k->vars[v].extent;
	for (int i = 0; i < m->naxes; i++)
		c.dim[i] = (signed char)low;
	do {
		if (one_reducer(m, k, &c) && is_long_enough(m, &c, extents) &&
		    !(all_cut && could_divide(m, k, &c, extents)))
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

static judge judge_of(arena *a, const graph *g, const mesh *m, bool all_cut)
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
		j.tensors[t] = tensor_layouts(a, g, m, t, kept, all_cut);
	for (node_id n = 0; n < g->nnodes; n++)
		j.nodes[n] = node_layouts(a, g, m, n, all_cut);
	j.chosen = ARENA_ARRAY(a, int, g->ntensors);
	j.memos = ARENA_ARRAY(a, memo, g->nnodes);
	for (node_id n = 0; n < g->nnodes; n++)
		j.memos[n] = memo_of(a, &j, &g->nodes[n]);
	return j;
}

static int64_t least_of_node(judge *j, node_id n)
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
		x->least[at] = least_of_node(j, n);
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

static int64_t least_of_all(judge *j, int64_t most)
{
	arena *tmp = arena_new();
	int64_t best = most;
	brute(j, ARENA_ARRAY(tmp, bool, j->g->ntensors), 0, 0, &best);
	arena_free(tmp);
	return best;
}

static graph *any_sums(arena *a, rng *r, int most)
{
	int nnodes = pick(r, 2, most);
	return graph_of_sums(a, r, 4, pick(r, 0, 1) ? 12 : 24, nnodes);
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

static int64_t solved(arena *a, const graph *g, const mesh *m,
		      const partial_values *partial)
{
	const rules all = { .dims = any_dims, .vars = any_vars,
			    .partial = partial };
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
		graph *g = any_sums(a, &r, cases[_i].nodes);
		judge j = judge_of(a, g, m, false);
		int64_t whole = solved(a, g, m, NULL);
		int64_t best = least_of_all(&j, whole + 1);
		ck_assert_int_le(best, whole);
		for (int i = PARTIAL_ALL; i <= PARTIAL_USEFUL; i++)
			ck_assert_msg(solved(a, g, m, partial_values_of(
					      a, g, (partial_scope)i)) == best,
				      "seed %d, scope %d", seed, i);
		better += best < whole;
		arena_free(a);
	}
	ck_assert_int_ge(better, at_least(n / 100));
}
END_TEST

/* ---- joint ------------------------------------------------------------- */

/* It cuts all that it can, or leaves it partial. */
START_TEST(joint_equals_brute_force)
{
	const mesh *m = &cases[_i].mesh;
	int better = 0;
	for (int seed = 0; seed < cases[_i].graphs; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = { 80000 + (uint64_t)(seed * NCASES + _i) };
		graph *g = any_sums(a, &r, cases[_i].nodes);
		judge j = judge_of(a, g, m, true);
		search_result *s = search_plan(a, g, mesh_workers(m), "joint");
		ck_assert_msg(least_of_all(&j, s->total + 1) == s->total,
			      "seed %d", seed);
		better += s->whole && s->total < s->whole->total;
		ck_assert_int_eq(byte_model_total(g, &s->assignment, m->naxes),
				 s->total);
		if (s->whole)
			ck_assert(s->optimal_by_step[0] &&
				  s->lower_bound == s->total);
		arena_free(a);
	}
	ck_assert_int_ge(better, at_least(2));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("partial");
	TCase *t = tcase_create("partial");
	tcase_set_timeout(t, 600);
	tcase_add_loop_test(t, solver_equals_brute_force, 0, NCASES);
	tcase_add_loop_test(t, joint_equals_brute_force, 0, NCASES);
	suite_add_tcase(s, t);
	return s;
}

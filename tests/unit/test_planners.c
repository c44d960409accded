/* Tests: compiler/planners */
/* compiler/planners: the planners, against all plans there are and against
 * solvers of 0-1 programs. */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/strategy.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/joint_problem.h"
#include "compiler/planners/partial_assignment.h"
#include "compiler/solver/ilp.h"
#include "tests/unit/graphs.h"
#include "tests/unit/results.h"
#include "tests/unit/suite.h"

/* ---- all plans --------------------------------------------------------- */

/* The choices of a planner, stated a second time: whether a tensor's cuts and a
 * node's are its own. */
typedef struct rule {
	const char *name;
	bool (*tensor)(const graph *g, const mesh *m, tensor_id t,
		       const cuts *c);
	bool (*node)(const graph *g, const mesh *m, node_id n, const cuts *c);
} rule;

static bool anything(const graph *g, const mesh *m, int id, const cuts *c)
{
	(void)g, (void)m, (void)id, (void)c;
	return true;
}

static bool whole_outputs(const graph *g, const mesh *m, node_id n,
			  const cuts *c)
{
	for (int a = 0; a < m->naxes; a++)
		if (c->dim[a] >= g->nodes[n].kernel->nout)
			return false;
	return true;
}

/* One and the same for all axes. */
static bool one_only(const mesh *m, const cuts *c)
{
	for (int a = 1; a < m->naxes; a++)
		if (c->dim[a] != c->dim[0])
			return false;
	return true;
}

static bool one_dim(const graph *g, const mesh *m, tensor_id t, const cuts *c)
{
	const tensor_type *type = &g->tensors[t].type;
	for (int d = 0; d < type->ndim; d++)
		if (type->dims[d] >= mesh_workers(m))
			return one_only(m, c);
	return true;
}

static bool one_var(const graph *g, const mesh *m, node_id n, const cuts *c)
{
	const kernel *k = g->nodes[n].kernel;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].extent >= mesh_workers(m) &&
		    strategy_offered(k, v, NULL))
			return one_only(m, c);
	return true;
}

/* All ways that steps can come to, which the rule allows. */
typedef struct lists {
	const graph *g;
	assignment *as;
	const rule *rule;
	candidates *tensors, *nodes;
} lists;

static void list_ways(arena *a, lists *l, int id, bool is_node, int naxes)
{
	assignment *as = l->as;
	const mesh *m = &as->mesh;
	cuts *c = is_node ? &as->node_cuts[id] : &as->tensor_cuts[id];
	candidates *w = is_node ? &l->nodes[id] : &l->tensors[id];
	if (m->naxes == naxes) {
		bool ok = is_node ? l->rule->node(l->g, m, id, c)
				  : l->rule->tensor(l->g, m, id, c);
		if (!ok)
			return;
		cuts *at = ARENA_ARRAY(a, cuts, w->n + 1);
		if (w->n > 0)
			memcpy(at, w->at, sizeof(*at) * (size_t)w->n);
		at[w->n++] = *c;
		w->at = at;
		return;
	}
	int axis = as->mesh.naxes++;
	step s = { l->g, as };
	choices all = is_node ? step_vars(&s, id) : step_dims(&s, id);
	for (int i = 0; i < all.n; i++) {
		c->dim[axis] = all.at[i];
		list_ways(a, l, id, is_node, naxes);
	}
	c->dim[axis] = CUT_NONE;
	as->mesh.naxes--;
}

static int64_t best_node(lists *l, node_id n)
{
	int64_t least = COST_MAX;
	for (int i = 0; i < l->nodes[n].n; i++) {
		l->as->node_cuts[n] = l->nodes[n].at[i];
		int64_t c = byte_model_node(l->g, l->as, n,
					    l->as->mesh.naxes);
		least = c < least ? c : least;
	}
	return least;
}

/* The least that a plan of the rule costs; -1 where there are too many, or the
 * rule leaves a tensor or node nothing. */
static int64_t least_of_all(arena *a, const graph *g, const mesh *m,
			    const rule *of)
{
	assignment as = { .tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors),
			  .node_cuts = ARENA_ARRAY(a, cuts, g->nnodes) };
	lists l = { g, &as, of, ARENA_ARRAY(a, candidates, g->ntensors),
		    ARENA_ARRAY(a, candidates, g->nnodes) };
	int *value = ARENA_ARRAY(a, int, g->ntensors);
	const tensor_id *tied = tied_tensors(a, g);
	int64_t all = 1, work = 0, best = COST_MAX;
	tensor_id t;
	memcpy(as.mesh.size, m->size, sizeof(m->size));
	for (node_id n = 0; n < g->nnodes; n++) {
		as.node_cuts[n] = cuts_none();
		list_ways(a, &l, n, true, m->naxes);
		work += l.nodes[n].n;
		all *= l.nodes[n].n > 0;
	}
	for (t = 0; t < g->ntensors; t++) {
		as.tensor_cuts[t] = cuts_none();
		if (tied[t] == t)
			list_ways(a, &l, t, false, m->naxes);
		else
			l.tensors[t].n = 1; /* as the other one has it */
		all *= l.tensors[t].n;
	}
	if (all == 0 || all * work > 200000)
		return -1;
	as.mesh = *m;
	do {
		int64_t sum = 0;
		for (t = 0; t < g->ntensors; t++)
			as.tensor_cuts[t] =
				l.tensors[tied[t]].at[value[tied[t]]];
		for (node_id n = 0; n < g->nnodes && sum < best; n++)
			sum += best_node(&l, n);
		best = sum < best ? sum : best;
		for (t = 0; t < g->ntensors && ++value[t] == l.tensors[t].n;
		     t++)
			value[t] = 0;
	} while (t < g->ntensors);
	return best;
}

static const rule at_once[] = {
	{ "joint", anything, anything },
	{ "optcnn", anything, whole_outputs },
	{ "equalchop", one_dim, one_var },
};

/* Extents that devices do not divide, that are too short, empty ones. */
static const int64_t uneven[] = { 0, 1, 5, 7, 9, 28 };

/* Small graphs, some of them with states, some uneven. */
static graph *small_graph(arena *a, rng *r, int round, int *nties)
{
	graph *g = round % 3 ? random_graph(a, r, 1 + round % 4) :
			       random_graph_of(a, r, 1 + round % 4, uneven, 6);
	*nties += round % 8 < 4 ? make_states(g) : 0;
	return g;
}

START_TEST(at_once_is_optimal)
{
	static const int ks[] = { 2, 3, 4, 6, 8 };
	const rule *of = &at_once[_i];
	int checked[5] = { 0 }, several = 0, nties = 0;
	rng r = { 300 + (uint64_t)_i };
	for (int round = 0; round < 240; round++) {
		arena *a = arena_new();
		graph *g = small_graph(a, &r, round, &nties);
		int k = ks[round % 5];
		search_result *is = search_plan(a, g, k, of->name);
		check_result(g, is, k);
		is = is->whole ? is->whole : is;
		check_result(g, is, k);
		int64_t best = least_of_all(a, g, &is->assignment.mesh, of);
		if (best >= 0) {
			ck_assert_msg(is->total == best, "round %d, k %d: %lld,"
				      " the least is %lld", round, k,
				      (long long)is->total, (long long)best);
			ck_assert(is->optimal_by_step[0]);
			checked[round % 5]++;
			several += is->assignment.mesh.naxes > 1 && best > 0;
		}
		arena_free(a);
	}
	for (int i = 0; i < 5; i++)
		ck_assert_int_gt(checked[i], 15);
	ck_assert_int_gt(several, 15);
	ck_assert_int_gt(nties, 10);
}
END_TEST

/* Every planner's plan is among joint's where it cuts every tensor. */
START_TEST(joint_is_never_above)
{
	static const char *const others[] = { "tofu", "equalchop", "spartan",
					      "allrow" };
	static const int ks[] = { 2, 4, 6, 8, 64 };
	rng r = { 310 };
	int better = 0;
	for (int round = 0; round < 100; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 8);
		int k = ks[round % 5];
		if (round % 2)
			make_states(g);
		search_result *j = search_plan(a, g, k, "joint");
		check_result(g, j, k);
		for (int i = 0; i < 4; i++) {
			search_result *o = search_plan(a, g, k, others[i]);
			check_result(g, o, k);
			ck_assert_int_le(j->total, o->total);
			ck_assert_int_le(j->lower_bound, o->total);
			better += i == 0 && j->total < o->total;
		}
		arena_free(a);
	}
	ck_assert_int_gt(better, 0);
}
END_TEST

/* ---- pins -------------------------------------------------------------- */

/* Some of the cuts of a plan. */
static partial_assignment some_of(arena *a, rng *r, const graph *g,
				  const assignment *as)
{
	partial_assignment o = partial_assignment_new(a, g);
	for (tensor_id t = 0; t < g->ntensors; t++) {
		o.tensor_set[t] = chance(r, 30);
		if (o.tensor_set[t])
			o.tensors[t] = as->tensor_cuts[t];
	}
	for (node_id n = 0; n < g->nnodes; n++) {
		o.node_set[n] = chance(r, 30);
		if (o.node_set[n])
			o.nodes[n] = as->node_cuts[n];
	}
	ck_assert_int_eq(partial_assignment_tie(&o), NONE);
	return o;
}

static void check_pins(const partial_assignment *o, const assignment *as)
{
	for (tensor_id t = 0; t < o->graph->ntensors; t++)
		if (o->tensor_set[t])
			ck_assert_mem_eq(&o->tensors[t], &as->tensor_cuts[t],
					 sizeof(cuts));
	for (node_id n = 0; n < o->graph->nnodes; n++)
		if (o->node_set[n])
			ck_assert_mem_eq(&o->nodes[n], &as->node_cuts[n],
					 sizeof(cuts));
}

/* Pins hold, whoever plans; with pins out of its own plan joint finds that
 * again, or one that moves as much. */
START_TEST(pins_hold)
{
	static const int ks[] = { 2, 4, 6, 8 };
	rng r = { 360 };
	for (int round = 0; round < 40; round++) {
		arena *a = arena_new();
		graph *g = random_graph(a, &r, 6);
		if (round % 2)
			make_states(g);
		int k = ks[round % 4];
		const char *name, *from = round % 3 ? "joint" : "spartan";
		search_result *plan = search_plan(a, g, k, from);
		partial_assignment o = some_of(a, &r, g, &plan->assignment);
		search_request q = { .mesh = plan->assignment.mesh,
				     .pins = &o };
		for (int i = 0; (name = search_algorithm(i, NULL)); i++) {
			if (search_on_request(i))
				continue;
			q.algorithm = name;
			search_result *with = search_plan_for(a, g, &q);
			if (with->error)
				continue;
			check_pins(&o, &with->assignment);
			ck_assert_int_eq(with->total,
					 byte_model_total(g, &with->assignment,
							  q.mesh.naxes));
			if (!strcmp(name, "joint") && !strcmp(from, name))
				ck_assert_int_eq(with->total, plan->total);
		}
		arena_free(a);
	}
}
END_TEST

/* Pins that are impossible, and the reasons. */
START_TEST(pins_are_refused)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t in[] = { 3, 16 };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, in);
	add_node(&m, kernel_matmul(a, 3, 5, 16, false),
		 (tensor_id[]){ x, weight(&m, 16, 5) });
	graph *g = make_graph(&m);
	partial_assignment o = partial_assignment_new(a, g);
	assignment as = { { 1, { 4 } }, o.tensors, o.nodes };
	const step s = { g, &as };
	ck_assert(!partial_assignment_refuses_dim(a, &s, x, CUT_NONE));
	ck_assert(!partial_assignment_refuses_dim(a, &s, x, 1));
	ck_assert_str_eq(partial_assignment_refuses_dim(a, &s, x, 0),
			 "4 groups cannot share 3");
	ck_assert_str_eq(partial_assignment_refuses_dim(a, &s, x, 2),
			 "it has 2 dimensions");
	ck_assert(!partial_assignment_refuses_var(a, &s, 0, CUT_NONE));
	ck_assert(!partial_assignment_refuses_var(a, &s, 0, 2));
	ck_assert_str_eq(partial_assignment_refuses_var(a, &s, 0, 0),
			 "4 groups cannot share 3");
	arena_free(a);
}
END_TEST

/* ---- data parallelism -------------------------------------------------- */

/* A window over the time, the first dimension: the batch is the second. */
START_TEST(batch_behind_the_time)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t in[] = { 10, 8 }, turned[] = { 8, 10 };
	const int64_t signal[] = { 8, 1, 10 }, filter[] = { 5, 1, 3 };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, in);
	tensor_id t = add_node(&m, kernel_transpose(a, 2, in), &x);
	tensor_id s = add_node(&m, kernel_reshape(a, 2, turned, 3, signal), &t);
	tensor_id w = add_tensor(&m, TENSOR_CONSTANT, DT_F32, 3, filter);
	tensor_id y = add_node(&m, kernel_conv(a, signal, filter, 1, 0),
			       (tensor_id[]){ s, w });
	search_result *r = search_plan(a, make_graph(&m), 8, "data-parallel");
	ck_assert_int_eq(r->total, 0);
	for (int i = 0; i < 3; i++) {
		const assignment *as = &r->assignment;
		ck_assert_int_eq(as->tensor_cuts[x].dim[i], 1);
		ck_assert_int_eq(as->tensor_cuts[w].dim[i], CUT_NONE);
		ck_assert_int_eq(as->tensor_cuts[y].dim[i], 0);
	}
	arena_free(a);
}
END_TEST

/* ---- megatron ---------------------------------------------------------- */

/* A contraction by columns, what is between, one by rows: only the sum at the
 * end moves. */
START_TEST(columns_then_rows)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t in[] = { 6, 16 }, hidden[] = { 6, 32 };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, in);
	tensor_id w1 = weight(&m, 16, 32), w2 = weight(&m, 32, 16);
	tensor_id b = weight(&m, 1, 32);
	tensor_id h = add_node(&m, kernel_matmul(a, 6, 32, 16, false),
			       (tensor_id[]){ x, w1 });
	tensor_id hb = add_node(&m, kernel_add(a, 2, hidden, 1),
				(tensor_id[]){ h, b });
	tensor_id y = add_node(&m, kernel_matmul(a, 6, 16, 32, false),
			       (tensor_id[]){ hb, w2 });
	tensor_id z = add_node(&m, kernel_add(a, 2, in, 0),
			       (tensor_id[]){ x, y });
	graph *g = make_graph(&m);
	search_result *r = search_plan(a, g, 4, "megatron");
	check_result(g, r, 4);
	for (int i = 0; i < 2; i++) {
		const assignment *as = &r->assignment;
		ck_assert_int_eq(as->tensor_cuts[x].dim[i], CUT_NONE);
		ck_assert_int_eq(as->tensor_cuts[w1].dim[i], 1);
		ck_assert_int_eq(as->tensor_cuts[b].dim[i], 1);
		ck_assert_int_eq(as->tensor_cuts[h].dim[i], 1);
		ck_assert_int_eq(as->tensor_cuts[hb].dim[i], 1);
		ck_assert_int_eq(as->tensor_cuts[w2].dim[i], 0);
		ck_assert_int_eq(as->tensor_cuts[y].dim[i], CUT_NONE);
		ck_assert_int_eq(as->tensor_cuts[z].dim[i], CUT_NONE);
		ck_assert_int_eq(as->node_cuts[0].dim[i], 1);
		ck_assert_int_eq(as->node_cuts[2].dim[i], 2);
		ck_assert_int_eq(as->node_cuts[3].dim[i], CUT_NONE);
	}
	ck_assert_int_eq(r->total, 2 * (6 * 16 * 4) * 3);
	/* parts of 6 and 7 columns */
	r = search_plan(a, g, 5, "megatron");
	check_result(g, r, 5);
	ck_assert_int_eq(r->total, 2 * (6 * 16 * 4) * 4);
	/* not a column for each device */
	r = search_plan(a, g, 37, "megatron");
	ck_assert(r->error && !r->absent);
	arena_free(a);
}
END_TEST

/* A transpose that takes the cut where the next contraction does not sum is
 * the end of the chain, and there is no other. */
START_TEST(columns_without_rows)
{
	arena *a = arena_new();
	graph_maker m = { .a = a };
	const int64_t in[] = { 8, 16 }, hidden[] = { 8, 32 };
	tensor_id x = add_tensor(&m, TENSOR_INPUT, DT_F32, 2, in);
	tensor_id h = add_node(&m, kernel_matmul(a, 8, 32, 16, false),
			       (tensor_id[]){ x, weight(&m, 16, 32) });
	tensor_id t = add_node(&m, kernel_transpose(a, 2, hidden), &h);
	add_node(&m, kernel_matmul(a, 32, 4, 8, false),
		 (tensor_id[]){ t, weight(&m, 8, 4) });
	search_result *r = search_plan(a, make_graph(&m), 2, "megatron");
	ck_assert(r->error && strstr(r->error, "by columns, then rows"));
	arena_free(a);
}
END_TEST

/* ---- against solvers of 0-1 programs ----------------------------------- */

enum { SECONDS = 60 };

/* The oracle's cost; -1 where no solver is installed. */
static int64_t ilp_cost(arena *a, const problem *p)
{
	ilp_result is = ilp_solve(a, p, SECONDS);
	if (is.absent)
		return -1;
	ck_assert_msg(!is.error, "%s", is.error);
	ck_assert(is.solution.optimal);
	ck_assert_int_eq(is.solution.cost, problem_cost(p, is.solution.value));
	return is.solution.cost;
}

/* The bytes that tofu moves after each step are the oracle's for that step,
 * with the steps before as they are. */
static void check_steps(arena *a, const graph *g, const search_result *r)
{
	assignment as = r->assignment;
	step s = { g, &as };
	int64_t sum = 0;
	for (int i = 0; i < r->assignment.mesh.naxes; i++) {
		choices *dims = ARENA_ARRAY(a, choices, g->ntensors);
		choices *vars = ARENA_ARRAY(a, choices, g->nnodes);
		as.mesh.naxes = i + 1;
		for (tensor_id t = 0; t < g->ntensors; t++)
			dims[t] = step_dims(&s, t);
		for (node_id n = 0; n < g->nnodes; n++)
			vars[n] = step_vars(&s, n);
		formulation f = formulate(a, &s, dims, vars);
		sum += r->by_step[i];
		int64_t least = ilp_cost(a, f.problem);
		if (least >= 0)
			ck_assert_int_eq(sum, least);
	}
}

START_TEST(oracle_agrees)
{
	static const int ks[] = { 2, 3, 4, 6, 8 };
	rng r = { 330 };
	int npartial = 0;
	for (int round = 0; round < 30; round++) {
		arena *a = arena_new();
		graph *g = round % 3 == 2 ? graph_of_sums(a, &r, 4, 24, 4)
			   : round % 3	  ? random_graph(a, &r, 5) :
					    random_graph_of(a, &r, 4, uneven,
							    6);
		int k = ks[round % 5];
		if (round % 6 < 3)
			make_states(g);
		check_steps(a, g, search_plan(a, g, k, "tofu"));
		search_result *i = search_plan(a, g, k, "ilp");
		search_result *j = search_plan(a, g, k, "joint");
		ck_assert(j->optimal_by_step[0]);
		npartial += j->whole != NULL;
		if (!i->absent) {
			check_result(g, i, k);
			ck_assert_int_eq(i->total, j->total);
			ck_assert_int_eq(i->lower_bound, i->total);
		}
		arena_free(a);
	}
	ck_assert_int_gt(npartial, 0);
}
END_TEST

/* Without a solver that is said, and nothing else happens. */
START_TEST(oracle_may_be_absent)
{
	rng r = { 340 };
	arena *a = arena_new();
	ck_assert_int_eq(setenv("PATH", "/nowhere:", 1), 0);
	search_result *i = search_plan(a, random_graph(a, &r, 4), 2, "ilp");
	ck_assert(i->absent && strstr(i->error, "highs nor glpsol"));
	arena_free(a);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("planners");
	TCase *c = tcase_create("all");
	tcase_add_loop_test(c, at_once_is_optimal, 0, 3);
	tcase_add_test(c, joint_is_never_above);
	tcase_add_test(c, pins_hold);
	tcase_add_test(c, pins_are_refused);
	tcase_add_test(c, batch_behind_the_time);
	tcase_add_test(c, columns_then_rows);
	tcase_add_test(c, columns_without_rows);
	tcase_add_test(c, oracle_agrees);
	tcase_add_test(c, oracle_may_be_absent);
	suite_add_tcase(s, c);
	return s;
}

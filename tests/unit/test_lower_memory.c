/* Tests: compiler/lower layout plan */
/* Lowering: the programs of particular plans, and the memory that they take. */
#include "config.h"

#include <check.h>

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "plan/peak.h"
#include "tests/unit/ladder.h"
#include "tests/unit/lowering.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

static const lower_options options = { .algorithm = "random" };

static plan *lower(arena *a, const graph *g, const assignment *as)
{
	return lower_by(a, g, as, &options);
}

/* ---- particular programs ----------------------------------------------- */

static assignment uncut(arena *a, const graph *g, mesh m)
{
	assignment as = { .mesh = m };
	as.tensor_cuts = ARENA_ARRAY(a, cuts, g->ntensors);
	as.node_cuts = ARENA_ARRAY(a, cuts, g->nnodes);
	for (int t = 0; t < g->ntensors; t++)
		as.tensor_cuts[t] = cuts_none();
	for (int n = 0; n < g->nnodes; n++)
		as.node_cuts[n] = cuts_none();
	return as;
}

static int count(const plan *p, plan_op op, collective c)
{
	int n = 0;
	for (int i = 0; i < p->ninstrs; i++)
		n += p->program[i].op == op &&
		     (op == PLAN_RUN || p->program[i].collective == c);
	return n;
}

/* The table of search.md for a matmul's partial result of S bytes on 2 x 2
 * workers: to the whole of it 6 S, to blocks 3 S.  Tensors that are cut along
 * rows in both steps need no transfer. */
START_TEST(known_programs)
{
	enum { X, Y, PRODUCT, RESULT };
	arena *a = arena_new();
	graph *g = matmul_graph(a, 8, 16, 12);
	mesh m = { 2, { 2, 2 } };
	int64_t size = 8 * 12 * 4;
	assignment as = uncut(a, g, m);
	as.node_cuts[0].dim[0] = as.node_cuts[0].dim[1] = 2;
	plan *p = lower(a, g, &as);
	ck_assert_int_eq(p->communication_bytes, 6 * size);
	ck_assert_int_eq(count(p, PLAN_COMBINE, COLL_REDUCE_SCATTER), 1);
	ck_assert_int_eq(count(p, PLAN_MOVE, COLL_ALL_GATHER), 1);
	as.tensor_cuts[PRODUCT].dim[0] = 0;
	as.tensor_cuts[PRODUCT].dim[1] = 1;
	as.tensor_cuts[RESULT] = as.node_cuts[1] = as.tensor_cuts[PRODUCT];
	p = lower(a, g, &as);
	ck_assert_int_eq(p->communication_bytes, 3 * size);
	ck_assert_int_eq(p->ninstrs, 3);
	as = uncut(a, g, m);
	as.tensor_cuts[X].dim[0] = as.tensor_cuts[X].dim[1] = 0;
	as.node_cuts[0] = as.node_cuts[1] = as.tensor_cuts[X];
	as.tensor_cuts[PRODUCT] = as.tensor_cuts[RESULT] = as.tensor_cuts[X];
	p = lower(a, g, &as);
	ck_assert_int_eq(p->communication_bytes, 0);
	ck_assert_int_eq(p->ninstrs, 2);
	arena_free(a);
}
END_TEST

/* A result that may overwrite its input does: the product and the remainder
 * share one place. */
START_TEST(in_place)
{
	arena *a = arena_new();
	graph *g = matmul_graph(a, 8, 16, 12);
	assignment as = uncut(a, g, (mesh){ 0, { 0 } });
	plan *p = lower(a, g, &as);
	ck_assert_int_eq(p->ninstrs, g->nnodes);
	ck_assert_int_eq(p->buffers[p->tensors[2].buffer].offset,
			 p->buffers[p->tensors[3].buffer].offset);
	ck_assert_int_eq(p->arena_bytes,
			 4 * (8 * 16 + 16 * 12 + 8 * 12));
	arena_free(a);
}
END_TEST

/* The size of a plan does not depend on the number of workers, but for the
 * digits of its numbers. */
START_TEST(does_not_grow)
{
	arena *a = arena_new();
	graph *g = matmul_graph(a, 512, 512, 512);
	size_t small, large;
	assignment as = uncut(a, g, (mesh){ 1, { 2 } });
	as.tensor_cuts[0].dim[0] = 0;
	as.tensor_cuts[1].dim[0] = 1;
	as.node_cuts[0].dim[0] = 2;
	as.node_cuts[1].dim[0] = 1;
	plan_text(a, lower(a, g, &as), "x", &small);
	as.mesh.size[0] = 256;
	plan_text(a, lower(a, g, &as), "x", &large);
	ck_assert_int_le(large, small + 40);
	arena_free(a);
}
END_TEST

/* ---- memory ------------------------------------------------------------ */

static plan *lower_ladder(arena *a, const ladder *l, mesh m)
{
	graph *g = ladder_graph(a, l);
	assignment as = ladder_assignment(a, g, &m);
	return lower(a, g, &as);
}

/* The graph has all updates at its end; in the program each follows its
 * gradient, so that at most one gradient is there besides the weights and one
 * activation of each layer.  Nothing is copied. */
START_TEST(updates_follow_gradients)
{
	const ladder l = { .layers = 30, .batch = 16, .width = 64 };
	int64_t weight = 64 * 64 * 4, h = 16 * 64 * 4;
	arena *a = arena_new();
	plan *p = lower_ladder(a, &l, (mesh){ 0, { 0 } });
	ck_assert_int_eq(count_updates(p), 0);
	ck_assert_int_le(p->arena_bytes,
			 30 * weight + 31 * h + weight + 3 * h);
	arena_free(a);
}
END_TEST

/* All gradients have to be there before the first is clipped. */
START_TEST(clipped_gradients_wait)
{
	const ladder l = { .layers = 30, .batch = 16, .width = 64,
			   .clipped = true };
	int64_t weight = 64 * 64 * 4, h = 16 * 64 * 4;
	arena *a = arena_new();
	plan *p = lower_ladder(a, &l, (mesh){ 0, { 0 } });
	ck_assert_int_eq(count_updates(p), 0);
	ck_assert_int_ge(p->arena_bytes, 60 * weight);
	ck_assert_int_le(p->arena_bytes, 60 * weight + 5 * h + 4096);
	arena_free(a);
}
END_TEST

/* The sum of a shared weight's gradients grows in one place. */
START_TEST(gradients_are_summed_in_place)
{
	const ladder l = { .layers = 30, .batch = 16, .width = 64,
			   .shared = true };
	int64_t weight = 64 * 64 * 4, h = 16 * 64 * 4;
	arena *a = arena_new();
	plan *p = lower_ladder(a, &l, (mesh){ 0, { 0 } });
	ck_assert_int_eq(count_updates(p), 0);
	ck_assert_int_le(p->arena_bytes, 3 * weight + 31 * h + 3 * h);
	arena_free(a);
}
END_TEST

/* Eight workers need an eighth each, and what one layer fetches: copies of
 * weights are not kept from the forward to the backward pass, unless memory is
 * given for them, which then saves fetching them again. */
START_TEST(an_eighth_each)
{
	const ladder l = { .layers = 64, .batch = 64, .width = 64 };
	int64_t weight = 64 * 64 * 4;
	arena *a = arena_new();
	graph *g = ladder_graph(a, &l);
	const mesh m = { 3, { 2, 2, 2 } };
	assignment as = ladder_assignment(a, g, &m);
	lower_options more = options;
	more.memory = 1;
	plan *p = lower_plan(a, g, &as, &more, diag_sink_new(a));
	plan *one = plan_one_device(a, p), *usual = lower(a, g, &as);
	ck_assert_int_le(p->arena_bytes, one->arena_bytes / 8 + 2 * weight);
	ck_assert_int_le(usual->arena_bytes, p->arena_bytes * 11 / 10);
	ck_assert_int_lt(usual->communication_bytes, p->communication_bytes);
	more.memory = INT64_C(1) << 40;
	plan *q = lower_plan(a, g, &as, &more, diag_sink_new(a));
	ck_assert_int_ge(q->arena_bytes, p->arena_bytes + 60 * weight);
	ck_assert_int_eq(p->communication_bytes - q->communication_bytes,
			 63 * 7 * weight);
	more.memory = p->arena_bytes + 10 * weight;
	plan *r = lower_plan(a, g, &as, &more, diag_sink_new(a));
	ck_assert_int_le(r->arena_bytes, more.memory);
	ck_assert_int_le(p->communication_bytes - r->communication_bytes,
			 20 * 7 * weight);
	ck_assert_int_ge(p->communication_bytes - r->communication_bytes,
			 10 * 7 * weight);
	arena_free(a);
}
END_TEST

/* A limit on the arena is kept to, and the more there is the less moves, where
 * gaps between buffers do not matter. */
START_TEST(within_a_limit)
{
	int less = 0;
	for (int seed = 0; seed < 60; seed++) {
		arena *a = arena_new();
		rng r = rng_new(80000 + (uint64_t)seed);
		graph *g = random_training(a, &r, 20);
		assignment as = random_assignment(a, &r, g);
		lower_options o = options;
		diag_sink *s = diag_sink_new(a);
		o.memory = 1;
		plan *least = lower_plan(a, g, &as, &o, s);
		o.memory = INT64_C(1) << 40;
		plan *most = lower_plan(a, g, &as, &o, s);
		for (int i = 1; i < 4; i++) {
			o.memory = least->arena_bytes * (8 + i) / 8;
			plan *p = lower_plan(a, g, &as, &o, s);
			ck_assert(plan_check(p, s, "p"));
			ck_assert_int_le(p->arena_bytes, o.memory);
			ck_assert_int_le(p->communication_bytes,
					 least->communication_bytes);
			ck_assert_int_ge(p->communication_bytes,
					 most->communication_bytes);
			less += p->communication_bytes <
				least->communication_bytes;
		}
		arena_free(a);
	}
	ck_assert_int_gt(less, 5);
}
END_TEST

static bool same_program(const plan *p, const plan *q)
{
	bool same = p->ninstrs == q->ninstrs && p->nbuffers == q->nbuffers &&
		    p->arena_bytes == q->arena_bytes;
	for (int i = 0; same && i < p->ninstrs; i++)
		same = p->program[i].op == q->program[i].op &&
		       p->program[i].node == q->program[i].node &&
		       p->program[i].from == q->program[i].from &&
		       p->program[i].to == q->program[i].to;
	for (int i = 0; same && i < p->nbuffers; i++)
		same = p->buffers[i].offset == q->buffers[i].offset &&
		       p->buffers[i].nbytes == q->buffers[i].nbytes;
	return same;
}

/* Programs that are said to be the same, with other room for copies, are. */
START_TEST(all_copies_are_kept)
{
	int same = 0, others = 0;
	for (int seed = 0; seed < 200; seed++) {
		arena *a = arena_new();
		rng r = rng_new(90000 + (uint64_t)seed);
		graph *g = random_training(a, &r, 20);
		assignment as = random_assignment(a, &r, g);
		plan *p[4];
		lower_rooms rooms[4];
		int64_t memory[4] = { 1, 0, INT64_C(1) << 40, 0 };
		for (int i = 0; i < 4; i++) {
			lower_options o = options;
			if (i == 3)
				memory[i] = p[rng_below(&r, 3)]->arena_bytes;
			o.memory = memory[i];
			o.rooms = &rooms[i];
			p[i] = lower_by(a, g, &as, &o);
		}
		for (int i = 0; i < 4; i++)
			for (int j = 0; j < 4; j++) {
				bool said = lower_is_same(&rooms[i],
							  p[i]->arena_bytes,
							  memory[j]);
				ck_assert(!said || same_program(p[i], p[j]));
				same += said && i != j;
				others += !same_program(p[i], p[j]);
			}
		arena_free(a);
	}
	ck_assert_int_gt(same, 100);
	ck_assert_int_gt(others, 100);
}
END_TEST

/* The peak is what no arena can be smaller than, and what makes it up is in use
 * then. */
START_TEST(at_the_peak)
{
	for (int seed = 0; seed < 100; seed++) {
		arena *a = arena_new();
		rng r = rng_new(70000 + (uint64_t)seed);
		graph *g = random_training(a, &r, 14);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower(a, g, &as);
		plan_peak x = plan_find_peak(a, p);
		lifetime *l = plan_lifetimes(a, p);
		int64_t sum = 0;
		for (int i = 0; i < x.n; i++) {
			int b = x.uses[i].buffer;
			sum += x.uses[i].nbytes;
			ck_assert_int_eq(p->buffers[b].nbytes,
					 x.uses[i].nbytes);
			ck_assert_int_le(l[b].first, x.instr);
			ck_assert(i == 0 ||
				  x.uses[i].nbytes <= x.uses[i - 1].nbytes);
		}
		ck_assert_int_eq(sum, x.nbytes);
		int64_t bound = plan_place(p);
		ck_assert_int_le(x.nbytes, bound);
		ck_assert_int_ge(x.nbytes + p->nbuffers * PLAN_ALIGN, bound);
		arena_free(a);
	}
}
END_TEST

START_TEST(predicted_time)
{
	arena *a = arena_new();
	rng r = rng_new(4);
	graph *g = random_graph(a, &r, 10);
	assignment as = random_assignment(a, &r, g);
	plan *p = lower(a, g, &as);
	const topology *cpu = topology_preset(0);
	topology slow = *cpu;
	slow.bandwidth /= 2;
	for (int i = 0; i < DT_COUNT; i++)
		slow.flops[i] /= 2;
	ck_assert(lower_seconds(p, cpu) > 0);
	ck_assert(lower_seconds(p, &slow) > lower_seconds(p, cpu));
	arena_free(a);
}
END_TEST

static topology two_levels(void)
{
	return (topology){
		.nlevels = 2,
		.levels = { { "slow", 2, 0, 1 }, { "fast", 8, 0, 100 } },
	};
}

/* 1600 bytes for each of 2 x 8 devices that hold 100 each: over the slow level
 * each brings its eighth of the other half, 100, over the fast one all but what
 * its own eighths are, 1400. */
START_TEST(levels_of_a_collective)
{
	const topology t = two_levels();
	topology_move m = { .peers = { 2, 8 }, .bytes = { 800, 700 },
			    .ring = true };
	ck_assert_double_eq_tol(topology_move_seconds(&t, &m), 100, 1e-9);
	topology fast = t;
	fast.levels[0].bandwidth = 1e9;
	ck_assert_double_eq_tol(topology_move_seconds(&fast, &m), 14, 1e-9);
	m.ring = false;
	ck_assert_double_eq_tol(topology_move_seconds(&t, &m), 800, 1e-9);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("lower_memory");
	TCase *t = tcase_create("memory");
	tcase_add_test(t, known_programs);
	tcase_add_test(t, in_place);
	tcase_add_test(t, does_not_grow);
	tcase_add_test(t, updates_follow_gradients);
	tcase_add_test(t, clipped_gradients_wait);
	tcase_add_test(t, gradients_are_summed_in_place);
	tcase_add_test(t, an_eighth_each);
	tcase_add_test(t, within_a_limit);
	tcase_add_test(t, all_copies_are_kept);
	tcase_add_test(t, at_the_peak);
	tcase_add_test(t, predicted_time);
	tcase_add_test(t, levels_of_a_collective);
	suite_add_tcase(s, t);
	return s;
}

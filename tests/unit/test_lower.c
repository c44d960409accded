/* Tests: compiler/lower layout plan */
/* Lowering: programs of random graphs under random layouts compute what one
 * device computes, move what the model counts, and pass the checks that a
 * plan file has to pass. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/cost/byte_model.h"
#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "kernel/eval.h"
#include "layout/mesh.h"
#include "plan/peak.h"
#include "plan/region_classes.h"
#include "plan/transfer.h"
#include "tests/unit/ladder.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

static const lower_options options = { .algorithm = "random" };

static plan *lower_by(arena *a, const graph *g, const assignment *as,
		      const lower_options *how)
{
	diag_sink *s = diag_sink_new(a);
	plan *p = lower_plan(a, g, as, how, s);
	bool ok = p && plan_check(p, s, "plan");
	for (int w = 0; ok && w < mesh_workers(&p->mesh); w++)
		ok = plan_check_worker(p, w, s, "plan");
	if (!ok)
		diag_print(s, stderr, false);
	ck_assert(ok);
	return p;
}

static plan *lower(arena *a, const graph *g, const assignment *as)
{
	return lower_by(a, g, as, &options);
}

static plan *lower_patiently(arena *a, const graph *g, const assignment *as)
{
	const lower_options how = {.algorithm = "random", .overlapping = true};
	return lower_by(a, g, as, &how);
}

/* ---- the program computes ---------------------------------------------- */

/* Whether a tensor has the same values in both; 0 and -0 are one. */
static bool same_values(arena *a, const machine *x, const machine *y, int id)
{
	const plan_tensor *t = &x->p->tensors[id];
	const void *p = machine_tensor(a, x, id);
	const void *q = machine_tensor(a, y, id);
	for (int64_t i = 0; i < plan_tensor_nelem(t); i++)
		if (elem_get_f64(t->type, p, i) != elem_get_f64(t->type, q, i))
			return false;
	return true;
}

static bool is_value(arena *a, const machine *m, const oracle *o, int id)
{
	const plan_tensor *t = &m->p->tensors[id];
	const void *p = machine_tensor(a, m, id);
	for (int64_t i = 0; i < plan_tensor_nelem(t); i++)
		if (elem_get_f64(t->type, p, i) !=
		    elem_get_f64(t->type, o->values[id], i))
			return false;
	return true;
}

static void check_kept(arena *a, const machine *m, const machine *whole,
		       const oracle *o)
{
	for (int t = 0; t < m->p->ntensors; t++) {
		const plan_tensor *x = &m->p->tensors[t];
		if (x->role != PLAN_STATE && !x->output)
			continue;
		ck_assert_msg(is_value(a, m, o, t), "tensor %d", t);
		ck_assert_msg(is_value(a, whole, o, t), "alone, tensor %d", t);
	}
}

static int count_changing(const plan *p)
{
	int n = 0;
	for (int t = 0; t < p->ntensors; t++)
		n += p->tensors[t].role == PLAN_STATE &&
		     p->tensors[t].next >= 0;
	return n;
}

/* Instructions that copy the next value of a state. */
static int count_updates(const plan *p)
{
	int n = 0;
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		n += in->op == PLAN_MOVE && p->buffers[in->from].tensor !=
						    p->buffers[in->to].tensor;
	}
	return n;
}

START_TEST(same_results)
{
	for (int seed = 0; seed < 400; seed++) {
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		graph *g = random_graph(a, &r, 1 + seed % 12);
		assignment as = random_assignment(a, &r, g);
		plan *p = seed % 2 ? lower(a, g, &as)
				   : lower_patiently(a, g, &as);
		plan *one = plan_one_device(a, p);
		diag_sink *s = diag_sink_new(a);
		ck_assert(plan_check(one, s, "one"));
		ck_assert(plan_check_worker(one, 0, s, "one"));
		machine m = machine_new(a, p), whole = machine_new(a, one);
		machine_run(&m);
		machine_run(&whole);
		ck_assert_int_eq(m.received, p->communication_bytes);
		ck_assert_int_eq(whole.received, 0);
		for (int i = 0; i < p->noutputs; i++) {
			int t = p->outputs[i];
			ck_assert_msg(same_values(a, &m, &whole, t),
				      "seed %d, tensor %d", seed, t);
		}
		arena_free(a);
	}
}
END_TEST

static int tensor_called(const plan *p, const char *name)
{
	for (int t = 0; t < p->ntensors; t++)
		if (!strcmp(p->tensors[t].name, name))
			return t;
	return -1;
}

/* Kernels that were made of several compute what these do, whatever is divided
 * how. */
START_TEST(fused_kernels_compute_the_same)
{
	const lower_options separate = { .algorithm = "random",
					 .separate = true };
	int fused = 0;
	for (int seed = 0; seed < 400; seed++) {
		arena *a = arena_new();
		rng r = rng_new(90000 + (uint64_t)seed);
		graph *g = seed % 2 ? random_chain(a, &r, 1 + seed % 9) :
				      random_graph(a, &r, 1 + seed % 12);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower(a, g, &as);
		plan *q = lower_by(a, g, &as, &separate);
		machine m = machine_new(a, p), n = machine_new(a, q);
		machine_run(&m);
		machine_run(&n);
		for (int t = 0; t < p->ntensors; t++) {
			const plan_tensor *x = &p->tensors[t];
			int u = tensor_called(q, x->name);
			ck_assert_int_ge(u, 0);
			if (!x->output)
				continue;
			ck_assert_msg(!memcmp(machine_tensor(a, &m, t),
					      machine_tensor(a, &n, u),
					      (size_t)plan_tensor_nbytes(x)),
				      "seed %d, tensor '%s'", seed, x->name);
		}
		ck_assert_int_le(p->communication_bytes,
				 q->communication_bytes);
		fused += q->nnodes - p->nnodes;
		arena_free(a);
	}
	ck_assert_int_gt(fused, 50);
}
END_TEST

/* Three figures agree in every step: states and outputs are what the graph
 * says, on all workers and on one. */
START_TEST(states_are_kept)
{
	enum { STEPS = 4 };
	int states = 0, copies = 0;
	for (int seed = 0; seed < 300; seed++) {
		arena *a = arena_new();
		rng r = rng_new(50000 + (uint64_t)seed);
		graph *g = random_training(a, &r, 1 + seed % 16);
		assignment as = random_assignment(a, &r, g);
		plan *p = seed % 2 ? lower(a, g, &as)
				   : lower_patiently(a, g, &as);
		plan *one = plan_one_device(a, p);
		diag_sink *s = diag_sink_new(a);
		ck_assert(plan_check(one, s, "one"));
		machine m = machine_new(a, p), whole = machine_new(a, one);
		oracle o = oracle_new(a, p);
		for (int step = 0; step < STEPS; step++) {
			machine_run(&m);
			machine_run(&whole);
			oracle_run(a, &o);
			ck_assert_int_eq(m.received, (step + 1) *
						     p->communication_bytes);
			check_kept(a, &m, &whole, &o);
		}
		states += count_changing(p);
		copies += count_updates(p);
		arena_free(a);
	}
	ck_assert_int_gt(states, 300);
	ck_assert_int_gt(copies, 8);
	ck_assert_int_lt(copies, states / 2);
}
END_TEST

/* The program may run again: nothing that it needs is overwritten. */
START_TEST(same_again)
{
	for (int seed = 0; seed < 50; seed++) {
		arena *a = arena_new();
		rng r = rng_new(5000 + (uint64_t)seed);
		graph *g = random_graph(a, &r, 8);
		assignment as = random_assignment(a, &r, g);
		plan *p = seed % 2 ? lower(a, g, &as)
				   : lower_patiently(a, g, &as);
		machine m = machine_new(a, p);
		machine_run(&m);
		void **first = ARENA_ARRAY(a, void *, p->noutputs);
		for (int i = 0; i < p->noutputs; i++)
			first[i] = machine_tensor(a, &m, p->outputs[i]);
		machine_run(&m);
		for (int i = 0; i < p->noutputs; i++) {
			int t = p->outputs[i];
			ck_assert_mem_eq(first[i], machine_tensor(a, &m, t),
					 (size_t)plan_tensor_nbytes(
						 &p->tensors[t]));
		}
		arena_free(a);
	}
}
END_TEST

/* ---- pieces ------------------------------------------------------------ */

/* The elements of a region that lie in a box, marked in a tensor's image. */
static void mark(const plan_tensor *t, const region *r, const box *at,
		 int *image)
{
	region all = { box_whole(t->dims, t->ndim), 0, plan_tensor_nelem(t) };
	runs it = runs_of(at, &all, r);
	while (runs_next(&it)) {
		ck_assert_int_ge(it.src, 0);
		ck_assert_int_le(it.src + it.n, r->count);
		for (int64_t i = 0; i < it.n; i++)
			image[it.dst + i]++;
	}
}

/* Every element that the worker gets comes once from each owner, and that
 * owner has it. */
static void check_pieces(const plan *p, const plan_instr *in, int w)
{
	arena *tmp = arena_new();
	const plan_tensor *t = &p->tensors[p->buffers[in->to].tensor];
	int64_t n = plan_tensor_nelem(t), other = 0;
	int *got = ARENA_ARRAY(tmp, int, n), *want = ARENA_ARRAY(tmp, int, n);
	region to = plan_region(p, in->to, w);
	piece *pieces;
	int count = transfer_pieces(tmp, p, in, w, &pieces), sharers = 1;
	for (int i = 0; i < count; i++) {
		region from = plan_region(p, in->from, pieces[i].peer);
		mark(t, &from, &pieces[i].at, got);
		if (i > 0 && pieces[i].add)
			sharers += pieces[i].peer != pieces[i - 1].peer;
		other += pieces[i].peer == w ? 0 : box_volume(&pieces[i].at);
		if (i > 0 && in->op == PLAN_MOVE)
			ck_assert_int_le(pieces[i - 1].peer, pieces[i].peer);
	}
	if (in->op == PLAN_MOVE)
		mark(t, &to, &to.at, want);
	for (int64_t i = 0; in->op == PLAN_MOVE && i < n; i++)
		ck_assert_int_eq(got[i], want[i]);
	if (in->op == PLAN_COMBINE) {
		int64_t sum = 0;
		for (int64_t i = 0; i < n; i++) {
			ck_assert(got[i] == 0 || got[i] == sharers);
			sum += got[i];
		}
		ck_assert_int_eq(sum, to.count * (to.count ? sharers : 0));
	}
	ck_assert_int_eq(other * (int64_t)dtype_size(t->type),
			 transfer_bytes(p, in, w));
	arena_free(tmp);
}

START_TEST(pieces_cover)
{
	int seen[COLL_COUNT] = { 0 };
	for (int seed = 0; seed < 300; seed++) {
		arena *a = arena_new();
		rng r = rng_new(9000 + (uint64_t)seed);
		graph *g = random_graph(a, &r, 6);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower(a, g, &as);
		for (int i = 0; i < p->ninstrs; i++) {
			if (p->program[i].op == PLAN_RUN)
				continue;
			seen[p->program[i].collective]++;
			for (int w = 0; w < mesh_workers(&p->mesh); w++)
				check_pieces(p, &p->program[i], w);
		}
		arena_free(a);
	}
	for (int c = 0; c < COLL_COUNT; c++)
		ck_assert_msg(seen[c] > 0, "no %s", collective_name(c));
}
END_TEST

/* ---- forms ------------------------------------------------------------- */

/* Two buffers on all workers, one by one. */
static void compare(const plan *p, int x, int y, bool *same, bool *covers)
{
	*same = *covers = true;
	for (int w = 0; w < mesh_workers(&p->mesh); w++) {
		region r = plan_region(p, x, w), s = plan_region(p, y, w);
		bool whole = r.first == 0 && r.count == box_volume(&r.at);
		bool none = r.count == 0 && s.count == 0;
		*same = *same && (none || (box_equal(&r.at, &s.at) &&
					   r.first == s.first &&
					   r.count == s.count));
		*covers = *covers &&
			  (s.count == 0 ||
			   (whole && box_contains(&r.at, &s.at)));
	}
}

static void check_bytes(region_classes *f, const plan *p, int buffer)
{
	const plan_buffer *b = &p->buffers[buffer];
	int64_t most = 0;
	for (int w = 0; w < mesh_workers(&p->mesh); w++) {
		region r = plan_region(p, buffer, w);
		most = r.count > most ? r.count : most;
	}
	most *= (int64_t)dtype_size(p->tensors[b->tensor].type);
	ck_assert_int_eq(region_class_nbytes(f, region_class_of(f, b)), most);
}

/* What was found out for one buffer holds for all of its form. */
START_TEST(forms_are_alike)
{
	int shared = 0, pairs = 0;
	for (int seed = 0; seed < 60; seed++) {
		arena *a = arena_new();
		rng r = rng_new(60000 + (uint64_t)seed);
		graph *g = random_training(a, &r, 12);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower(a, g, &as);
		region_classes *f = region_classes_new(a, p);
		for (int x = 0; x < p->nbuffers; x++) {
			int m = region_class_of(f, &p->buffers[x]);
			check_bytes(f, p, x);
			for (int y = 0; y < p->nbuffers; y++) {
				int n = region_class_of(f, &p->buffers[y]);
				int d = p->tensors[p->buffers[x].tensor].ndim;
				bool same, covers;
				if (p->tensors[p->buffers[y].tensor].ndim != d)
					continue;
				compare(p, x, y, &same, &covers);
				ck_assert(region_class_same(f, m, n) == same);
				ck_assert(region_class_cover(f, m, n) ==
					  covers);
				shared += x != y && m == n;
				pairs += same;
			}
		}
		for (int i = 0; i < p->ninstrs; i++) {
			const plan_instr *in = &p->program[i];
			if (in->op == PLAN_RUN)
				continue;
			ck_assert(region_class_received(f, in) ==
				  transfer_total(p, in));
			ck_assert(region_class_collective(f, in) ==
				  transfer_collective(p, in));
		}
		arena_free(a);
	}
	ck_assert_int_gt(shared, 100);
	ck_assert_int_gt(pairs, shared);
}
END_TEST

/* ---- the byte model ---------------------------------------------------- */

/* Bytes of a tensor that are wanted and not there, element by element. */
static int64_t missing(const plan_tensor *t, const region *want,
		       const region *has)
{
	arena *tmp = arena_new();
	int64_t n = plan_tensor_nelem(t), count = 0;
	int *x = ARENA_ARRAY(tmp, int, n), *y = ARENA_ARRAY(tmp, int, n);
	region all = { box_whole(t->dims, t->ndim), 0, n };
	runs it = runs_of(&want->at, &all, want);
	while (runs_next(&it))
		for (int64_t i = 0; i < it.n; i++)
			x[it.dst + i] = it.src + i >= 0 &&
					it.src + i < want->count;
	it = runs_of(&has->at, &all, has);
	while (runs_next(&it))
		for (int64_t i = 0; i < it.n; i++)
			y[it.dst + i] = it.src + i >= 0 &&
					it.src + i < has->count;
	for (int64_t e = 0; e < n; e++)
		count += x[e] && !y[e];
	arena_free(tmp);
	return count * (int64_t)dtype_size(t->type);
}

static int64_t reads_model(const plan *p, int n, const int *coords)
{
	const plan_node *x = &p->nodes[n];
	int ninputs = p->kernels[x->kernel].kernel->ninputs;
	int64_t total = 0;
	for (int i = 0; i < ninputs; i++) {
		bool again = false;
		for (int j = 0; j < i; j++)
			again = again || x->inputs[j] == x->inputs[i];
		if (again)
			continue;
		plan_buffer need = { x->inputs[i], PLAN_NEEDS, n, 0, 0 };
		plan_buffer held = { x->inputs[i], PLAN_STORED, -1, 0, 0 };
		region r = plan_region_at(p, &need, coords);
		region h = plan_region_at(p, &held, coords);
		total += missing(&p->tensors[x->inputs[i]], &r, &h);
	}
	return total;
}

static int64_t result_model(const plan *p, int n, const int *coords)
{
	const plan_node *x = &p->nodes[n];
	uint32_t axes;
	plan_buffer want = { x->output, PLAN_STORED, -1, 0, 0 };
	plan_buffer made = { x->output, PLAN_PRODUCES, n, 0, 0 };
	region w = plan_region_at(p, &want, coords);
	region m = plan_region_at(p, &made, coords);
	if (plan_partial(p, n, &axes) == RED_NONE)
		return missing(&p->tensors[x->output], &w, &m);
	plan_buffer share = { x->output, PLAN_REDUCED_SHARD, n, 0, 0 };
	region own = plan_region_at(p, &share, coords);
	int64_t sharers = 1;
	for (int a = 0; a < p->mesh.naxes; a++)
		if (axes >> a & 1)
			sharers *= p->mesh.size[a];
	return own.count * (sharers - 1) *
		       (int64_t)dtype_size(p->tensors[x->output].type) +
	       missing(&p->tensors[x->output], &w, &own);
}

/* C_m of search.md. */
static int64_t model(const plan *p)
{
	int64_t total = 0;
	for (int w = 0; w < mesh_workers(&p->mesh); w++) {
		int coords[MAX_AXES];
		mesh_coords(&p->mesh, w, coords);
		for (int n = 0; n < p->nnodes; n++)
			total += reads_model(p, n, coords) +
				 result_model(p, n, coords);
	}
	return total;
}

START_TEST(never_more_than_model)
{
	const lower_options separate = { .algorithm = "random",
					 .separate = true };
	int less = 0;
	for (int seed = 0; seed < 200; seed++) {
		arena *a = arena_new();
		rng r = rng_new(20000 + (uint64_t)seed);
		graph *g = random_graph(a, &r, 10);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower_by(a, g, &as, &separate);
		plan *fused = lower(a, g, &as);
		ck_assert_int_eq(byte_model_total(g, &as, as.mesh.naxes),
				 model(p));
		ck_assert_int_le(model(fused), model(p));
		ck_assert_int_le(p->communication_bytes, model(p));
		less += p->communication_bytes < model(p);
		arena_free(a);
	}
	ck_assert_int_gt(less, 0);
}
END_TEST

START_TEST(as_model_where_nothing_is_shared)
{
	int moved = 0;
	for (int seed = 0; seed < 200; seed++) {
		arena *a = arena_new();
		rng r = rng_new(30000 + (uint64_t)seed);
		graph *g = random_chain(a, &r, 6);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower(a, g, &as);
		ck_assert_int_eq(p->communication_bytes, model(p));
		moved += p->communication_bytes > 0;
		arena_free(a);
	}
	ck_assert_int_gt(moved, 0);
}
END_TEST

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
 * workers: to the whole of it 6 S, to blocks 3 S.  What is cut along rows in
 * both steps needs no transfer. */
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
		ck_assert_int_ge(x.nbytes + x.n * PLAN_ALIGN, bound);
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
	Suite *s = suite_create("lower");
	TCase *t = tcase_create("lower");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, same_results);
	tcase_add_test(t, states_are_kept);
	tcase_add_test(t, same_again);
	tcase_add_test(t, pieces_cover);
	tcase_add_test(t, forms_are_alike);
	tcase_add_test(t, never_more_than_model);
	tcase_add_test(t, as_model_where_nothing_is_shared);
	tcase_add_test(t, known_programs);
	tcase_add_test(t, in_place);
	tcase_add_test(t, does_not_grow);
	tcase_add_test(t, updates_follow_gradients);
	tcase_add_test(t, clipped_gradients_wait);
	tcase_add_test(t, gradients_are_summed_in_place);
	tcase_add_test(t, an_eighth_each);
	tcase_add_test(t, fused_kernels_compute_the_same);
	tcase_add_test(t, within_a_limit);
	tcase_add_test(t, at_the_peak);
	tcase_add_test(t, predicted_time);
	tcase_add_test(t, levels_of_a_collective);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: compiler/lower layout plan */
/* Lowering: programs of random graphs under random layouts compute what one
 * device computes, move what the model counts, and pass the checks that a
 * plan file has to pass. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/cost/byte_model.h"
#include "compiler/lower/lower.h"
#include "kernel/eval.h"
#include "layout/runs.h"
#include "plan/classes.h"
#include "tests/unit/lowering.h"
#include "tests/unit/plan_machine.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

static const lower_options options = { .algorithm = "random" };

static plan *lower(arena *a, const graph *g, const assignment *as)
{
	return lower_by(a, g, as, &options);
}

static plan *lower_overlapping(arena *a, const graph *g, const assignment *as)
{
	const lower_options how = {
		.algorithm = "random",
		.schedule = { (lower_order)(g->nnodes % LOWER_NORDERS), true },
	};
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

static int count_zeros(const plan *p)
{
	int n = 0;
	for (int b = 0; b < p->nbuffers; b++)
		n += plan_layout(p, &p->buffers[b]).zeros != 0;
	return n;
}

START_TEST(same_results)
{
	int zeros = 0;
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		graph *g = seed % 3 ? random_graph(a, &r, 1 + seed % 12)
				    : random_sums(a, &r, 1 + seed % 12);
		assignment as = random_assignment(a, &r, g);
		plan *p = seed % 2 ? lower(a, g, &as)
				   : lower_overlapping(a, g, &as);
		plan *one = plan_one_device(a, p);
		diag_sink *s = diag_sink_new(a);
		ck_assert(plan_check(one, s, "one"));
		ck_assert(plan_check_worker(one, 0, s, "one"));
		machine m = machine_new(a, p), whole = machine_new(a, one);
		machine_run(&m);
		machine_run(&whole);
		zeros += count_zeros(p) > 0;
		ck_assert_int_eq(m.received, p->communication_bytes);
		ck_assert_int_eq(whole.received, 0);
		for (int i = 0; i < p->noutputs; i++) {
			int t = p->outputs[i];
			ck_assert_msg(same_values(a, &m, &whole, t),
				      "seed %d, tensor %d", seed, t);
		}
		arena_free(a);
	}
	ck_assert_int_ge(zeros, at_least(8));
}
END_TEST

/* Makes a node that reads zeros read where the tensor is stored; false where
 * there is none. */
static bool read_stored(const plan *p)
{
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_RUN)
			continue;
		int k = p->nodes[in->node].kernel;
		for (int j = 0; j < p->kernels[k].kernel->ninputs; j++) {
			const plan_buffer *b = &p->buffers[in->inputs[j]];
			if (!plan_layout(p, b).zeros)
				continue;
			((int *)in->inputs)[j] = p->tensors[b->tensor].buffer;
			return true;
		}
	}
	return false;
}

/* Without them a term of a sum would be counted more than once. */
START_TEST(zeros_are_checked)
{
	int tried = 0;
	for (int seed = 0; seed < 60; seed++) {
		arena *a = arena_new();
		rng r = rng_new(80000 + (uint64_t)seed);
		graph *g = random_sums(a, &r, 8);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower(a, g, &as);
		diag_sink *s = diag_sink_new(a);
		if (read_stored(p)) {
			ck_assert(!plan_check(p, s, "plan"));
			tried++;
		}
		arena_free(a);
	}
	ck_assert_int_gt(tried, 5);
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
		if (!sampled(seed))
			continue;
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
	ck_assert_int_gt(fused, at_least(50));
}
END_TEST

/* Three figures agree in every step: states and outputs are what the graph
 * says, on all workers and on one. */
START_TEST(states_are_kept)
{
	enum { STEPS = 4 };
	int states = 0, copies = 0;
	for (int seed = 0; seed < 300; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new(50000 + (uint64_t)seed);
		graph *g = random_training(a, &r, 1 + seed % 16);
		assignment as = random_assignment(a, &r, g);
		plan *p = seed % 2 ? lower(a, g, &as)
				   : lower_overlapping(a, g, &as);
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
	ck_assert_int_gt(states, at_least(300));
	ck_assert_int_ge(copies, at_least(9));
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
				   : lower_overlapping(a, g, &as);
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
	const layout_transfer move = plan_transfer(p, in);
	int count = transfer_pieces(tmp, &move, w, &pieces), sharers = 1;
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
			 transfer_bytes(&move, w));
	arena_free(tmp);
}

START_TEST(pieces_cover)
{
	int seen[COLL_COUNT] = { 0 };
	for (int seed = 0; seed < 1000; seed++) {
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

static void check_bytes(layout_classes *f, const plan *p, int buffer)
{
	const plan_buffer *b = &p->buffers[buffer];
	int64_t most = 0;
	for (int w = 0; w < mesh_workers(&p->mesh); w++) {
		region r = plan_region(p, buffer, w);
		most = r.count > most ? r.count : most;
	}
	most *= (int64_t)dtype_size(p->tensors[b->tensor].type);
	ck_assert_int_eq(layout_class_nbytes(f, plan_buffer_class(f, p, b)),
			 most);
}

/* Facts that were found for one buffer hold for all of its class. */
START_TEST(forms_are_alike)
{
	int shared = 0, pairs = 0;
	for (int seed = 0; seed < 60; seed++) {
		arena *a = arena_new();
		rng r = rng_new(60000 + (uint64_t)seed);
		graph *g = random_training(a, &r, 12);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower(a, g, &as);
		layout_classes *f = layout_classes_new(a, &p->mesh);
		for (int x = 0; x < p->nbuffers; x++) {
			int m = plan_buffer_class(f, p, &p->buffers[x]);
			check_bytes(f, p, x);
			for (int y = 0; y < p->nbuffers; y++) {
				int n = plan_buffer_class(f, p, &p->buffers[y]);
				int d = p->tensors[p->buffers[x].tensor].ndim;
				bool same, covers;
				if (p->tensors[p->buffers[y].tensor].ndim != d)
					continue;
				compare(p, x, y, &same, &covers);
				ck_assert(layout_class_same(f, m, n) == same);
				ck_assert(layout_class_cover(f, m, n) ==
					  covers);
				shared += x != y && m == n;
				pairs += same;
			}
		}
		for (int i = 0; i < p->ninstrs; i++) {
			const plan_instr *in = &p->program[i];
			if (in->op == PLAN_RUN)
				continue;
			int pair = plan_instr_class(f, p, in);
			const layout_transfer t = plan_transfer(p, in);
			ck_assert(layout_pair_received(f, pair) ==
				  transfer_total(&t));
			ck_assert(layout_pair_collective(f, pair) ==
				  transfer_collective(&t, transfer_total(&t)));
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

/* Whether a worker is to have zeros in the place of an input: it is replicated
 * along an axis along which the node sums what is partial, and the worker is
 * not the first there. */
static bool reads_zeros(const plan *p, const plan_node *n, int input,
			const int *coords)
{
	const kernel *k = p->kernels[n->kernel].kernel;
	const cuts *c = &p->tensors[n->inputs[input]].cuts;
	for (int a = 0; a < p->mesh.naxes; a++) {
		int v = n->cuts.dim[a];
		if (v < CUT_NONE && c->dim[a] == CUT_NONE && coords[a] > 0 &&
		    k->passings[CUT_NONE - 1 - v].by == RED_SUM &&
		    (k->passings[CUT_NONE - 1 - v].inputs >> input & 1))
			return true;
	}
	return false;
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
		if (again || reads_zeros(p, x, i, coords))
			continue;
		plan_buffer need = { x->inputs[i], LAYOUT_NEEDS, n, 0, 0 };
		plan_buffer held = { x->inputs[i], LAYOUT_STORED, -1, 0, 0 };
		region r = plan_region_at(p, &need, coords);
		region h = plan_region_at(p, &held, coords);
		total += missing(&p->tensors[x->inputs[i]], &r, &h);
	}
	return total;
}

static int64_t result_model(const plan *p, int n, const int *coords)
{
	const plan_node *x = &p->nodes[n];
	plan_buffer want = { x->output, LAYOUT_STORED, -1, 0, 0 };
	plan_buffer made = { x->output, LAYOUT_PRODUCES, n, 0, 0 };
	region w = plan_region_at(p, &want, coords);
	region m = plan_region_at(p, &made, coords);
	const kernel *k = p->kernels[x->kernel].kernel;
	const cuts *to = &p->tensors[x->output].cuts;
	int64_t sharers = 1;
	for (int a = 0; a < p->mesh.naxes; a++) {
		int v = x->cuts.dim[a];
		bool sums = v >= 0 && k->vars[v].kind != KVAR_OUTPUT;
		if ((sums || v < CUT_NONE) && to->dim[a] >= CUT_NONE)
			sharers *= p->mesh.size[a];
	}
	if (sharers == 1)
		return missing(&p->tensors[x->output], &w, &m);
	plan_buffer share = { x->output, LAYOUT_REDUCED_SHARD, n, 0, 0 };
	region own = plan_region_at(p, &share, coords);
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
	int less = 0, zeros = 0;
	for (int seed = 0; seed < 200; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new(20000 + (uint64_t)seed);
		graph *g = seed % 2 ? random_graph(a, &r, 10)
				    : random_sums(a, &r, 10);
		assignment as = random_assignment(a, &r, g);
		plan *p = lower_by(a, g, &as, &separate);
		zeros += count_zeros(p) > 0;
		plan *fused = lower(a, g, &as);
		ck_assert_int_eq(byte_model_total(g, &as, as.mesh.naxes),
				 model(p));
		ck_assert_int_le(model(fused), model(p));
		ck_assert_int_le(p->communication_bytes, model(p));
		less += p->communication_bytes < model(p);
		arena_free(a);
	}
	ck_assert_int_gt(less, 0);
	ck_assert_int_ge(zeros, at_least(8));
}
END_TEST

START_TEST(as_model_where_nothing_is_shared)
{
	int moved = 0;
	for (int seed = 0; seed < 200; seed++) {
		if (!sampled(seed))
			continue;
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

Suite *suite(void)
{
	Suite *s = suite_create("lower");
	TCase *t = tcase_create("lower");
	tcase_add_test(t, same_results);
	tcase_add_test(t, zeros_are_checked);
	tcase_add_test(t, states_are_kept);
	tcase_add_test(t, same_again);
	tcase_add_test(t, pieces_cover);
	tcase_add_test(t, forms_are_alike);
	tcase_add_test(t, never_more_than_model);
	tcase_add_test(t, as_model_where_nothing_is_shared);
	tcase_add_test(t, fused_kernels_compute_the_same);
	suite_add_tcase(s, t);
	return s;
}

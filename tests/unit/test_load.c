/* Tests: compiler/placement */
/* compiler/placement: least loads, against enumeration from the definition. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/placement/load.h"
#include "compiler/placement/load_chain.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { MAX_OPS = 16, MAX_COLOURS = 6, MAX_DEVICES = 4 };

typedef struct instance {
	cost_graph *g;
	load_options o;
	int64_t transfer[MAX_OPS], nbytes[MAX_OPS];
} instance;

static void add_op(cost_builder *b, draw *d, arena *a, int i, bool backward,
		   int colour)
{
	cost_op op = { .id = arena_printf(a, "%d", i), .name = "op",
		       .ms = draw_int(d, 0, 3) ? draw_int(d, 1, 20) : 0,
		       .resident_nbytes = draw_int(d, 0, 2) ?
				draw_int(d, 1, 30) : 0,
		       .mirror = -1, .backward = backward, .colour = colour };
	op.core_ms = draw_int(d, 0, 9) ? op.ms * draw_int(d, 0, 4) : -1;
	op.ns = cost_ns(op.ms);
	op.core_ns = op.core_ms < 0 ? -1 : cost_ns(op.core_ms);
	ck_assert_int_eq(cost_builder_op(b, &op), i);
}

/* Forward operators and, in half of the graphs, backward ones, most of them
 * with the colour of one of the others. */
static cost_graph *draw_graph(arena *a, draw *d)
{
	diag_sink *s = diag_sink_new(a);
	cost_builder *b = cost_builder_new(a, s, "drawn");
	int nf = draw_int(d, 1, MAX_COLOURS), n = nf;
	if (draw_int(d, 0, 1))
		n += draw_int(d, 1, nf);
	for (int i = 0; i < n; i++) {
		int colour = i < nf ? draw_int(d, 0, 5) ? i : 0 :
			draw_int(d, 0, 4) ? i - nf : MAX_COLOURS;
		add_op(b, d, a, i, i >= nf, colour);
	}
	for (int v = 1; v < n; v++)
		for (int u = 0; u < v; u++)
			if (draw_int(d, 0, 2) == 0)
				ck_assert(cost_builder_edge(b, u, v));
	for (int v = 0; v < n; v++)
		cost_builder_result(b, v, 1000, draw_int(d, 0, 9));
	cost_graph *g = cost_builder_finish(b, COST_FORMAT_DNN);
	ck_assert(g);
	return g;
}

static instance *draw_instance(arena *a, draw *d)
{
	instance *x = ARENA_NEW(a, instance);
	int64_t total = 0;
	x->g = draw_graph(a, d);
	x->o.accelerators = draw_int(d, 1, 3);
	x->o.cores = draw_int(d, 0, 1);
	for (int v = 0; v < x->g->nops; v++) {
		x->nbytes[v] = x->g->ops[v].resident_nbytes;
		total += x->nbytes[v];
	}
	x->o.nbytes = x->nbytes;
	x->o.memory_nbytes = draw_int(d, 0, 1) ? INT64_MAX :
		total * draw_int(d, 3, 9) / 10;
	for (int i = 0; i < x->g->nresults; i++)
		x->transfer[i] = cost_ns(x->g->results[i].ms);
	x->o.transfer_ns = x->transfer;
	return x;
}

/* ---- the definition ----------------------------------------------------- */

/* Devices can be put in an order: repeatedly one without a device before it. */
static bool ordered(bool before[MAX_DEVICES][MAX_DEVICES], int n)
{
	bool gone[MAX_DEVICES] = { false };
	for (int round = 0; round < n; round++) {
		int next = -1;
		for (int b = 0; b < n && next < 0; b++) {
			bool first = !gone[b];
			for (int a = 0; a < n; a++)
				first = first && (gone[a] || !before[a][b]);
			next = first ? b : -1;
		}
		if (next < 0)
			return false;
		gone[next] = true;
	}
	return true;
}

static bool has_forward(const cost_graph *g, int colour)
{
	for (int v = 0; v < g->nops; v++)
		if (g->ops[v].colour == colour && !g->ops[v].backward)
			return true;
	return false;
}

static bool contiguous(const cost_graph *g, const int *on, int n)
{
	bool before[MAX_DEVICES][MAX_DEVICES] = { { false } };
	for (int u = 0; u < g->nops; u++)
		for (int e = g->first_succ[u]; e < g->first_succ[u + 1]; e++) {
			const cost_op *p = &g->ops[u];
			const cost_op *q = &g->ops[g->succ[e].op];
			int a = on[p->colour], b = on[q->colour];
			if (a == b || p->backward != q->backward)
				continue;
			if (!p->backward)
				before[a][b] = true;
			else if (!has_forward(g, p->colour) ||
				 !has_forward(g, q->colour))
				before[b][a] = true;
		}
	return ordered(before, n);
}

/* The greatest load of a placement of colours; -1 if it does not fit. */
static int64_t judge(const instance *x, const int *on)
{
	const cost_graph *g = x->g;
	int k = x->o.accelerators, n = k + x->o.cores;
	int64_t load[MAX_DEVICES] = { 0 }, size[MAX_DEVICES] = { 0 }, most = 0;
	for (int v = 0; v < g->nops; v++) {
		int d = on[g->ops[v].colour];
		if (d >= k && g->ops[v].core_ns < 0)
			return -1;
		load[d] += d < k ? g->ops[v].ns : g->ops[v].core_ns;
		size[d] += g->ops[v].resident_nbytes;
	}
	for (int u = 0; u < g->nops; u++)
		for (int d = 0; d < k; d++) {
			bool in = on[g->ops[u].colour] == d, some = in,
			     all = in;
			for (int e = g->first_succ[u];
			     e < g->first_succ[u + 1]; e++) {
				int v = g->succ[e].op;
				bool here = on[g->ops[v].colour] == d;
				some |= here;
				all &= here;
			}
			if (some && !all)
				load[d] += x->transfer[g->first_result[u]];
		}
	for (int d = 0; d < n; d++) {
		if (d < k && size[d] > x->o.memory_nbytes)
			return -1;
		most = load[d] > most ? load[d] : most;
	}
	return most;
}

/* The least over all placements of colours; LOAD_NEVER if none fits. */
#define LOAD_NEVER INT64_MAX

static void enumerate(const instance *x, int64_t *any, int64_t *runs)
{
	int on[MAX_COLOURS + 2] = { 0 }, n = x->o.accelerators + x->o.cores, c;
	*any = *runs = LOAD_NEVER;
	do {
		int64_t load = judge(x, on);
		if (load >= 0 && load < *any)
			*any = load;
		if (load >= 0 && load < *runs && contiguous(x->g, on, n))
			*runs = load;
		for (c = 0; c < x->g->ncolours && ++on[c] == n; c++)
			on[c] = 0;
	} while (c < x->g->ncolours);
}

/* A result says what is so of its placement. */
static void check_result(const instance *x, const load_result *r, arena *a,
			 bool runs)
{
	int on[MAX_COLOURS + 2];
	for (int v = 0; v < x->g->nops; v++)
		on[x->g->ops[v].colour] = r->device[v];
	for (int v = 0; v < x->g->nops; v++)
		ck_assert_int_eq(on[x->g->ops[v].colour], r->device[v]);
	ck_assert_int_eq(judge(x, on), r->ns);
	ck_assert(!runs || contiguous(x->g, on,
				      x->o.accelerators + x->o.cores));
	int64_t *load = load_of(a, x->g, &x->o, r->device), most = 0;
	for (int d = 0; d < x->o.accelerators + x->o.cores; d++)
		most = load[d] > most ? load[d] : most;
	ck_assert_int_eq(most, r->ns);
}

START_TEST(contiguous_as_enumerated)
{
	draw d = { 21 };
	int none = 0, worse = 0;
	for (int i = 0; i < 2000; i++) {
		arena *a = arena_new();
		instance *x = draw_instance(a, &d);
		int64_t any, runs;
		enumerate(x, &any, &runs);
		const load_result *r = load_contiguous(a, x->g, &x->o);
		ck_assert_int_eq(r != NULL, runs != LOAD_NEVER);
		none += !r;
		if (r) {
			ck_assert_msg(r->ns == runs, "%d: %ld, not %ld", i,
				      (long)r->ns, (long)runs);
			ck_assert(r->optimal && r->bound_ns == r->ns);
			check_result(x, r, a, true);
			worse += any < runs;
		}
		arena_free(a);
	}
	ck_assert_int_gt(none, 20);
	ck_assert_int_gt(worse, 20);
}
END_TEST

/* Whether each device has consecutive groups of an order: rank[v] is the place
 * of group v. */
static bool in_runs(const int *rank, const int *device, int n, int k)
{
	for (int d = 0; d < k; d++) {
		int first = n, last = -1, count = 0;
		for (int v = 0; v < n; v++) {
			if (device[v] != d)
				continue;
			count++;
			first = rank[v] < first ? rank[v] : first;
			last = rank[v] > last ? rank[v] : last;
		}
		if (count && last - first + 1 != count)
			return false;
	}
	return true;
}

static int64_t judge_groups(const instance *x, const groups *r,
			    const int *device)
{
	int on[MAX_COLOURS + 2] = { 0 };
	for (int v = 0; v < x->g->nops; v++)
		on[x->g->ops[v].colour] = device[r->of[v]];
	return judge(x, on);
}

/* The least load of all runs of the order in which the sets grow. */
static int64_t enumerate_runs(const instance *x, const groups *r,
			      const ideals *sets)
{
	int rank[MAX_COLOURS + 2] = { 0 }, on[MAX_COLOURS + 2] = { 0 }, v;
	int k = x->o.accelerators + x->o.cores;
	int64_t runs = LOAD_NONE;
	for (v = 0; v < r->n; v++)
		for (int i = 0; i < sets->n; i++)
			rank[v] += !ideal_has(sets, i, v);
	do {
		int64_t load = in_runs(rank, on, r->n, k) ?
			judge_groups(x, r, on) : -1;
		if (load >= 0 && load < runs)
			runs = load;
		for (v = 0; v < r->n && ++on[v] == k; v++)
			on[v] = 0;
	} while (v < r->n);
	return runs;
}

START_TEST(prefixes_as_enumerated)
{
	draw d = { 23 };
	for (int i = 0; i < 300; i++) {
		arena *a = arena_new();
		instance *x = draw_instance(a, &d);
		group_options how = { x->transfer, x->nbytes, x->o.cores > 0,
				      true, false };
		groups *r = groups_new(a, x->g, &how);
		precedence p = { r->n, r->first_before, r->before };
		ideals *sets = ideals_prefixes(a, &p);
		int device[MAX_COLOURS + 2] = { 0 };
		int64_t ns = load_chain(r, sets, &x->o, LOAD_NONE - 1, device);
		ck_assert_int_eq(ns, enumerate_runs(x, r, sets));
		if (ns != LOAD_NONE)
			ck_assert_int_eq(judge_groups(x, r, device), ns);
		arena_free(a);
	}
}
END_TEST

/* A search that is cut short proves nothing. */
START_TEST(deadline_ends_the_search)
{
	draw d = { 24 };
	for (int i = 0; i < 50; i++) {
		arena *a = arena_new();
		instance *x = draw_instance(a, &d);
		x->o.deadline = deadline_in(1e-9);
		const load_result *r = load_contiguous(a, x->g, &x->o);
		if (r)
			check_result(x, r, a, true);
		arena_free(a);
	}
}
END_TEST

/* Any split: never below the bound or the optimum, never above the start, and
 * with so many moves for so few colours nearly always the optimum. */
START_TEST(any_as_enumerated)
{
	draw d = { 22 };
	int missed = 0;
	for (int i = 0; i < 1000; i++) {
		arena *a = arena_new();
		instance *x = draw_instance(a, &d);
		int64_t any, runs;
		enumerate(x, &any, &runs);
		const load_result *from = load_contiguous(a, x->g, &x->o);
		const load_result *r = load_any(a, x->g, &x->o, from, 20000);
		ck_assert_int_eq(r != NULL, any != LOAD_NEVER);
		if (r) {
			ck_assert_int_ge(r->ns, any);
			ck_assert_int_le(r->ns, runs);
			missed += r->ns > any;
			ck_assert_int_le(r->bound_ns, any);
			ck_assert_int_eq(r->optimal, r->bound_ns == r->ns);
			check_result(x, r, a, false);
		}
		arena_free(a);
	}
	ck_assert_int_le(missed, 10);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("load");
	TCase *t = tcase_create("all");
	tcase_add_test(t, contiguous_as_enumerated);
	tcase_add_test(t, prefixes_as_enumerated);
	tcase_add_test(t, deadline_ends_the_search);
	tcase_add_test(t, any_as_enumerated);
	suite_add_tcase(s, t);
	return s;
}

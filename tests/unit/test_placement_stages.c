/* Tests: compiler/placement */
/* compiler/placement: what stages of a profile cost, from the definition. */
#include "config.h"

#include <check.h>
#include <math.h>
#include <string.h>

#include "compiler/placement/stages.h"
#include "tests/unit/draw.h"
#include "tests/unit/suite.h"

enum { MAX_LAYERS = 10 };

typedef struct profile {
	int n;
	int forward[MAX_LAYERS], backward[MAX_LAYERS]; /* us */
	int activation[MAX_LAYERS], parameters[MAX_LAYERS];
	bool reads[MAX_LAYERS][MAX_LAYERS]; /* [v][u] */
} profile;

/* Edges go from lower to higher numbers, so that the order is the file's. */
static profile draw_profile(draw *d)
{
	profile p = { .n = draw_int(d, 1, MAX_LAYERS) };
	for (int v = 0; v < p.n; v++) {
		p.forward[v] = draw_int(d, 1, 3000);
		p.backward[v] = draw_int(d, 1, 3000);
		p.activation[v] = draw_int(d, 1, 100000);
		p.parameters[v] = draw_int(d, 0, 100000);
		for (int u = 0; u < v; u++)
			p.reads[v][u] = u == v - 1 || draw_int(d, 0, 4) == 0;
	}
	return p;
}

static layer_chain *chain_of(arena *a, const profile *p)
{
	diag_sink *sink = diag_sink_new(a);
	char *text = arena_strdup(a, "");
	for (int v = 0; v < p->n; v++)
		text = arena_printf(
			a, "%snode%d -- layer -- forward_compute_time=%.3f, "
			"backward_compute_time=%.3f, activation_size=%d, "
			"parameter_size=%d\n", text, v, p->forward[v] / 1e3,
			p->backward[v] / 1e3, p->activation[v],
			p->parameters[v]);
	for (int v = 0; v < p->n; v++)
		for (int u = 0; u < v; u++)
			if (p->reads[v][u])
				text = arena_printf(a, "%s\tnode%d -- node%d\n",
						    text, u, v);
	cost_graph *g = cost_graph_read_profile(a, sink, "profile", text,
						strlen(text));
	ck_assert(g);
	return layer_chain_new(a, g);
}

static bool read_in(const profile *p, int u, int i, int j)
{
	for (int v = i; v < j; v++)
		if (p->reads[v][u])
			return true;
	return false;
}

/* The definition, one interval at a time. */
static void check_interval(const profile *p, const stage_model *m,
			   const intervals *t, int i, int j)
{
	double in = 0, out = 0, act = 0, parameters = 0, ns = 0;
	size_t x = interval_at(i, j);
	for (int u = 0; u < p->n; u++) {
		if (u < i && read_in(p, u, i, j))
			in += p->activation[u];
		if (u >= i && u < j && read_in(p, u, j, p->n))
			out += p->activation[u];
		if (u < i || u >= j)
			continue;
		act += p->activation[u];
		parameters += p->parameters[u];
		ns += 1e3 * p->forward[u] * (m->recompute ? 2 : 1) +
			1e3 * p->backward[u];
	}
	for (int n = 1; n < 5; n++)
		ck_assert(t->fixed[x] + n * t->kept[x] ==
			  m->factor * parameters + (m->recompute ?
			  n * in + act : n * (in + act)));
	ck_assert(fabs(t->time[x] - ns - 2e9 * (in + out) / m->bandwidth) <=
		  0.5);
	ck_assert(t->time[x] == floor(t->time[x]));
}

START_TEST(intervals_as_defined)
{
	draw d = { 3 };
	for (int k = 0; k < 300; k++) {
		arena *a = arena_new();
		profile p = draw_profile(&d);
		stage_model m = { SCHEDULE_1F1B, 4, k % 2, k % 3 ? 4 : 2.5,
				  k % 5 ? 3e9 : INFINITY, 1 };
		layer_chain *l = chain_of(a, &p);
		ck_assert_int_eq(l->n, p.n);
		intervals *t = layer_intervals(a, l, &m);
		for (int j = 1; j <= p.n; j++)
			for (int i = 0; i < j; i++)
				check_interval(&p, &m, t, i, j);
		arena_free(a);
	}
}
END_TEST

/* The predictor is right on one layer and on two. */
START_TEST(predictor)
{
	draw d = { 4 };
	for (int k = 0; k < 100; k++) {
		arena *a = arena_new();
		profile p = draw_profile(&d);
		stage_model m = { SCHEDULE_1F1B, 4, k % 2, 4, 1e9, 1 };
		intervals *t = layer_intervals(a, chain_of(a, &p), &m);
		intervals *q = intervals_predicted(a, t);
		for (int j = 1; j <= p.n; j++)
			for (int i = 0; i < j; i++) {
				double want = t->kept[interval_at(i, i + 1)];
				for (int v = i + 1; v < j; v++)
					want += t->kept[interval_at(v - 1,
								    v + 1)] -
						t->kept[interval_at(v - 1, v)];
				ck_assert(q->kept[interval_at(i, j)] == want);
				ck_assert(j - i > 2 || want ==
					  t->kept[interval_at(i, j)]);
			}
		arena_free(a);
	}
}
END_TEST

/* Without links a step of 1F1B is no longer than fill, drain and the longest
 * stage, and of GPipe exactly as long as the forward and the backward part. */
START_TEST(simulated)
{
	draw d = { 6 };
	for (int k = 0; k < 300; k++) {
		arena *a = arena_new();
		profile p = draw_profile(&d);
		stage_model m = { k % 2 ? SCHEDULE_1F1B : SCHEDULE_GPIPE,
				  draw_int(&d, 1, 9), draw_int(&d, 0, 1), 4,
				  INFINITY, 1 };
		layer_chain *l = chain_of(a, &p);
		int S = draw_int(&d, 1, p.n < 5 ? p.n : 5);
		split_problem q = { layer_intervals(a, l, &m), S,
				    stage_in_flight(a, &m, S), m.micro_batches,
				    INFINITY };
		split s;
		const char *why;
		double f = 0, b = 0, most_f = 0, most_b = 0;
		ck_assert(split_least_step(a, &q, INFINITY, &s));
		for (int i = 0; i < S; i++) {
			double x = 0, y = 0;
			for (int v = s.first[i]; v < s.first[i + 1]; v++) {
				x += l->forward[v];
				y += l->backward[v] +
					(m.recompute ? l->forward[v] : 0);
			}
			f += x;
			b += y;
			most_f = fmax(most_f, x);
			most_b = fmax(most_b, y);
		}
		const pipeline_run *run = stages_simulate(a, l, &m, &s, S,
							  &why);
		double gpipe = f + b + (m.micro_batches - 1) * (most_f +
								most_b);
		if (m.schedule == SCHEDULE_GPIPE)
			ck_assert(gpipe == (double)run->ns);
		else
			ck_assert((double)run->ns <= gpipe);
		arena_free(a);
	}
}
END_TEST

/* A split is planned with as many micro-batches in flight as its simulation
 * has; with zero bubble, where that depends on times, with no fewer. */
START_TEST(in_flight_as_simulated)
{
	static const pipeline_schedule kinds[] = {
		SCHEDULE_GPIPE, SCHEDULE_1F1B, SCHEDULE_ZB,
	};
	draw d = { 8 };
	int reached = 0;
	for (int k = 0; k < 600; k++) {
		arena *a = arena_new();
		profile p = draw_profile(&d);
		stage_model m = { kinds[k % 3], draw_int(&d, 1, 9),
				  draw_int(&d, 0, 1), 4,
				  k % 2 ? 1e8 : INFINITY, 1 };
		layer_chain *l = chain_of(a, &p);
		int S = draw_int(&d, 1, p.n < 5 ? p.n : 5);
		const int *n = stage_in_flight(a, &m, S);
		split_problem q = { layer_intervals(a, l, &m), S, n,
				    m.micro_batches, INFINITY };
		split s;
		const char *why;
		ck_assert(split_least_peak(a, &q, &s));
		const pipeline_run *run = stages_simulate(a, l, &m, &s, S,
							  &why);
		for (int i = 0; i < S; i++) {
			ck_assert_int_le(run->in_flight[i], n[i]);
			if (m.schedule != SCHEDULE_ZB)
				ck_assert_int_eq(run->in_flight[i], n[i]);
			else
				reached += run->in_flight[i] == n[i];
		}
		arena_free(a);
	}
	ck_assert_int_gt(reached, 200);
}
END_TEST

/* The bytes that a device needs once for all its chunks are a part of fixed. */
START_TEST(running_of_chunks)
{
	draw d = { 9 };
	for (int k = 0; k < 100; k++) {
		arena *a = arena_new();
		profile p = draw_profile(&d);
		stage_model m = { SCHEDULE_INTERLEAVED, 4, k % 2, 4, 1e9, 2 };
		intervals *t = layer_intervals(a, chain_of(a, &p), &m);
		for (int j = 1; j <= p.n; j++)
			for (int i = 0; i < j; i++) {
				double want = 0;
				for (int v = i; v < j; v++)
					want += m.recompute ? p.activation[v] :
							      0;
				ck_assert(t->running[interval_at(i, j)] ==
					  want);
				check_interval(&p, &m, t, i, j);
			}
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("placement_stages");
	TCase *t = tcase_create("all");
	tcase_add_test(t, intervals_as_defined);
	tcase_add_test(t, predictor);
	tcase_add_test(t, simulated);
	tcase_add_test(t, in_flight_as_simulated);
	tcase_add_test(t, running_of_chunks);
	suite_add_tcase(s, t);
	return s;
}

/* Tests: compiler/simulate */
/* Transfers that share links: against closed forms, and what is true of any
 * fair share. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "compiler/simulate/flows.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

enum { MOST = 64 };

/* Flow i begins at begin[i], takes seconds[i] alone, on links[i]. */
typedef struct flow_case {
	int n, nlinks;
	double begin[MOST], seconds[MOST];
	simulated_links links[MOST];
	double end[MOST];
} flow_case;

/* Those that begin at the same instant do so in the order of their numbers;
 * begins rise. */
static void run_case(flow_case *x)
{
	arena *a = arena_new();
	flows *f = flows_new(a, MOST + 1, x->nlinks);
	int begun = 0, ended = 0;
	double now = 0;
	while (ended < x->n) {
		int which;
		for (; begun < x->n && x->begin[begun] <= now; begun++)
			flows_begin(f, begun, &x->links[begun], now,
				    now + x->seconds[begun]);
		/* An alarm for the next that begins. */
		if (begun < x->n)
			flows_begin(f, MOST, NULL, now, x->begin[begun]);
		now = flows_next(f);
		ck_assert_double_ge(now, 0);
		while ((which = flows_ended(f)) >= 0) {
			if (which == MOST)
				continue;
			x->end[which] = now;
			ended++;
		}
	}
	arena_free(a);
}

static void check_end(const flow_case *x, int i, double want)
{
	ck_assert_double_eq_tol(x->end[i], want, 1e-9 * (1 + want));
}

/* A flow that keeps each of n links from `first' on busy all its time. */
static void add_flow(flow_case *x, arena *a, double begin, double seconds,
		     double rate, int first, int n)
{
	simulated_load *at = ARENA_ARRAY(a, simulated_load, n);
	for (int i = 0; i < n; i++)
		at[i] = (simulated_load){ first + i, seconds };
	x->begin[x->n] = begin;
	x->seconds[x->n] = seconds;
	x->links[x->n++] = (simulated_links){ n, at, rate };
}

/* The shorter one, of a seconds, has half of the link from b's begin on. */
START_TEST(two_on_a_link)
{
	for (int seed = 0; seed < 100; seed++) {
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		double s = 1 + rng_below(&r, 9), t = 1 + rng_below(&r, 9);
		double later = rng_below(&r, 12);
		flow_case x = { .nlinks = 1 };
		add_flow(&x, a, 0, s, 3, 0, 1);
		add_flow(&x, a, later, t, 3, 0, 1);
		run_case(&x);
		double left = fmax(s - later, 0);
		bool first = left <= t;
		check_end(&x, 0, later >= s ? s : first ? later + 2 * left
							 : s + t);
		check_end(&x, 1, later >= s ? later + t
				 : first    ? s + t
					    : later + 2 * t);
		arena_free(a);
	}
}
END_TEST

/* n equal ones take n times as long; one alone its own seconds to the bit. */
START_TEST(many_on_a_link)
{
	for (int n = 1; n <= 40; n++) {
		arena *a = arena_new();
		flow_case x = { .nlinks = 2 };
		for (int i = 0; i < n; i++)
			add_flow(&x, a, 0, 0.1, 7, 0, 1);
		add_flow(&x, a, 0, 0.3, 7, 1, 1);
		run_case(&x);
		for (int i = 0; i < n; i++)
			check_end(&x, i, 0.1 * n);
		ck_assert(x.end[n] == 0.3);
		arena_free(a);
	}
}
END_TEST

/* The common example: one flow over all of n links, and one on each of them
 * alone.  Each has half of its link; of a link that is twice as fast, the
 * other has the rest. */
START_TEST(in_a_row)
{
	for (int n = 1; n <= 8; n++) {
		arena *a = arena_new();
		flow_case x = { .nlinks = n + 1 };
		add_flow(&x, a, 0, 10, 1, 0, n);
		for (int i = 0; i < n; i++)
			add_flow(&x, a, 0, 4, 1, i, 1);
		run_case(&x);
		check_end(&x, 0, 14);
		for (int i = 1; i <= n; i++)
			check_end(&x, i, 8);
		arena_free(a);
	}
	arena *a = arena_new();
	flow_case x = { .nlinks = 2 };
	simulated_load both[] = { { 0, 10 }, { 1, 5 } };
	x.n = 1;
	x.seconds[0] = 10;
	x.links[0] = (simulated_links){ 2, both, 1 };
	add_flow(&x, a, 0, 100, 1, 0, 1);
	add_flow(&x, a, 0, 3, 2, 1, 1);
	run_case(&x);
	/* Rates 1/2, 1/2 and 3/2 of 2: four seconds for six bytes. */
	check_end(&x, 2, 4);
	check_end(&x, 0, 20);
	check_end(&x, 1, 110);
	arena_free(a);
}
END_TEST

/* All-reduce around a ring of n devices of z bytes, in 2 (n - 1) rounds, each a
 * message of every device to the next: 2 (n - 1) (latency + z / (n bandwidth)),
 * since no two are on a link.  Over a bus for all of them, which carries c
 * times what a device does, n / c times the second term. */
START_TEST(ring)
{
	const double latency = 0.25, z = 96, bandwidth = 16;
	for (int n = 2; n <= 16; n++)
		for (int bus = 0; bus <= n; bus++) {
			double now = 0, each = z / n / bandwidth;
			for (int round = 0; round < 2 * (n - 1); round++) {
				flow_case x = { .nlinks = 2 * n + 1 };
				simulated_load at[MOST][3];
				for (int i = 0; i < n; i++) {
					at[i][0] = (simulated_load){ i, each };
					at[i][1] = (simulated_load){
						n + (i + 1) % n, each };
					at[i][2] = (simulated_load){
						2 * n, bus ? each / bus : 0 };
					x.seconds[i] = latency + each;
					x.links[i] = (simulated_links){
						3, at[i], bandwidth };
				}
				x.n = n;
				run_case(&x);
				for (int i = 1; i < n; i++)
					check_end(&x, i, x.end[0]);
				now += x.end[0];
			}
			double times = bus ? fmax((double)n / bus, 1) : 1;
			double want = 2 * (n - 1) * (latency + times * each);
			ck_assert_double_eq_tol(now, want, 1e-9 * want);
		}
}
END_TEST

/* No link carries more than it can, all flows together: nobody ends before the
 * last of its link's could at the earliest, nor before it would alone; and a
 * link that all are on is never idle. */
START_TEST(conserved)
{
	for (int seed = 0; seed < 2000; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		flow_case x = { .nlinks = 1 + rng_below(&r, 5) };
		int n = 2 + rng_below(&r, 30);
		double sum = 0, last = 0, begin = 0;
		for (int i = 0; i < n; i++) {
			begin += rng_below(&r, 3) ? 0 : rng_below(&r, 4);
			int first = rng_below(&r, x.nlinks);
			int most = x.nlinks - first;
			add_flow(&x, a, begin, 1 + rng_below(&r, 9),
				 1 + rng_below(&r, 3), first,
				 1 + rng_below(&r, most));
		}
		run_case(&x);
		for (int i = 0; i < n; i++)
			ck_assert_double_ge(x.end[i] + 1e-9,
					    x.begin[i] + x.seconds[i]);
		for (int l = 0; l < x.nlinks; l++) {
			sum = last = 0;
			for (int i = 0; i < n; i++)
				for (int k = 0; k < x.links[i].n; k++)
					if (x.links[i].at[k].link == l) {
						sum += x.seconds[i];
						last = fmax(last, x.end[i]);
					}
			ck_assert_double_ge(last + 1e-9, sum);
		}
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("flows");
	TCase *t = tcase_create("flows");
	tcase_set_timeout(t, 60);
	tcase_add_test(t, two_on_a_link);
	tcase_add_test(t, many_on_a_link);
	tcase_add_test(t, in_a_row);
	tcase_add_test(t, ring);
	tcase_add_test(t, conserved);
	suite_add_tcase(s, t);
	return s;
}

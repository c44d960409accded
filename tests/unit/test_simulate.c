/* Tests: compiler/simulate */
/* Simulated pipelines: against the prediction of one stage, and against a plain
 * reading of the rules. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "compiler/simulate/simulate.h"
#include "tests/unit/random_pipeline.h"
#include "tests/unit/simulate_judge.h"
#include "tests/unit/suite.h"

/* ---- one stage --------------------------------------------------------- */

/* Exactly the time that is predicted, where nothing is sent.  shared: boxes of
 * so many devices, which share a link. */
static void check_one(const plan *p, int shared)
{
	for (int overlap = 0; overlap < 2; overlap++) {
		arena *a = arena_new();
		topology t = *topology_preset(overlap ? 2 : 0);
		const plan_pipeline *one = pipeline_of_plan(a, p);
		t.overlap = overlap;
		if (shared)
			t.levels[0] = (topology_level){
				.name = "boxes", .size = 0, .latency = 1e-6,
				.bandwidth = 1e9, .shared = 1.5e9 };
		if (shared > 1 && mesh_workers(&p->mesh) % 2 == 0) {
			t.nlevels = 2;
			t.levels[1] = (topology_level){
				.name = "devices", .size = 2,
				.latency = 1e-7, .bandwidth = 1e10 };
		}
		const topology *own =
			topology_of(a, &t, mesh_workers(&p->mesh));
		const simulation *s = simulate_pipeline(a, one, &t);
		ck_assert(s->seconds == lower_seconds(p, own));
		ck_assert_double_le(s->stages[0].busy_seconds,
				    s->seconds * (1 + 1e-12));
		arena_free(a);
	}
}

START_TEST(as_predicted)
{
	for (int seed = 0; seed < 300; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		graph *g = seed % 3 ? random_graph(a, &r, 1 + seed % 20)
				    : random_training(a, &r, 1 + seed % 8);
		assignment as = random_assignment(a, &r, g);
		const lower_options o = {
			.algorithm = "random",
			.schedule = { seed / 2 % LOWER_NORDERS, seed % 2 },
		};
		plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
		ck_assert_ptr_nonnull(p);
		check_one(p, seed % 3);
		arena_free(a);
	}
}
END_TEST

static plan_pipeline *made(arena *a, int seed, pipeline_schedule kind)
{
	diag_sink *s = diag_sink_new(a);
	plan_pipeline *p = random_pipeline(a, (uint64_t)seed, kind, s);
	ck_assert_ptr_nonnull(p);
	return p;
}

START_TEST(turns_as_predicted)
{
	int n = 0;
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		plan_pipeline *p = made(a, seed, (pipeline_schedule)(seed % 4));
		if (p->nstages == 1) {
			check_one(&p->stages[0], seed % 3);
			n++;
		}
		arena_free(a);
	}
	ck_assert_int_gt(n, at_least(30));
}
END_TEST

/* ---- the rules --------------------------------------------------------- */

static double *drawn(arena *a, rng *r, int n)
{
	double *all = ARENA_ARRAY(a, double, n);
	for (int i = 0; i < n; i++)
		all[i] = rng_below(r, 4) ? rng_below(r, 10) : 0;
	return all;
}

/* Of one that takes so long: each second link, say. */
static simulated_links drawn_links(arena *a, rng *r, int nlinks,
				   double seconds)
{
	simulated_load *at = ARENA_ARRAY(a, simulated_load, nlinks);
	simulated_links to = { .at = at, .rate = 1 + rng_below(r, 4) };
	int among = 1 + rng_below(r, 3);
	for (int i = 0; i < nlinks; i++)
		if (rng_below(r, among) == 0 && rng_below(r, 2))
			at[to.n++] = (simulated_load){
				i, seconds * rng_below(r, 9) / 8,
			};
	return to;
}

static simulated_links *draw_each(arena *a, rng *r, int nlinks, int n,
				  const double *seconds)
{
	simulated_links *all = ARENA_ARRAY(a, simulated_links, n);
	for (int i = 0; i < n; i++)
		all[i] = drawn_links(a, r, nlinks, seconds[i]);
	return all;
}

static simulated_seconds random_seconds(arena *a, rng *r,
					const plan_pipeline *p)
{
	simulated_seconds x = { .nlinks = 1 + rng_below(r, 6) };
	for (int l = 0; l < TURN_LENGTHS; l++) {
		x.instrs[l] = ARENA_ARRAY(a, double *, p->nstages);
		for (int s = 0; s < p->nstages; s++)
			x.instrs[l][s] = drawn(a, r, p->stages[s].ninstrs);
		x.messages[l] = drawn(a, r, p->nchannels);
		x.instr_links[l] = ARENA_ARRAY(a, simulated_links *,
					       p->nstages);
		for (int s = 0; s < p->nstages; s++)
			x.instr_links[l][s] =
				draw_each(a, r, x.nlinks, p->stages[s].ninstrs,
					  x.instrs[l][s]);
		x.message_links[l] = draw_each(a, r, x.nlinks, p->nchannels,
					       x.messages[l]);
	}
	return x;
}

START_TEST(as_by_hand)
{
	int hidden = 0;
	for (int seed = 0; seed < 400; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		plan_pipeline *p = made(a, seed,
					(pipeline_schedule)(seed / 2 % 4));
		const simulated_seconds x = random_seconds(a, &r, p);
		const simulation *s = simulate_with(a, p, &x, seed % 2);
		const char *why = simulate_judge(a, p, &x, seed % 2, s);
		ck_assert_msg(!why, "seed %d: %s", seed, why);
		hidden += p->nstages > 1;
		arena_free(a);
	}
	ck_assert_int_gt(hidden, at_least(200));
}
END_TEST

/* ---- seconds ----------------------------------------------------------- */

/* Boxes of 4 devices, 3 of them in a rack, any number of racks; of two speeds.
 */
static topology racks(void)
{
	static const topology_devices kinds[] = { { 5, 1, 0 }, { 7, 0.25, 0 } };
	topology t = *topology_preset(2);
	t.nlevels = 3;
	t.levels[0] = (topology_level){ "racks", 0, 7e-3, 1e6 };
	t.levels[1] = (topology_level){ "boxes", 3, 5e-4, 1e7 };
	t.levels[2] = (topology_level){ "devices", 4, 3e-5, 1e8 };
	t.nkinds = 2;
	t.kinds = kinds;
	return t;
}

static int level_of(int v, int w)
{
	return v == w ? 3 : v / 12 != w / 12 ? 0 : v / 4 != w / 4 ? 1 : 2;
}

/* The seconds of a worker that takes or sends so many bytes over each level. */
static double longest_way(const topology *t, const double *bytes)
{
	double latency = 0, longest = 0;
	for (int i = 0; i < 3; i++) {
		double s = bytes[i] / t->levels[i].bandwidth;
		if (bytes[i] > 0 && t->levels[i].latency > latency)
			latency = t->levels[i].latency;
		longest = s > longest ? s : longest;
	}
	return latency + longest;
}

/* Seconds of the bytes of the busiest of what boxes or racks share, 96 devices
 * of these; after the latency of the longest way. */
static double shared_way(const topology *t, double bytes[2][2][96],
			 double latency)
{
	double most = 0;
	for (int level = 0; level < 2; level++)
		for (int i = 0; i < 2 * 96 && t->levels[level].shared > 0; i++)
			most = fmax(most, bytes[level][i % 2][i / 2] /
						  t->levels[level].shared);
	return most > 0 ? latency + most : 0;
}

static double channel_seconds(arena *a, const plan_pipeline *p,
			      const topology *t, int c, int turn)
{
	double parts[2][2][96] = { 0 }, latency = 0;
	const plan_channel *ch = &p->channels[c];
	int first = pipeline_first(p, ch->from);
	int second = pipeline_first(p, ch->to);
	int n = mesh_workers(&p->stages[ch->from].mesh);
	double longest = 0;
	double (*sent)[3] = arena_calloc(a, (size_t)n, sizeof(*sent));
	for (int w = mesh_workers(&p->stages[ch->to].mesh); w-- > 0;) {
		double taken[3] = { 0 };
		piece *q;
		int k = pipeline_pieces(a, p, c, turn, w, &q);
		for (int i = 0; i < k; i++) {
			int at = level_of(first + q[i].peer, second + w);
			double bytes = 4 * (double)box_volume(&q[i].at);
			taken[at] += bytes;
			sent[q[i].peer][at] += bytes;
			if (at < 3)
				latency = fmax(latency, t->levels[at].latency);
			if (at > 1)
				continue;
			int of = at == 0 ? 12 : 4;
			parts[at][0][(first + q[i].peer) / of] += bytes;
			parts[at][1][(second + w) / of] += bytes;
		}
		double s = longest_way(t, taken);
		longest = s > longest ? s : longest;
	}
	for (int w = 0; w < n; w++) {
		double s = longest_way(t, sent[w]);
		longest = s > longest ? s : longest;
	}
	return fmax(longest, shared_way(t, parts, latency));
}

static void check_channels(arena *a, const plan_pipeline *p, const topology *t,
			   const simulated_seconds *x)
{
	for (int c = 0; c < p->nchannels; c++) {
		const plan_loop *o = &p->stages[p->channels[c].from].loop;
		for (int i = 0; i < o->turns; i++) {
			double want = channel_seconds(a, p, t, c, i);
			double is = x->messages[simulated_length(o, i)][c];
			ck_assert_double_eq_tol(is, want, want * 1e-12);
		}
	}
}

/* A stage's instructions on a machine whose links are all as the slowest that
 * it crosses take at least as long; runs of kernels by the slowest device. */
static void check_instrs(arena *a, const plan_pipeline *p, const topology *t,
			 const simulated_seconds *x)
{
	topology fast = *t;
	fast.nkinds = 0;
	const simulated_seconds y = simulated_seconds_of(a, p, &fast);
	for (int s = 0; s < p->nstages; s++) {
		const plan *q = &p->stages[s];
		bool slow = pipeline_first(p, s + 1) > 5;
		turn_length l = simulated_length(&q->loop, -1);
		for (int i = 0; i < q->ninstrs; i++) {
			bool runs = q->program[i].op == PLAN_RUN;
			double by = slow && runs ? 4 : 1;
			double want = by * y.instrs[l][s][i];
			ck_assert_double_eq_tol(x->instrs[l][s][i], want,
						want * 1e-12 + 1e-30);
		}
	}
}

START_TEST(levels_and_speeds)
{
	int channels = 0;
	for (int seed = 0; seed < 300; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		topology t = racks();
		t.levels[0].shared = seed % 2 * 1.5e6;
		t.levels[1].shared = seed / 2 % 2 * 1.2e7;
		plan_pipeline *p = made(a, seed, SCHEDULE_1F1B);
		const simulated_seconds x = simulated_seconds_of(a, p, &t);
		check_channels(a, p, &t, &x);
		check_instrs(a, p, &t, &x);
		channels += p->nchannels;
		arena_free(a);
	}
	ck_assert_int_gt(channels, at_least(300));
}
END_TEST

/* Devices 2 and 3 on are in two boxes: what moves between them does so over the
 * slow links, although four would fit into one box. */
START_TEST(across_boxes)
{
	int moved = 0;
	for (int seed = 0; seed < 300; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		topology t = racks(), slow = t;
		plan_pipeline *p = made(a, seed, SCHEDULE_1F1B);
		t.nkinds = slow.nkinds = 0;
		slow.nlevels = 1;
		slow.levels[0] = t.levels[1];
		slow.levels[0].size = 0;
		const simulated_seconds x = simulated_seconds_of(a, p, &t);
		const simulated_seconds y = simulated_seconds_of(a, p, &slow);
		for (int s = 0; s < p->nstages; s++) {
			const plan *q = &p->stages[s];
			int from = pipeline_first(p, s);
			int last = pipeline_first(p, s + 1) - 1;
			turn_length l = simulated_length(&q->loop, -1);
			if (level_of(from, last) != 1 || last - from >= 4)
				continue;
			for (int i = 0; i < q->ninstrs; i++) {
				ck_assert_double_eq(x.instrs[l][s][i],
						    y.instrs[l][s][i]);
				moved += plan_moves(&q->program[i]);
			}
		}
		arena_free(a);
	}
	ck_assert_int_gt(moved, at_least(30));
}
END_TEST

/* ---- memory ------------------------------------------------------------ */

START_TEST(memory)
{
	int64_t used = 0, had = 0;
	for (int seed = 0; seed < 200; seed++) {
		if (!sampled(seed))
			continue;
		arena *a = arena_new();
		rng r = rng_new((uint64_t)seed);
		plan_pipeline *p = made(a, seed,
					(pipeline_schedule)(seed / 2 % 4));
		const simulated_seconds x = random_seconds(a, &r, p);
		const simulation *s = simulate_with(a, p, &x, seed % 2);
		for (int i = 0; i < p->nstages; i++) {
			int n;
			int64_t most = 0;
			const simulated_use *u =
				simulated_memory(a, p, s, i, &n);
			ck_assert_int_gt(n, 0);
			ck_assert_double_eq(u[0].seconds, 0);
			for (int k = 0; k < n; k++) {
				ck_assert_int_ge(u[k].nbytes, 0);
				ck_assert_double_le(u[k].seconds, s->seconds);
				most = u[k].nbytes > most ? u[k].nbytes : most;
				if (k > 0)
					ck_assert_double_gt(
						u[k].seconds,
						u[k - 1].seconds);
			}
			ck_assert_int_le(most, p->stages[i].arena_bytes);
			used += most;
			had += p->stages[i].arena_bytes;
		}
		arena_free(a);
	}
	ck_assert_int_gt(used * 2, had);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("simulate");
	TCase *t = tcase_create("simulate");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, as_predicted);
	tcase_add_test(t, turns_as_predicted);
	tcase_add_test(t, as_by_hand);
	tcase_add_test(t, levels_and_speeds);
	tcase_add_test(t, across_boxes);
	tcase_add_test(t, memory);
	suite_add_tcase(s, t);
	return s;
}

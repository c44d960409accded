/* Tests: compiler/lower */
/* The programs of one assignment, made from what they have in common, held
 * against programs that are made alone. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "compiler/lower/cost.h"
#include "compiler/lower/lower.h"
#include "tests/unit/random_graph.h"
#include "tests/unit/suite.h"

enum { NGRAPHS = 40 };

typedef struct scene {
	arena *a;
	const graph *g;
	assignment as;
	lowering *shared;
} scene;

static const lower_options options = { .algorithm = "random" };

static scene new_scene(int seed)
{
	scene x = { .a = arena_new() };
	rng r = rng_new(97000 + (uint64_t)seed);
	x.g = random_training(x.a, &r, 20);
	x.as = random_assignment(x.a, &r, x.g);
	x.shared = lowering_new(x.a, x.g, &x.as, &options, diag_sink_new(x.a));
	return x;
}

static lower_choice choice(int i)
{
	static const int64_t rooms[] = { 0, 1, 3000, 20000, PLAN_MAX_BYTES };
	enum { NROOMS = sizeof(rooms) / sizeof(*rooms) };
	lower_order order = (lower_order)(i / NROOMS % LOWER_NORDERS);
	return (lower_choice){ rooms[i % NROOMS],
			       { order, i / NROOMS / LOWER_NORDERS } };
}

enum { NCHOICES = 5 * LOWER_NORDERS * 2 };

/* A program made after all others of the assignment is that which is made
 * alone: same text, rooms and seconds, to the last bit. */
START_TEST(as_if_made_alone)
{
	const topology *t = topology_preset(0);
	for (int seed = 0; seed < NGRAPHS; seed++) {
		scene x = new_scene(seed);
		layout_classes *f = lowering_classes(x.shared);
		instr_times *times = instr_times_new(x.a, f, t);
		for (int i = 0; i < NCHOICES; i++) {
			lower_choice which = choice(i);
			lower_rooms rooms, alone;
			lower_options o = options;
			size_t n, m;
			o.memory = which.memory;
			o.schedule = which.schedule;
			o.rooms = &alone;
			plan *q = lower_plan(x.a, x.g, &x.as, &o,
					     diag_sink_new(x.a));
			plan *p = lowering_draft(x.a, x.shared, which, &rooms);
			p = lowering_place(x.a, x.shared, which, p, &rooms);
			char *text = plan_text(x.a, p, "x", &n);
			char *other = plan_text(x.a, q, "x", &m);
			ck_assert(n == m && !memcmp(text, other, n));
			ck_assert(!memcmp(&rooms, &alone, sizeof(rooms)));
			ck_assert(lower_time_with(times, p).run ==
				  lower_seconds(q, t));
		}
		arena_free(x.a);
	}
}
END_TEST

/* Without places a program tells how long it takes at least: as those with
 * places say, and no more than they take. */
START_TEST(late_without_places)
{
	for (int seed = 0; seed < NGRAPHS; seed++) {
		scene x = new_scene(seed);
		topology t = *topology_preset(0);
		lower_rooms rooms;
		t.overlap = seed % 2;
		instr_times *times =
			instr_times_new(x.a, lowering_classes(x.shared), &t);
		for (int i = 0; i < NCHOICES; i++) {
			lower_choice which = choice(i);
			if (which.memory > 1 && which.memory < PLAN_MAX_BYTES)
				continue;
			plan *p = lowering_draft(x.a, x.shared, which, &rooms);
			double least = lower_bounds(times, p).least_kept;
			p = lowering_place(x.a, x.shared, which, p, &rooms);
			lower_times placed = lower_time_with(times, p);
			ck_assert_double_eq_tol(least, placed.least_kept,
						1e-12 * least);
			ck_assert_double_le(least, placed.run * (1 + 1e-12));
		}
		arena_free(x.a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("lowering");
	TCase *t = tcase_create("lowering");
	tcase_add_test(t, as_if_made_alone);
	tcase_add_test(t, late_without_places);
	suite_add_tcase(s, t);
	return s;
}

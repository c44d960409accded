/* Tests: compiler/portfolio */
/* Bytes in use for a while in stages of layers, against all sums. */
#include "config.h"

#include <check.h>
#include <math.h>

#include "compiler/portfolio/pipeline_passing.h"
#include "tests/unit/random_layouts.h"
#include "tests/unit/suite.h"

enum { LAYERS = 7, INSTRS = 3 * LAYERS, USES = 24 };

/* Layer of an instruction: all layers twice forwards, once backwards. */
static int layer_at(int i)
{
	return i < 2 * LAYERS ? i / 2 : 3 * LAYERS - 1 - i;
}

static passing_use random_use(rng *r)
{
	int first = rng_below(r, INSTRS), low = rng_below(r, LAYERS);
	return (passing_use){ first, first + rng_below(r, INSTRS - first), low,
			      low + rng_below(r, LAYERS - low),
			      1 + rng_below(r, 9) };
}

/* The most that layers [i, j) have at a time of all that they alone share. */
static double most_of(const passing_uses *uses, int i, int j)
{
	double most = 0;
	for (int t = 0; t < INSTRS; t++) {
		double now = 0;
		for (int u = 0; u < uses->n; u++) {
			const passing_use *x = &uses->at[u];
			int q = layer_at(t);
			int low = x->low < q ? x->low : q;
			int high = x->high > q ? x->high : q;
			if (x->first <= t && t <= x->last && low >= i &&
			    high < j)
				now += x->nbytes;
		}
		if (layer_at(t) >= i && layer_at(t) < j)
			most = fmax(most, now);
	}
	return most;
}

static void check_uses(arena *a, const passing_uses *uses)
{
	passing_corners corners[LAYERS];
	const passing_corners *of[LAYERS];
	double table[(LAYERS + 1) * (LAYERS + 1)] = { 0 };
	for (int l = 0; l < LAYERS; l++) {
		int at[INSTRS], n = 0;
		for (int t = 0; t < INSTRS; t++)
			if (layer_at(t) == l)
				at[n++] = t;
		corners[l] = passing_of_layer(a, uses, l, at, n);
		of[l] = &corners[l];
	}
	passing_of_stages(of, LAYERS, table);
	for (int i = 0; i < LAYERS; i++)
		for (int j = i + 1; j <= LAYERS; j++)
			ck_assert_double_eq(table[i * (LAYERS + 1) + j],
					    most_of(uses, i, j));
}

START_TEST(stages_have_what_their_layers_share)
{
	for (uint64_t seed = 0; seed < 300; seed++) {
		arena *a = arena_new();
		rng r = rng_new(seed);
		passing_uses uses = { 0 };
		int n = rng_below(&r, USES);
		for (int u = 0; u < n; u++)
			vec_push(a, &uses, random_use(&r));
		check_uses(a, &uses);
		arena_free(a);
	}
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("pipeline passing");
	TCase *t = tcase_create("pipeline passing");
	tcase_add_test(t, stages_have_what_their_layers_share);
	suite_add_tcase(s, t);
	return s;
}

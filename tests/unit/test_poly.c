/* Tests: compiler/analysis */
/* compiler/analysis/poly: normal forms, text, proofs.  Proofs are held against
 * enumeration. */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/analysis/poly.h"
#include "compiler/analysis/symbolic.h"
#include "tests/unit/suite.h"

/* Atoms of every test: sizes X, Y, S >= 1, an attribute p of any sign, and a
 * variable 0 <= i <= X - 1. */
enum { X, Y, S, P, I, NAMED };

typedef struct fixture {
	arena *a;
	poly_space *s;
	const poly *x, *y, *z, *p, *i;
} fixture;

static fixture begin(void)
{
	arena *a = arena_new();
	fixture f = { .a = a, .s = poly_space_new(a) };
	f.x = poly_of(a, poly_new_atom(f.s, ATOM_SIZE, "X", 1));
	f.y = poly_of(a, poly_new_atom(f.s, ATOM_SIZE, "Y", 1));
	f.z = poly_of(a, poly_new_atom(f.s, ATOM_SIZE, "S", 1));
	f.p = poly_of(a, poly_new_atom(f.s, ATOM_ATTR, "p", POLY_NO_MIN));
	f.i = poly_of(a, poly_new_atom(f.s, ATOM_VAR, "i", 0));
	f.s->atoms[I].max = poly_shift(a, f.x, -1);
	return f;
}

static const poly *n(const fixture *f, int64_t i)
{
	return poly_int(f->a, i);
}

static void shows(const fixture *f, const poly *p, const char *text)
{
	ck_assert_str_eq(poly_text(f->a, f->s, p), text);
}

START_TEST(text)
{
	fixture f = begin();
	arena *a = f.a;
	shows(&f, n(&f, 0), "0");
	shows(&f, n(&f, -3), "-3");
	shows(&f, NULL, "?");
	shows(&f, poly_shift(a, f.y, -1), "Y - 1");
	shows(&f, poly_shift(a, poly_sub(a, f.x, f.y), 1), "X - Y + 1");
	shows(&f, poly_sub(a, n(&f, 1), f.x), "1 - X");
	shows(&f, poly_sub(a, f.y, f.x), "Y - X");
	shows(&f, poly_scale(a, f.x, -1), "-X");
	shows(&f, poly_mul(a, poly_add(a, f.x, f.y), poly_sub(a, f.x, f.y)),
	      "X*X - Y*Y");
	const poly *q = poly_div(f.s, poly_sub(a, f.x, f.y), f.z);
	shows(&f, poly_shift(a, q, 1), "(X - Y) / S + 1");
	shows(&f, poly_mul(a, q, f.z), "S*((X - Y) / S)");
	shows(&f, poly_sub(a, f.x, q), "X - (X - Y) / S");
	shows(&f, poly_mod(f.s, f.x, n(&f, 7)), "X % 7");
	shows(&f, poly_div(f.s, f.x, poly_mul(a, f.y, f.z)), "X / (Y*S)");
	shows(&f, poly_min(f.s, f.x, f.y), "min(X, Y)");
	arena_free(a);
}
END_TEST

START_TEST(normal_form)
{
	fixture f = begin();
	arena *a = f.a;
	ck_assert(poly_is_zero(poly_sub(a, f.x, f.x)));
	ck_assert(poly_equal(poly_add(a, f.x, f.y), poly_add(a, f.y, f.x)));
	ck_assert(!poly_equal(f.x, f.y));
	ck_assert(!poly_equal(NULL, NULL));
	/* (6*X + 4) / 2, (S*X + p) / S, (S*X + S) % S, X / X */
	const poly *even = poly_shift(a, poly_scale(a, f.x, 6), 4);
	shows(&f, poly_div(f.s, even, n(&f, 2)), "3*X + 2");
	shows(&f, poly_div(f.s, poly_add(a, poly_mul(a, f.x, f.z), f.p), f.z),
	      "X + p / S");
	shows(&f, poly_mod(f.s, poly_add(a, poly_mul(a, f.x, f.z), f.z), f.z),
	      "0");
	shows(&f, poly_div(f.s, f.x, f.x), "1");
	shows(&f, poly_div(f.s, n(&f, -7), n(&f, 2)), "-4");
	shows(&f, poly_mod(f.s, n(&f, -7), n(&f, 2)), "1");
	/* min and max that the ranges decide */
	shows(&f, poly_min(f.s, f.i, f.x), "i");
	shows(&f, poly_max(f.s, f.i, n(&f, 0)), "i");
	/* one atom for one division */
	int before = f.s->natoms;
	const poly *q = poly_div(f.s, f.x, f.z);
	ck_assert(poly_equal(q, poly_div(f.s, f.x, f.z)));
	ck_assert_int_eq(f.s->natoms, before + 1);
	arena_free(a);
}
END_TEST

START_TEST(not_known)
{
	fixture f = begin();
	arena *a = f.a;
	const poly *big = n(&f, INT64_MAX);
	ck_assert_ptr_null(poly_add(a, big, n(&f, 1)));
	ck_assert_ptr_null(poly_scale(a, big, 2));
	ck_assert_ptr_null(poly_mul(a, big, big));
	ck_assert_ptr_null(poly_scale(a, n(&f, INT64_MIN), -1));
	ck_assert_ptr_null(poly_add(a, NULL, f.x));
	ck_assert_ptr_null(poly_mul(a, f.x, NULL));
	ck_assert_ptr_null(poly_div(f.s, f.x, n(&f, 0)));
	ck_assert_ptr_null(poly_mod(f.s, f.x, n(&f, -2)));
	ck_assert_ptr_null(poly_min(f.s, f.x, NULL));
	ck_assert(!poly_nonneg(f.s, NULL, NULL));
	const poly *p = f.x;
	for (int k = 1; k < POLY_MAX_DEGREE; k++)
		p = poly_mul(a, p, f.x);
	ck_assert_ptr_nonnull(p);
	ck_assert_ptr_null(poly_mul(a, p, f.x));
	/* Nested ever deeper, each time twice as large. */
	p = f.x;
	for (int k = 0; k < 30 && p; k++)
		p = poly_div(f.s, p, poly_add(a, p, f.y));
	ck_assert_ptr_null(p);
	arena_free(a);
}
END_TEST

START_TEST(values)
{
	fixture f = begin();
	arena *a = f.a;
	int64_t v[POLY_MAX_ATOMS] = { [X] = 17, [Y] = 3, [S] = 4, [P] = -2 }, r;
	const poly *q = poly_div(f.s, poly_sub(a, f.x, f.y), f.z);
	ck_assert(poly_eval(f.s, q, v, &r) && r == 3);
	ck_assert(poly_eval(f.s, poly_div(f.s, f.p, n(&f, 3)), v, &r) &&
		  r == -1);
	ck_assert(poly_eval(f.s, poly_mod(f.s, f.p, n(&f, 3)), v, &r) &&
		  r == 1);
	ck_assert(poly_eval(f.s, poly_max(f.s, f.x, f.p), v, &r) && r == 17);
	v[S] = 0;
	ck_assert(!poly_eval(f.s, q, v, &r));
	v[X] = INT64_MAX;
	ck_assert(!poly_eval(f.s, poly_mul(a, f.x, f.y), v, &r));
	ck_assert(!poly_eval(f.s, NULL, v, &r));
	/* substitution goes into atoms */
	const poly *in = poly_subst(f.s, q, X, poly_add(a, f.y, n(&f, 1)));
	shows(&f, in, "1 / S");
	shows(&f, poly_subst(f.s, q, X, f.y), "0");
	arena_free(a);
}
END_TEST

START_TEST(split)
{
	fixture f = begin();
	arena *a = f.a;
	const poly *c, *rest;
	const poly *p = poly_add(a, poly_mul(a, f.z, f.i),
				 poly_sub(a, f.i, f.x));
	ck_assert(poly_split(f.s, a, p, I, &c, &rest));
	shows(&f, c, "S + 1");
	shows(&f, rest, "-X");
	ck_assert(!poly_split(f.s, a, poly_mul(a, f.i, f.i), I, &c, &rest));
	ck_assert(!poly_split(f.s, a, poly_div(f.s, f.i, f.z), I, &c, &rest));
	arena_free(a);
}
END_TEST

/* ---- proofs ------------------------------------------------------------- */

START_TEST(proven)
{
	fixture f = begin();
	arena *a = f.a;
	const poly *q = poly_div(f.s, f.i, f.z), *m = poly_mod(f.s, f.i, f.z);
	const poly *w = poly_div(f.s, poly_sub(a, f.x, f.y), f.z);
	const poly *xy = poly_mul(a, f.x, f.y);
	const struct {
		const char *what;
		const poly *goal;
		bool holds;
	} cases[] = {
		{ "X - 1", poly_shift(a, f.x, -1), true },
		{ "X - 2", poly_shift(a, f.x, -2), false },
		{ "X*Y - 1", poly_shift(a, xy, -1), true },
		{ "X*Y - X", poly_sub(a, xy, f.x), true },
		{ "X*Y - X - Y", poly_sub(a, poly_sub(a, xy, f.x), f.y),
		  false },
		{ "X - 1 - i", poly_sub(a, poly_shift(a, f.x, -1), f.i), true },
		{ "i - 1", poly_shift(a, f.i, -1), false },
		{ "p", f.p, false },
		{ "p*p", poly_mul(a, f.p, f.p), false },
		{ "X - 1 - i / S", poly_sub(a, poly_shift(a, f.x, -1), q),
		  true },
		{ "i - S * (i / S)", poly_sub(a, f.i, poly_mul(a, f.z, q)),
		  true },
		{ "S - 1 - i % S", poly_sub(a, poly_shift(a, f.z, -1), m),
		  true },
		{ "X - 1 - i % S", poly_sub(a, poly_shift(a, f.x, -1), m),
		  true },
		{ "X - Y - S * ((X - Y) / S)",
		  poly_sub(a, poly_sub(a, f.x, f.y), poly_mul(a, f.z, w)),
		  true },
		{ "(X - Y) / S", w, false },
		{ "2*X - 1 - (2*X - 1) % 7",
		  poly_sub(a, poly_shift(a, poly_scale(a, f.x, 2), -1),
			   poly_mod(f.s, poly_shift(a, poly_scale(a, f.x, 2),
						    -1), n(&f, 7))), true },
	};
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		ck_assert_msg(poly_nonneg(f.s, NULL, cases[k].goal) ==
			      cases[k].holds, "%s", cases[k].what);
	/* with a condition: i < Y shows Y - 1 - i */
	const poly *fact = poly_sub(a, poly_shift(a, f.y, -1), f.i);
	ck_assert(!poly_nonneg(f.s, NULL, fact));
	ck_assert(poly_nonneg(f.s, &(poly_facts){ 1, &fact }, fact));
	arena_free(a);
}
END_TEST

static unsigned seed;

static int below(int limit)
{
	seed = seed * 1103515245u + 12345u;
	return (int)(seed >> 16) % limit;
}

static const poly *random_poly(const fixture *f, int depth)
{
	const poly *leaf[] = { f->x, f->y, f->z, f->p, f->i };
	if (depth == 0 || below(4) == 0)
		return below(3) ? leaf[below(5)] : n(f, below(7) - 3);
	const poly *x = random_poly(f, depth - 1);
	const poly *y = random_poly(f, depth - 1);
	switch (below(8)) {
	case 0:
	case 1:
		return poly_add(f->a, x, y);
	case 2:
	case 3:
		return poly_sub(f->a, x, y);
	case 4:
		return poly_mul(f->a, x, y);
	case 5:
		return poly_div(f->s, x, below(2) ? f->z : n(f, 1 + below(4)));
	case 6:
		return poly_mod(f->s, x, below(2) ? f->z : n(f, 1 + below(4)));
	default:
		return below(2) ? poly_min(f->s, x, y) : poly_max(f->s, x, y);
	}
}

/* The next assignment of small values; false after the last. */
static bool next(int64_t *v)
{
	static const int64_t last[NAMED] = { 4, 3, 3, 2, 3 };
	static const int64_t first[NAMED] = { 1, 1, 1, -2, 0 };
	for (int k = 0; k < NAMED; k++) {
		if (v[k] < last[k]) {
			v[k]++;
			return true;
		}
		v[k] = first[k];
	}
	return false;
}

/* Every proven statement holds for all small values, and no point is found at
 * which it does not. */
START_TEST(sound)
{
	int proofs = 0, refuted = 0;
	for (seed = 1; seed < 60000u;) {
		fixture f = begin();
		unsigned start = seed;
		const poly *p = random_poly(&f, 4);
		int64_t v[POLY_MAX_ATOMS] = { 1, 1, 1, -2, 0 }, r;
		bool shown = p && poly_nonneg(f.s, NULL, p);
		bool wrong = p && poly_refuted(f.s, NULL, p);
		ck_assert_msg(!(shown && wrong), "seed %u: %s", start,
			      shown ? poly_text(f.a, f.s, p) : "");
		proofs += shown;
		refuted += wrong;
		while (shown && next(v)) {
			if (v[I] >= v[X] || !poly_eval(f.s, p, v, &r))
				continue;
			ck_assert_msg(r >= 0, "seed %u: %s", start,
				      poly_text(f.a, f.s, p));
		}
		arena_free(f.a);
		seed = start + 37;
	}
	ck_assert_int_gt(proofs, 200);
	ck_assert_int_gt(refuted, 700);
}
END_TEST

/* An interval holds every value that the expression takes. */
START_TEST(intervals)
{
	int known = 0;
	for (unsigned start = 1; start < 40000u; start += 37) {
		fixture f = begin();
		seed = start;
		const poly *p = random_poly(&f, 4);
		sym_range over = { I, { poly_int(f.a, 0), f.s->atoms[I].max } };
		sym_interval in = { NULL, NULL };
		if (p)
			in = symbolic_interval(f.s, p, &over, 1, NULL);
		int64_t v[POLY_MAX_ATOMS] = { 1, 1, 1, -2, 0 }, r, lo, hi;
		known += in.lo && in.hi;
		while (in.lo && in.hi && next(v)) {
			if (v[I] >= v[X] || !poly_eval(f.s, p, v, &r) ||
			    !poly_eval(f.s, in.lo, v, &lo) ||
			    !poly_eval(f.s, in.hi, v, &hi))
				continue;
			ck_assert_msg(lo <= r && r <= hi,
				      "start %u: %s in [%s, %s]", start,
				      poly_text(f.a, f.s, p),
				      poly_text(f.a, f.s, in.lo),
				      poly_text(f.a, f.s, in.hi));
		}
		ck_assert(!in.lo || !poly_uses(f.s, in.lo, I));
		arena_free(f.a);
	}
	ck_assert_int_gt(known, 500);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("poly");
	TCase *t = tcase_create("poly");
	tcase_add_test(t, text);
	tcase_add_test(t, normal_form);
	tcase_add_test(t, not_known);
	tcase_add_test(t, values);
	tcase_add_test(t, split);
	tcase_add_test(t, proven);
	tcase_add_test(t, sound);
	tcase_add_test(t, intervals);
	suite_add_tcase(s, t);
	return s;
}

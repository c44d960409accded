/* Tests: kernel */
/* Regions of affine reads against isl, on extents that are too large to
 * enumerate. */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/val.h>

#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

enum { KERNELS = 60, SIZE = 1000 };

/* The image of a part of the space under the read, as isl writes it:
 * { [i, j] -> [2*i + j] : 0 <= i < 5 and .. and i < j }. */
static isl_set *image(isl_ctx *ctx, arena *a, const kernel *k,
		      const box *space, const kexpr *read, const kexpr *when)
{
	const char *s = "{ [", *sep = "";
	for (int v = 0; v < k->nvars; v++, sep = ", ")
		s = arena_printf(a, "%s%s%s", s, sep, k->vars[v].name);
	s = arena_printf(a, "%s] -> [", s);
	sep = "";
	for (int d = 0; d < kx_ndim(read); d++, sep = ", ")
		s = arena_printf(a, "%s%s%s", s, sep,
				 kx_text(a, k, read->args[d]));
	s = arena_printf(a, "%s] : %s", s,
			 when ? kx_text(a, k, when) : "0 = 0");
	for (int v = 0; v < k->nvars; v++)
		s = arena_printf(a, "%s and %" PRId64 " <= %s < %" PRId64, s,
				 space->lo[v], k->vars[v].name, space->hi[v]);
	isl_map *m = isl_map_read_from_str(ctx, arena_printf(a, "%s }", s));
	ck_assert_msg(m != NULL, "isl does not read %s }", s);
	return isl_map_range(m);
}

static int64_t number(isl_val *v)
{
	int64_t n = isl_val_get_num_si(v);
	isl_val_free(v);
	return n;
}

/* The least and the greatest value of dimension d of a set. */
static void extremes(isl_set *set, int d, int64_t *lo, int64_t *hi)
{
	isl_local_space *space =
		isl_local_space_from_space(isl_set_get_space(set));
	isl_aff *x = isl_aff_var_on_domain(space, isl_dim_set, (unsigned)d);
	*lo = number(isl_set_min_val(set, x));
	*hi = number(isl_set_max_val(set, x));
	isl_aff_free(x);
}

/* The bounding box of a set, consumed; clipped to [0, SIZE)^n. */
static box hull_of(isl_set *set, int n)
{
	box b = { .n = n };
	bool empty = isl_set_is_empty(set);
	for (int d = 0; d < n && !empty; d++) {
		int64_t lo, hi;
		extremes(set, d, &lo, &hi);
		b.lo[d] = lo < 0 ? 0 : lo;
		b.hi[d] = hi >= SIZE ? SIZE : hi + 1;
		empty = b.lo[d] >= b.hi[d];
	}
	isl_set_free(set);
	return empty ? box_empty(n) : b;
}

/* One affine read of a tensor of SIZE^n, now and then under a condition on
 * one variable, whose interval is exact, or on several. */
static kernel *reader(arena *a, rng *r, bool joint)
{
	kernel *k = ARENA_NEW(a, kernel);
	recipe how = { .joint = joint };
	k->type = DT_I64;
	k->nvars = k->nout = pick(r, 1, 4);
	k->vars = ARENA_ARRAY(a, kvar, k->nvars);
	for (int v = 0; v < k->nvars; v++)
		k->vars[v] = (kvar){ .name = arena_printf(a, "v%d", v),
				     .extent = pick(r, 1, 400) };
	k->ninputs = 1;
	k->inputs = ARENA_ARRAY(a, kinput, 1);
	k->inputs[0] = (kinput){ .name = "t", .type = DT_I64,
				 .ndim = pick(r, 1, 3) };
	kexpr *index[MAX_NDIM];
	for (int d = 0; d < k->inputs[0].ndim; d++) {
		k->inputs[0].dims[d] = SIZE;
		index[d] = random_index(a, r, k, &how);
	}
	kexpr *zero = kx_int(a, 0, DT_I64);
	k->body = kx_read(a, 0, DT_I64, k->inputs[0].ndim, index, zero);
	if (joint || chance(r, 50)) {
		kexpr *x = joint ? random_index(a, r, k, &how) :
				   kx_var(a, pick(r, 0, k->nvars - 1));
		kexpr *c = kx_int(a, pick(r, 0, 400), DT_I64);
		fn f = chance(r, 50) ? FN_LT : FN_GE;
		k->body = kx_select(a, kx_fn2(a, f, x, c), k->body, zero);
	}
	kernel_finish(a, k);
	return k;
}

static void check_against_isl(rng *r, bool joint, int seed)
{
	arena *a = arena_new();
	isl_ctx *ctx = isl_ctx_alloc();
	kernel *k = reader(a, r, joint);
	bool chosen = k->body->kind == KX_SELECT;
	box space = random_part(r, k);
	const kexpr *read = chosen ? k->body->args[1] : k->body;
	box truth = hull_of(image(ctx, a, k, &space, read,
				  chosen ? k->body->args[0] : NULL),
			    k->inputs[0].ndim);
	box need = kernel_need(k, &space, 0);
	ck_assert_msg(joint ? box_contains(&need, &truth) :
			      box_equal(&need, &truth),
		      "%s: dim 0 is %" PRId64 "..%" PRId64 ", not %" PRId64
		      "..%" PRId64 ", seed %d", kx_text(a, k, k->body),
		      need.lo[0], need.hi[0], truth.lo[0], truth.hi[0], seed);
	isl_ctx_free(ctx);
	arena_free(a);
}

START_TEST(affine_is_exact)
{
	rng r = { (uint64_t)_i * 15485863 };
	for (int i = 0; i < KERNELS; i++)
		check_against_isl(&r, false, _i);
}
END_TEST

START_TEST(joint_is_contained)
{
	rng r = { (uint64_t)_i * 15485863 + 1 };
	for (int i = 0; i < KERNELS; i++)
		check_against_isl(&r, true, _i);
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("region against isl");
	TCase *t = tcase_create("isl");
	tcase_add_loop_test(t, affine_is_exact, 0, 10);
	tcase_add_loop_test(t, joint_is_contained, 0, 10);
	suite_add_tcase(s, t);
	return s;
}

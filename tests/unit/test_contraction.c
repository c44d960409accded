/* Tests: kernel plan */
/* Products of matrices in kernels: found where they are, and the calls that
 * they become compute the kernel. */
#include "config.h"

#include <check.h>
#include <string.h>

#include "plan/gemm.h"
#include "tests/unit/kernels.h"
#include "tests/unit/suite.h"

static arena *mem;

static void setup(void)
{
	mem = arena_new();
}

static void teardown(void)
{
	arena_free(mem);
}

/* ---- random products --------------------------------------------------- */

enum role { BATCH, ROW, COLUMN, DEPTH, NROLES };

typedef struct maker {
	kernel *k;
	rng *r;
	enum role role[MAX_NVARS];
	dtype type;
} maker;

static kernel *new_kernel(dtype t)
{
	kernel *k = ARENA_NEW(mem, kernel);
	k->name = "product";
	k->type = t;
	k->reducer = RED_SUM;
	k->inputs = ARENA_ARRAY(mem, kinput, 2);
	k->vars = ARENA_ARRAY(mem, kvar, MAX_NVARS);
	return k;
}

static void add_var(maker *m, kvar_kind kind, enum role role)
{
	kernel *k = m->k;
	k->vars[k->nvars].name = arena_printf(mem, "v%d", k->nvars);
	k->vars[k->nvars].kind = kind;
	bool one = chance(m->r, 15), none = chance(m->r, 2);
	k->vars[k->nvars].extent = none ? 0 : one ? 1 : pick(m->r, 2, 5);
	m->role[k->nvars++] = role;
	k->nout += kind == KVAR_OUTPUT;
}

static kexpr *times(kexpr *x, int64_t by)
{
	return kx_fn2(mem, FN_MUL, kx_int(mem, by, DT_I64), x);
}

/* An index of a dimension as long as it has to be. */
static kexpr *index_for(maker *m, int v, int64_t *dim)
{
	kexpr *x = kx_var(mem, v);
	int64_t n = m->k->vars[v].extent;
	int by = pick(m->r, 1, 4);
	*dim = n;
	if (m->role[v] == BATCH && by == 1) {
		*dim = (n - 1) / 2 + 1;
		return kx_fn2(mem, FN_DIV, x, kx_int(mem, 2, DT_I64));
	}
	if (by > 2)
		return x;
	*dim = (n - 1) * by + 2;
	return kx_fn2(mem, FN_ADD, times(x, by), kx_int(mem, 1, DT_I64));
}

/* A read at all variables but those of one role, in any order. */
static kexpr *add_factor(maker *m, enum role without)
{
	kernel *k = m->k;
	kinput *in = &k->inputs[k->ninputs];
	kexpr *at[MAX_NDIM];
	int order[MAX_NVARS], n = 0;
	in->name = k->ninputs ? "right" : "left";
	in->type = m->type;
	for (int v = 0; v < k->nvars; v++)
		if (m->role[v] != without)
			order[n++] = v;
	for (int i = n - 1; i > 0; i--) {
		int j = pick(m->r, 0, i), t = order[i];
		order[i] = order[j];
		order[j] = t;
	}
	for (int i = 0; i < n; i++)
		at[in->ndim++] = index_for(m, order[i], &in->dims[i]);
	return kx_read(mem, k->ninputs++, in->type, in->ndim, at, NULL);
}

static kernel *random_product(rng *r)
{
	maker m = { .k = new_kernel(DT_F64), .r = r, .type = DT_F64 };
	int nout = pick(r, 0, 5), ndepth = pick(r, 1, 2);
	for (int i = 0; i < nout; i++)
		add_var(&m, KVAR_OUTPUT, (enum role)pick(r, BATCH, COLUMN));
	for (int i = 0; i < ndepth; i++)
		add_var(&m, KVAR_REDUCE, DEPTH);
	kexpr *x = add_factor(&m, COLUMN), *y = add_factor(&m, ROW);
	m.k->body = chance(r, 50) ? kx_fn2(mem, FN_MUL, x, y) :
				    kx_fn2(mem, FN_MUL, y, x);
	kernel_finish(mem, m.k);
	return m.k;
}

/* ---- running them ------------------------------------------------------ */

static double sum_of(const gemm *g, const double *l, const double *r)
{
	double sum = 0;
	for (int64_t i = 0; i < g->depth; i++)
		sum += l[i * g->left_depth] * r[i * g->right_depth];
	return sum;
}

static void multiply(const gemm *g, const gemm_call *x, double *const *data)
{
	const int64_t *at = x->at, *step = x->step;
	const double *l = data[GEMM_LEFT] + at[GEMM_LEFT];
	const double *r = data[GEMM_RIGHT] + at[GEMM_RIGHT];
	double *o = data[GEMM_OUT] + at[GEMM_OUT];
	for (int64_t n = 0; n < x->count; n++)
		for (int64_t i = 0; i < g->rows; i++)
			for (int64_t j = 0; j < g->cols; j++) {
				double *to = &o[n * step[GEMM_OUT] +
						i * g->out_row +
						j * g->out_col];
				double sum = sum_of(
					g, l + n * step[GEMM_LEFT] +
						   i * g->left_row,
					r + n * step[GEMM_RIGHT] +
						j * g->right_col);
				*to = x->adds ? *to + sum : sum;
			}
}

static void copy(const gemm_copy *c, double *lies, double *dense, bool back)
{
	int64_t all = 1;
	for (int d = 0; d < c->ndim; d++)
		all *= c->count[d];
	ck_assert_int_le(all, c->nelem);
	for (int64_t n = 0; n < all; n++) {
		int64_t rest = n, there = c->at, here = 0;
		for (int d = c->ndim - 1; d >= 0; d--) {
			there += rest % c->count[d] * c->there[d];
			here += rest % c->count[d] * c->here[d];
			rest /= c->count[d];
		}
		if (back)
			lies[there] = dense[here];
		else
			dense[here] = lies[there];
	}
}

static int ncopied[GEMM_SIDES], nadded;

static void run(const gemm *g, const view *left, const view *right, view *out)
{
	double *views[] = { left->data, right->data, out->data };
	double *data[GEMM_SIDES];
	for (int s = 0; s < GEMM_SIDES; s++) {
		int64_t n = g->copies[s].nelem;
		data[s] = n ? ARENA_ARRAY(mem, double, n) : views[s];
		ncopied[s] += n > 0;
		if (n > 0 && s != GEMM_OUT)
			copy(&g->copies[s], views[s], data[s], false);
	}
	for (int c = 0; c < g->ncalls; c++) {
		nadded += g->calls[c].adds;
		multiply(g, &g->calls[c], data);
	}
	if (g->copies[GEMM_OUT].nelem)
		copy(&g->copies[GEMM_OUT], views[GEMM_OUT], data[GEMM_OUT],
		     true);
}

/* Returns whether the part was one that calls can be made for. */
static bool expect_equal(rng *r, const kernel *k, const contraction *c,
			 const box *space)
{
	view in[2], want, got;
	gemm g;
	eval_fault fault;
	for (int i = 0; i < 2; i++) {
		box need = kernel_need(k, space, i);
		box whole = box_whole(k->inputs[i].dims, k->inputs[i].ndim);
		in[i] = random_view(mem, r, chance(r, 50) ? &need : &whole);
	}
	box made = kernel_produces(k, space);
	int64_t n = box_volume(&made);
	double *made_by_calls = ARENA_ARRAY(mem, double, n + 1);
	double *other = ARENA_ARRAY(mem, double, n + 1);
	for (int64_t i = 0; i < n; i++)
		made_by_calls[i] = 99; /* of whoever had the memory before */
	want = view_dense(other, DT_F64, &made);
	got = view_dense(made_by_calls, DT_F64, &made);
	ck_assert_int_eq(kernel_eval(k, space, in, &want, NULL, &fault),
			 EVAL_OK);
	gemm_limits most = { .worth = 0, .room = INT64_MAX };
	if (chance(r, 20))
		most.room = pick(r, 0, 4096);
	if (!gemm_of(mem, k, c, space, in, &got, &most, &g))
		return false;
	ck_assert_int_le(g.nbytes, most.room);
	run(&g, &in[c->left.input], &in[c->right.input], &got);
	for (int64_t i = 0; i < n; i++)
		ck_assert_msg(made_by_calls[i] == other[i],
			      "%s: element %d: %g, not %g",
			      kernel_text(mem, k), (int)i, made_by_calls[i],
			      other[i]);
	return true;
}

START_TEST(calls_compute_the_kernel)
{
	int done = 0;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		rng r = { seed * 77 };
		kernel *k = random_product(&r);
		contraction c;
		bool sums = false, found = contraction_of(mem, k, &c);
		bool empty = kernel_points(k) == 0;
		for (int v = k->nout; v < k->nvars; v++)
			sums |= k->vars[v].extent > 1;
		/* Of an empty one it does not matter. */
		ck_assert_msg(empty || found == sums, "%s",
			      kernel_text(mem, k));
		for (int i = 0; found && i < 3; i++) {
			box part = i ? random_part(&r, k) : kernel_space(k);
			done += expect_equal(&r, k, &c, &part);
		}
	}
	ck_assert_int_gt(done, 4000);
	for (int s = 0; s < GEMM_SIDES; s++)
		ck_assert_int_gt(ncopied[s], 100);
	ck_assert_int_gt(nadded, 100);
}
END_TEST

/* ---- columns ----------------------------------------------------------- */

/* out[i, j] = Sum(l) x[i, l] * y[l, j] of halves. */
static const kernel *product_of_halves(int64_t rows, int64_t depth,
				       int64_t cols)
{
	kernel *k = new_kernel(DT_BF16);
	const int64_t extents[] = { rows, cols, depth };
	maker m = { .k = k, .type = DT_BF16, .r = &(rng){ 1 } };
	add_var(&m, KVAR_OUTPUT, ROW);
	add_var(&m, KVAR_OUTPUT, COLUMN);
	add_var(&m, KVAR_REDUCE, DEPTH);
	for (int v = 0; v < 3; v++)
		k->vars[v].extent = extents[v];
	k->ninputs = 2;
	k->inputs[0] = (kinput){ "x", DT_BF16, 2, { rows, depth } };
	k->inputs[1] = (kinput){ "y", DT_BF16, 2, { depth, cols } };
	kexpr *i = kx_var(mem, 0), *j = kx_var(mem, 1), *l = kx_var(mem, 2);
	kexpr *x = kx_read(mem, 0, DT_BF16, 2, (kexpr *[]){ i, l }, NULL);
	kexpr *y = kx_read(mem, 1, DT_BF16, 2, (kexpr *[]){ l, j }, NULL);
	k->body = kx_fn2(mem, FN_MUL, x, y);
	kernel_finish(mem, k);
	return k;
}

static gemm calls_of(const kernel *k, int64_t room)
{
	const gemm_limits most = { GEMM_FLOP_PER_BYTE, room };
	box space = kernel_space(k), made = kernel_produces(k, &space);
	view in[2], out = view_dense(NULL, DT_BF16, &made);
	contraction c;
	gemm g;
	for (int n = 0; n < 2; n++) {
		box whole = box_whole(k->inputs[n].dims, 2);
		in[n] = view_dense(NULL, DT_BF16, &whole);
	}
	ck_assert(contraction_of(mem, k, &c));
	ck_assert(gemm_of(mem, k, &c, &space, in, &out, &most, &g));
	return g;
}

/* A large one is computed on columns that begin at multiples of 16 bytes; one
 * that is small, has no room, or has such columns, where it lies. */
START_TEST(columns_are_aligned)
{
	enum { TOKENS = 4096, WIDTH = 768, WORDS = 50257, UNIT = 8 };
	const kernel *odd = product_of_halves(TOKENS, WIDTH, WORDS);
	gemm g = calls_of(odd, INT64_MAX);
	ck_assert_int_eq(g.copies[GEMM_LEFT].nelem, 0);
	ck_assert_int_ge(g.copies[GEMM_RIGHT].nelem, WIDTH * WORDS);
	ck_assert_int_ge(g.copies[GEMM_OUT].nelem, TOKENS * WORDS);
	ck_assert_int_ge(g.c.step, WORDS);
	ck_assert_int_eq(g.a.step % UNIT, 0);
	ck_assert_int_eq(g.b.step % UNIT, 0);
	ck_assert_int_eq(g.c.step % UNIT, 0);
	ck_assert_int_eq(calls_of(odd, 1 << 20).nbytes, 0);
	const kernel *even = product_of_halves(TOKENS, WIDTH, WORDS - 1);
	ck_assert_int_eq(calls_of(even, INT64_MAX).nbytes, 0);
	const kernel *small = product_of_halves(64, 64, 65);
	ck_assert_int_eq(calls_of(small, INT64_MAX).nbytes, 0);
}
END_TEST

/* ---- what is none ------------------------------------------------------ */

/* out[i, j] = Sum(k) of a body over x[i, k] and y[k, j] */
static bool is_found(kexpr *(*body)(kexpr *x, kexpr *y), int64_t beyond)
{
	kernel *k = new_kernel(DT_F32);
	maker m = { .k = k, .type = DT_F32, .r = &(rng){ 1 } };
	contraction c;
	add_var(&m, KVAR_OUTPUT, ROW);
	add_var(&m, KVAR_OUTPUT, COLUMN);
	add_var(&m, KVAR_REDUCE, DEPTH);
	for (int v = 0; v < 3; v++)
		k->vars[v].extent = 3 + v;
	k->ninputs = 2;
	k->inputs[0] = (kinput){ "x", DT_F32, 2, { 3 - beyond, 5 } };
	k->inputs[1] = (kinput){ "y", DT_F32, 2, { 5, 4 } };
	kexpr *i = kx_var(mem, 0), *j = kx_var(mem, 1), *l = kx_var(mem, 2);
	kexpr *zero = kx_float(mem, 0, DT_F32);
	kexpr *x = kx_read(mem, 0, DT_F32, 2, (kexpr *[]){ i, l },
			   beyond ? zero : NULL);
	kexpr *y = kx_read(mem, 1, DT_F32, 2, (kexpr *[]){ l, j }, NULL);
	k->body = body(x, y);
	kernel_finish(mem, k);
	return contraction_of(mem, k, &c);
}

static kexpr *product(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_MUL, x, y);
}

static kexpr *sum(kexpr *x, kexpr *y)
{
	return kx_fn2(mem, FN_ADD, x, y);
}

static kexpr *square(kexpr *x, kexpr *y)
{
	(void)y;
	return kx_fn2(mem, FN_MUL, x, x);
}

static kexpr *rounded(kexpr *x, kexpr *y)
{
	return product(kx_cast(mem, kx_cast(mem, x, DT_F16), DT_F32), y);
}

static kexpr *widened(kexpr *x, kexpr *y)
{
	return product(kx_cast(mem, x, DT_F64), kx_cast(mem, y, DT_F64));
}

START_TEST(others_are_not_found)
{
	ck_assert(is_found(product, 0));
	ck_assert(is_found(widened, 0));
	ck_assert(!is_found(product, 1)); /* a guard that matters */
	ck_assert(!is_found(sum, 0));
	ck_assert(!is_found(square, 0)); /* nothing gives the columns */
	ck_assert(!is_found(rounded, 0));
}
END_TEST

Suite *suite(void)
{
	Suite *s = suite_create("contraction");
	TCase *tc = tcase_create("contraction");
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, calls_compute_the_kernel);
	tcase_add_test(tc, columns_are_aligned);
	tcase_add_test(tc, others_are_not_found);
	suite_add_tcase(s, tc);
	return s;
}

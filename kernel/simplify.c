/* Simplification of expressions.  Index arithmetic, i64 without reads, is put
 * into a normal form: a sum of atoms (variables, then what is not a sum) in
 * the order of kx_compare(), each with a coefficient, then a constant.
 * Divisions and remainders by positive constants drop the multiples of the
 * divisor, then are decided by the interval of what is left; this makes the
 * reads of a reshape affine wherever the dimensions line up.  The other
 * expressions have constants folded where the result is exact. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "base/vec.h"
#include "kernel/kernel.h"
#include "kernel/elem.h"
#include "kernel/scalar.h"

/* Sums with more atoms are left as they are, and what intervals may reach
 * stays below LIMIT, so that index arithmetic is that of the integers. */
enum { MAX_ATOMS = 48, MAX_ROUNDS = 16 };
#define LIMIT ((int64_t)1 << 60)

/* Below this limit the error of a product may underflow. */
#define TINY 1e-280

typedef struct pass {
	arena *a;    /* for the result */
	arena *work; /* for sums */
	const kvar *vars;
} pass;

typedef struct addend {
	int64_t coef;
	kexpr *x;
} addend;

typedef struct sum {
	int64_t c;
	int n;
	addend t[MAX_ATOMS];
} sum;

typedef struct range {
	int64_t lo, hi; /* inclusive */
} range;

static kexpr *simplify(pass *p, const kexpr *e, int depth);

/* ---- intervals --------------------------------------------------------- */

static bool range_of(const pass *p, const kexpr *e, range *r);

static bool within_limit(const range *r)
{
	return r->lo >= -LIMIT && r->hi <= LIMIT;
}

static bool range_mul(range x, range y, range *r)
{
	int64_t v[4];
	if (!ck_mul(x.lo, y.lo, &v[0]) || !ck_mul(x.lo, y.hi, &v[1]) ||
	    !ck_mul(x.hi, y.lo, &v[2]) || !ck_mul(x.hi, y.hi, &v[3]))
		return false;
	*r = (range){ v[0], v[0] };
	for (int i = 1; i < 4; i++) {
		r->lo = v[i] < r->lo ? v[i] : r->lo;
		r->hi = v[i] > r->hi ? v[i] : r->hi;
	}
	return within_limit(r);
}

static bool range_sum(const pass *p, const sum *s, range *r)
{
	*r = (range){ s->c, s->c };
	if (!within_limit(r))
		return false;
	for (int i = 0; i < s->n; i++) {
		range x, c = { s->t[i].coef, s->t[i].coef };
		if (!range_of(p, s->t[i].x, &x) || !range_mul(x, c, &x))
			return false;
		r->lo += x.lo;
		r->hi += x.hi;
		if (!within_limit(r))
			return false;
	}
	return true;
}

static range range_minmax(fn f, range x, range y)
{
	if (f == FN_MIN)
		return (range){ x.lo < y.lo ? x.lo : y.lo,
				x.hi < y.hi ? x.hi : y.hi };
	return (range){ x.lo > y.lo ? x.lo : y.lo,
			x.hi > y.hi ? x.hi : y.hi };
}

static bool range_div(fn f, range x, range y, range *r)
{
	if (y.lo != y.hi || y.lo <= 0)
		return false;
	range q = { floor_div(x.lo, y.lo), floor_div(x.hi, y.lo) };
	if (f == FN_DIV)
		*r = q;
	else if (q.lo == q.hi)
		*r = (range){ floor_mod(x.lo, y.lo), floor_mod(x.hi, y.lo) };
	else
		*r = (range){ 0, y.lo - 1 };
	return true;
}

static bool range_fn(const pass *p, const kexpr *e, range *r)
{
	range x, y = { 0, 0 };
	if (!range_of(p, e->args[0], &x) ||
	    (e->nargs > 1 && !range_of(p, e->args[1], &y)))
		return false;
	switch (e->fn) {
	case FN_ADD:
		*r = (range){ x.lo + y.lo, x.hi + y.hi };
		return within_limit(r);
	case FN_SUB:
		*r = (range){ x.lo - y.hi, x.hi - y.lo };
		return within_limit(r);
	case FN_NEG:
		*r = (range){ -x.hi, -x.lo };
		return true;
	case FN_MUL:
		return range_mul(x, y, r);
	case FN_MIN:
	case FN_MAX:
		*r = range_minmax(e->fn, x, y);
		return true;
	case FN_DIV:
	case FN_MOD:
		return range_div(e->fn, x, y, r);
	case FN_ABS:
		y = (range){ -x.hi, -x.lo };
		*r = range_minmax(FN_MAX, x, y);
		r->lo = r->lo < 0 ? 0 : r->lo;
		return true;
	default:
		return false;
	}
}

/* The values of e over all of the variables' extents; false where they are
 * not known or pass LIMIT. */
static bool range_of(const pass *p, const kexpr *e, range *r)
{
	range y;
	if (e->type != DT_I64 && e->type != DT_BOOL)
		return false;
	switch (e->kind) {
	case KX_INT:
		*r = (range){ e->i, e->i };
		return within_limit(r);
	case KX_VAR:
		*r = (range){ 0, p->vars[e->var].extent - 1 };
		r->hi = r->hi < 0 ? 0 : r->hi;
		return within_limit(r);
	case KX_FN:
		if (e->type == DT_I64)
			return range_fn(p, e, r);
		break;
	case KX_SELECT:
		if (!range_of(p, e->args[1], r) || !range_of(p, e->args[2], &y))
			return false;
		*r = (range){ y.lo < r->lo ? y.lo : r->lo,
			      y.hi > r->hi ? y.hi : r->hi };
		return true;
	default:
		break;
	}
	*r = (range){ 0, 1 };
	return e->type == DT_BOOL;
}

/* ---- sums -------------------------------------------------------------- */

static bool sum_add_atom(sum *s, int64_t coef, kexpr *x)
{
	int i = 0, c = -1;
	while (i < s->n && (c = kx_compare(s->t[i].x, x)) < 0)
		i++;
	if (i < s->n && c == 0) {
		if (!ck_add(s->t[i].coef, coef, &s->t[i].coef))
			return false;
		if (s->t[i].coef == 0) {
			s->n--;
			memmove(&s->t[i], &s->t[i + 1],
				(size_t)(s->n - i) * sizeof(*s->t));
		}
		return true;
	}
	if (coef == 0)
		return true;
	if (s->n == MAX_ATOMS)
		return false;
	memmove(&s->t[i + 1], &s->t[i], (size_t)(s->n - i) * sizeof(*s->t));
	s->t[i] = (addend){ coef, x };
	s->n++;
	return true;
}

static bool sum_add(sum *s, int64_t scale, const sum *x)
{
	int64_t c;
	if (!ck_mul(scale, x->c, &c) || !ck_add(s->c, c, &s->c))
		return false;
	for (int i = 0; i < x->n; i++)
		if (!ck_mul(scale, x->t[i].coef, &c) ||
		    !sum_add_atom(s, c, x->t[i].x))
			return false;
	return true;
}

/* s += scale * e, for an e that is in normal form. */
static bool sum_add_expr(sum *s, int64_t scale, kexpr *e)
{
	int64_t c;
	if (e->kind == KX_INT)
		return ck_mul(scale, e->i, &c) && ck_add(s->c, c, &s->c);
	if (e->kind == KX_FN && e->fn == FN_ADD)
		return sum_add_expr(s, scale, e->args[0]) &&
		       sum_add_expr(s, scale, e->args[1]);
	if (e->kind == KX_FN && e->fn == FN_SUB)
		return sum_add_expr(s, scale, e->args[0]) &&
		       sum_add_expr(s, -scale, e->args[1]);
	if (e->kind == KX_FN && e->fn == FN_NEG)
		return sum_add_expr(s, -scale, e->args[0]);
	if (e->kind == KX_FN && e->fn == FN_MUL && e->args[0]->kind == KX_INT)
		return ck_mul(scale, e->args[0]->i, &c) &&
		       sum_add_expr(s, c, e->args[1]);
	return sum_add_atom(s, scale, e);
}

static kexpr *scaled_atom(pass *p, int64_t coef, kexpr *x)
{
	if (coef == 1)
		return x;
	return kx_fn2(p->a, FN_MUL, kx_int(p->a, coef, DT_I64), x);
}

/* The expression of a sum: a term with a positive coefficient first, where
 * there is one, the others in their order, the constant last. */
static kexpr *sum_expr(pass *p, const sum *s)
{
	if (s->n == 0)
		return kx_int(p->a, s->c, DT_I64);
	int first = 0;
	while (first < s->n && s->t[first].coef < 0)
		first++;
	if (first == s->n)
		first = 0;
	kexpr *e = s->t[first].coef == -1 ?
		kx_fn1(p->a, FN_NEG, s->t[first].x) :
		scaled_atom(p, s->t[first].coef, s->t[first].x);
	for (int i = 0; i < s->n; i++) {
		int64_t coef = s->t[i].coef;
		if (i == first)
			continue;
		bool minus = coef < 0 && coef != INT64_MIN;
		e = kx_fn2(p->a, minus ? FN_SUB : FN_ADD, e,
			   scaled_atom(p, minus ? -coef : coef, s->t[i].x));
	}
	if (s->c < 0 && s->c != INT64_MIN)
		e = kx_fn2(p->a, FN_SUB, e, kx_int(p->a, -s->c, DT_I64));
	else if (s->c)
		e = kx_fn2(p->a, FN_ADD, e, kx_int(p->a, s->c, DT_I64));
	return e;
}

/* ---- division and remainder by a positive constant --------------------- */

static bool divide(pass *p, const sum *s, int64_t d, sum *q);
static bool remain(pass *p, const sum *s, int64_t d, sum *m);

static int64_t gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

static bool is_by_constant(const kexpr *e, fn f)
{
	return e->kind == KX_FN && e->fn == f && e->args[1]->kind == KX_INT &&
	       e->args[1]->i > 0;
}

/* Splits s = d * many + few, where few has the terms whose coefficient d does
 * not divide and a constant in [0, d). */
static void split_multiples(const sum *s, int64_t d, sum *many, sum *few)
{
	many->n = few->n = 0;
	many->c = floor_div(s->c, d);
	few->c = floor_mod(s->c, d);
	for (int i = 0; i < s->n; i++) {
		addend t = s->t[i];
		if (t.coef % d == 0)
			many->t[many->n++] = (addend){ t.coef / d, t.x };
		else
			few->t[few->n++] = t;
	}
}

/* The greatest divisor of d and of all of s's coefficients. */
static int64_t common(const sum *s, int64_t d)
{
	for (int i = 0; i < s->n; i++)
		d = gcd(d, s->t[i].coef);
	return d;
}

/* s / d, of a sum that is one atom and a constant: (x / b + c) / d is
 * (x + b * c) / (b * d), and (x % (b * d)) / d is (x / d) % b. */
static bool divide_atom(pass *p, const sum *s, int64_t d, sum *q, bool *done)
{
	sum x = { 0 };
	kexpr *atom = s->t[0].x;
	int64_t b, bd;
	*done = s->n == 1 && s->t[0].coef == 1;
	if (*done && is_by_constant(atom, FN_DIV)) {
		b = atom->args[1]->i;
		return ck_mul(b, d, &bd) && bd < LIMIT && ck_mul(b, s->c, &b) &&
		       sum_add_expr(&x, 1, atom->args[0]) &&
		       ck_add(x.c, b, &x.c) && divide(p, &x, bd, q);
	}
	*done = *done && s->c == 0 && is_by_constant(atom, FN_MOD) &&
		atom->args[1]->i % d == 0;
	if (!*done)
		return true;
	sum inner = { 0 };
	return sum_add_expr(&x, 1, atom->args[0]) &&
	       divide(p, &x, d, &inner) &&
	       remain(p, &inner, atom->args[1]->i / d, q);
}

/* q = floor(s / d); false where it cannot be put into normal form. */
static bool divide(pass *p, const sum *s, int64_t d, sum *q)
{
	sum few;
	range r;
	bool done;
	if (!range_sum(p, s, &r))
		return false;
	split_multiples(s, d, q, &few);
	if (!range_sum(p, &few, &r))
		return false;
	if (floor_div(r.lo, d) == floor_div(r.hi, d))
		return ck_add(q->c, floor_div(r.lo, d), &q->c);
	int64_t g = common(&few, d);
	for (int i = 0; i < few.n; i++)
		few.t[i].coef /= g;
	few.c /= g;
	d /= g;
	sum *rest = ARENA_NEW(p->work, sum);
	if (!divide_atom(p, &few, d, rest, &done))
		return false;
	if (done)
		return sum_add(q, 1, rest);
	return sum_add_atom(q, 1, kx_fn2(p->a, FN_DIV, sum_expr(p, &few),
					 kx_int(p->a, d, DT_I64)));
}

/* out += scale * s, where terms c * (x % m) such that d divides c * m become
 * c * x, which is the same modulo d. */
static bool drop_inner_mods(pass *p, const sum *s, int64_t scale, int64_t d,
			    sum *out)
{
	int64_t c, m;
	if (!ck_mul(scale, s->c, &c) || !ck_add(out->c, c, &out->c))
		return false;
	for (int i = 0; i < s->n; i++) {
		kexpr *x = s->t[i].x;
		sum *inner = ARENA_NEW(p->work, sum);
		if (!ck_mul(scale, s->t[i].coef, &c))
			return false;
		bool drop = is_by_constant(x, FN_MOD) &&
			    ck_mul(c, x->args[1]->i, &m) && m % d == 0;
		if (drop ? !sum_add_expr(inner, 1, x->args[0]) ||
				!drop_inner_mods(p, inner, c, d, out) :
			   !sum_add_atom(out, c, x))
			return false;
	}
	return true;
}

/* m = s % d; false where it cannot be put into normal form. */
static bool remain(pass *p, const sum *s, int64_t d, sum *m)
{
	sum many, few, flat = { 0 };
	range r;
	if (!range_sum(p, s, &r) || !drop_inner_mods(p, s, 1, d, &flat))
		return false;
	split_multiples(&flat, d, &many, &few);
	for (int i = 0; i < few.n; i++)
		few.t[i].coef %= d;
	if (!range_sum(p, &few, &r))
		return false;
	*m = few;
	if (floor_div(r.lo, d) == floor_div(r.hi, d))
		return ck_sub(m->c, d * floor_div(r.lo, d), &m->c);
	int64_t g = common(&few, d);
	for (int i = 0; i < few.n; i++)
		few.t[i].coef /= g;
	*m = (sum){ .c = few.c % g };
	few.c /= g;
	return sum_add_atom(m, g, kx_fn2(p->a, FN_MOD, sum_expr(p, &few),
					 kx_int(p->a, d / g, DT_I64)));
}

/* ---- putting quotient and remainder together --------------------------- */

/* c * m * (x / m) + c * (x % m) is c * x: tries it for the remainder at i. */
static bool join_at(pass *p, sum *s, int i)
{
	kexpr *mod = s->t[i].x;
	int64_t c = s->t[i].coef, cm;
	sum *x = ARENA_NEW(p->work, sum), *q = ARENA_NEW(p->work, sum);
	if (!ck_mul(c, mod->args[1]->i, &cm) ||
	    !sum_add_expr(x, 1, mod->args[0]) ||
	    !divide(p, x, mod->args[1]->i, q) || q->n != 1 || q->c ||
	    q->t[0].coef != 1)
		return false;
	for (int j = 0; j < s->n; j++) {
		if (s->t[j].coef != cm || !kx_equal(s->t[j].x, q->t[0].x))
			continue;
		sum out = *s;
		if (!sum_add_atom(&out, -c, mod) ||
		    !sum_add_atom(&out, -cm, q->t[0].x) ||
		    !sum_add(&out, c, x))
			return false;
		*s = out;
		return true;
	}
	return false;
}

/* c * x - c * d * (x / d) is c * (x % d): tries it for the quotient at i. */
static bool part_at(pass *p, sum *s, int i)
{
	kexpr *div = s->t[i].x;
	int64_t coef = s->t[i].coef, d = div->args[1]->i;
	sum *x = ARENA_NEW(p->work, sum), *m = ARENA_NEW(p->work, sum);
	if (coef % d || coef == INT64_MIN ||
	    !sum_add_expr(x, 1, div->args[0]) || !remain(p, x, d, m))
		return false;
	sum out = *s;
	if (!sum_add_atom(&out, -coef, div) || !sum_add(&out, coef / d, x) ||
	    out.n != s->n - 1 - x->n || !sum_add(&out, -(coef / d), m))
		return false;
	*s = out;
	return true;
}

static void join_parts(pass *p, sum *s)
{
	bool changed = true;
	for (int round = 0; changed && round < MAX_ROUNDS; round++) {
		changed = false;
		for (int i = 0; i < s->n && !changed; i++) {
			if (is_by_constant(s->t[i].x, FN_MOD))
				changed = join_at(p, s, i);
			else if (is_by_constant(s->t[i].x, FN_DIV))
				changed = part_at(p, s, i);
		}
	}
}

/* ---- index arithmetic -------------------------------------------------- */

/* The function of two sums, as a sum; false where it is not one. */
static bool index_sum(pass *p, fn f, const sum *x, const sum *y, sum *out)
{
	*out = *x;
	switch (f) {
	case FN_ADD:
		return sum_add(out, 1, y);
	case FN_SUB:
		return sum_add(out, -1, y);
	case FN_NEG:
		*out = (sum){ 0 };
		return sum_add(out, -1, x);
	case FN_MUL:
		*out = (sum){ 0 };
		if (x->n == 0)
			return sum_add(out, x->c, y);
		return y->n == 0 && sum_add(out, y->c, x);
	case FN_DIV:
		return y->n == 0 && y->c > 0 && y->c < LIMIT &&
		       divide(p, x, y->c, out);
	case FN_MOD:
		return y->n == 0 && y->c > 0 && y->c < LIMIT &&
		       remain(p, x, y->c, out);
	default:
		return false;
	}
}

/* min, max and comparisons that the interval of x - y decides, NULL where it
 * does not; abs by that of x. */
static kexpr *decide(pass *p, fn f, kexpr *ex, kexpr *ey, const sum *x,
		     const sum *y)
{
	sum diff = *x;
	range r;
	if (!sum_add(&diff, -1, y) || !range_sum(p, &diff, &r))
		return NULL;
	bool lt = r.hi < 0, le = r.hi <= 0, gt = r.lo > 0, ge = r.lo >= 0;
	bool eq = r.lo == 0 && r.hi == 0, ne = lt || gt;
	switch (f) {
	case FN_MIN:
		return le ? ex : ge ? ey : NULL;
	case FN_MAX:
		return ge ? ex : le ? ey : NULL;
	case FN_ABS:
		return ge ? ex : NULL;
	case FN_LT:
		return lt || ge ? kx_int(p->a, lt, DT_BOOL) : NULL;
	case FN_LE:
		return le || gt ? kx_int(p->a, le, DT_BOOL) : NULL;
	case FN_GT:
		return gt || le ? kx_int(p->a, gt, DT_BOOL) : NULL;
	case FN_GE:
		return ge || lt ? kx_int(p->a, ge, DT_BOOL) : NULL;
	case FN_EQ:
		return eq || ne ? kx_int(p->a, eq, DT_BOOL) : NULL;
	case FN_NE:
		return eq || ne ? kx_int(p->a, ne, DT_BOOL) : NULL;
	default:
		return NULL;
	}
}

/* A function of index arithmetic with simplified arguments; NULL where it
 * stays as it is. */
static kexpr *index_fn(pass *p, const kexpr *e, kexpr **args)
{
	kexpr *ey = e->nargs > 1 ? args[1] : kx_int(p->a, 0, DT_I64);
	sum *s = ARENA_ARRAY(p->work, sum, 3);
	if (!sum_add_expr(&s[0], 1, args[0]) || !sum_add_expr(&s[1], 1, ey))
		return NULL;
	if (index_sum(p, e->fn, &s[0], &s[1], &s[2])) {
		join_parts(p, &s[2]);
		return sum_expr(p, &s[2]);
	}
	return decide(p, e->fn, args[0], ey, &s[0], &s[1]);
}

/* ---- other expressions ------------------------------------------------- */

static bool is_const(const kexpr *e)
{
	return e->kind == KX_INT || e->kind == KX_FLOAT;
}

static bool is_value(const kexpr *e, int64_t v)
{
	return (e->kind == KX_INT && e->i == v) ||
	       (e->kind == KX_FLOAT && e->f == (double)v &&
		!(v == 0 && signbit(e->f)));
}

/* Whether f of x and y is r without rounding, in any float type that holds
 * all three. */
static bool is_exact(fn f, double x, double y, double r)
{
	if (!isfinite(x) || !isfinite(y) || !isfinite(r))
		return false;
	switch (f) {
	case FN_ADD:
		return r - x == y && r - y == x;
	case FN_SUB:
		return x - r == y && r + y == x;
	case FN_MUL:
		return r == 0 ? x == 0 || y == 0 :
				fabs(r) > TINY && fma(x, y, -r) == 0;
	case FN_DIV:
		return r == 0 ? x == 0 :
				fabs(x) > TINY && fma(r, y, -x) == 0;
	case FN_SQRT:
		return fma(r, r, -x) == 0;
	case FN_NEG:
	case FN_ABS:
	case FN_MIN:
	case FN_MAX:
	case FN_SIGN:
	case FN_FLOOR:
	case FN_CEIL:
	case FN_ROUND:
		return true;
	default:
		return false;
	}
}

/* f of constants, NULL where it is not exact. */
static kexpr *fold_fn(pass *p, fn f, dtype result, kexpr *x, kexpr *y)
{
	if (x->kind == KX_INT) {
		if (fn_c(f) && f != FN_POW && f != FN_FMOD && f != FN_FLOOR &&
		    f != FN_CEIL && f != FN_ROUND)
			return NULL;
		return kx_int(p->a, scalar_int(f, x->type, x->i,
					       y ? y->i : 0), result);
	}
	double yf = y ? y->f : 0;
	if (fn_gives_bool(f))
		return kx_int(p->a, scalar_test(f, x->f, yf), DT_BOOL);
	double r = scalar_float(f, x->f, yf);
	if (!is_exact(f, x->f, yf, r) || scalar_round(result, r) != r)
		return NULL;
	return kx_float(p->a, r, result);
}

/* x + 0 for integers, x - 0, x * 1, x / 1; and, or with a constant.  x + 0.0
 * would lose the sign of -0.0. */
static kexpr *identity(fn f, kexpr *x, kexpr *y)
{
	bool whole = !dtype_is_float(x->type);
	switch (f) {
	case FN_ADD:
		return whole && is_value(y, 0) ? x :
		       whole && is_value(x, 0) ? y : NULL;
	case FN_SUB:
		return is_value(y, 0) ? x : NULL;
	case FN_MUL:
		return is_value(y, 1) ? x : is_value(x, 1) ? y : NULL;
	case FN_DIV:
		return is_value(y, 1) ? x : NULL;
	case FN_AND:
		return is_value(x, 1) || is_value(y, 0) ? y :
		       is_value(y, 1) || is_value(x, 0) ? x : NULL;
	case FN_OR:
		return is_value(x, 0) || is_value(y, 1) ? y :
		       is_value(y, 0) || is_value(x, 1) ? x : NULL;
	default:
		return NULL;
	}
}

static kexpr *value_fn(pass *p, const kexpr *e, kexpr **args)
{
	kexpr *x = args[0], *y = e->nargs > 1 ? args[1] : NULL;
	kexpr *r = NULL;
	if (is_const(x) && (!y || (is_const(y) && y->kind == x->kind)))
		r = fold_fn(p, e->fn, e->type, x, y);
	if (!r && y)
		r = identity(e->fn, x, y);
	if (!r && e->fn == FN_NOT && x->kind == KX_FN && x->fn == FN_NOT)
		r = x->args[0];
	return r;
}

static kexpr *fold_cast(pass *p, dtype t, kexpr *x)
{
	bool to_float = dtype_is_float(t);
	if (x->type == t)
		return x;
	if (x->kind == KX_INT && !to_float)
		return kx_int(p->a, scalar_wrap(t, x->i), t);
	if (x->kind == KX_INT) {
		double f = scalar_to_float(x->type, x->i);
		return kx_float(p->a, scalar_round(t, f), t);
	}
	if (x->kind == KX_FLOAT)
		return to_float ?
			kx_float(p->a, scalar_round(t, x->f), t) :
			kx_int(p->a, scalar_to_int(t, x->f), t);
	return NULL;
}

static kexpr *fold_bitcast(pass *p, dtype t, kexpr *x)
{
	if (x->type == t)
		return x;
	if (x->kind != KX_INT && x->kind != KX_FLOAT)
		return NULL;
	uint64_t bits = x->kind == KX_INT ? (uint64_t)x->i :
					    elem_encode(x->type, x->f);
	if (!dtype_is_float(t))
		return kx_int(p->a, scalar_wrap(t, (int64_t)bits), t);
	double f = elem_decode(t, bits);
	return isnan(f) ? NULL : kx_float(p->a, f, t);
}

/* ---- the walk ---------------------------------------------------------- */

/* e with other arguments; e itself where they are the same. */
static kexpr *rebuild(pass *p, const kexpr *e, kexpr **args)
{
	bool same = true;
	for (int i = 0; i < e->nargs; i++)
		same &= args[i] == e->args[i];
	if (same)
		return (kexpr *)e;
	kexpr *r = ARENA_COPY(p->a, e, 1);
	r->args = args;
	return r;
}

static bool are_indices(kexpr *const *args, int n)
{
	for (int i = 0; i < n; i++)
		if (args[i]->type != DT_I64 || kx_has_read(args[i]))
			return false;
	return true;
}

static kexpr *simplify_fn(pass *p, const kexpr *e, kexpr **args)
{
	kexpr *r = are_indices(args, e->nargs) ? index_fn(p, e, args) : NULL;
	if (!r)
		r = value_fn(p, e, args);
	return r ? r : rebuild(p, e, args);
}

static kexpr *simplify(pass *p, const kexpr *e, int depth)
{
	if (e->nargs == 0 || depth > MAX_KEXPR_DEPTH)
		return (kexpr *)e;
	kexpr **args = ARENA_ARRAY(p->a, kexpr *, e->nargs), *r;
	for (int i = 0; i < e->nargs; i++)
		args[i] = simplify(p, e->args[i], depth + 1);
	switch (e->kind) {
	case KX_FN:
		return simplify_fn(p, e, args);
	case KX_SELECT:
		if (args[0]->kind == KX_INT)
			return args[0]->i ? args[1] : args[2];
		if (kx_equal(args[1], args[2]))
			return args[1];
		break;
	case KX_CAST:
		r = fold_cast(p, e->type, args[0]);
		if (r)
			return r;
		break;
	case KX_BITCAST:
		r = fold_bitcast(p, e->type, args[0]);
		if (r)
			return r;
		break;
	default:
		break;
	}
	return rebuild(p, e, args);
}

kexpr *kx_simplify(arena *a, const kexpr *e, const kvar *vars)
{
	if (e->nargs == 0)
		return (kexpr *)e;
	pass p = { a, arena_new(), vars };
	kexpr *r = simplify(&p, e, 0);
	arena_free(p.work);
	return r;
}

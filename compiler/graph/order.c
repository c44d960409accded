/* Compares the position that is read with the position that is written.  Both
 * are written as sums of terms c * e.  If an index was split into quotient and
 * remainder, they are recombined by
 *
 *	c*n * (e / n) + c * (e % n) == c * e
 *
 * Here e / n may also be written as x / (m*n) for e = x / m, or as (m*e + r) /
 * (m*n) for 0 <= r < m. */
#include "config.h"

#include "compiler/graph/order.h"

#include "base/checked.h"
#include "base/vec.h"

typedef struct term {
	int64_t c;
	const kexpr *e; /* NULL: the constant 1 */
} term;

typedef struct sum {
	arena *arena;
	const kvar *vars;
	bool failed; /* a coefficient overflowed */
	VEC(term) terms;
} sum;

static bool same(const kexpr *x, const kexpr *y)
{
	return x == y || (x && y && kx_equal(x, y));
}

static void add_term(sum *s, int64_t c, const kexpr *e)
{
	for (int i = 0; i < s->terms.n; i++)
		if (same(s->terms.at[i].e, e)) {
			if (!ck_add(s->terms.at[i].c, c, &s->terms.at[i].c))
				s->failed = true;
			return;
		}
	vec_push(s->arena, &s->terms, ((term){ c, e }));
}

/* Adds c * e, split at +, - and multiplications by constants. */
static void add(sum *s, int64_t c, const kexpr *e)
{
	int64_t n;
	bool call = e->kind == KX_FN;
	if (e->kind == KX_INT) {
		if (!ck_mul(c, e->i, &n))
			s->failed = true;
		else
			add_term(s, n, NULL);
	} else if (call && (e->fn == FN_ADD || e->fn == FN_SUB)) {
		add(s, c, e->args[0]);
		add(s, e->fn == FN_SUB ? -c : c, e->args[1]);
	} else if (call && e->fn == FN_MUL && (e->args[0]->kind == KX_INT ||
					     e->args[1]->kind == KX_INT)) {
		int k = e->args[0]->kind == KX_INT ? 0 : 1;
		if (!ck_mul(c, e->args[k]->i, &n))
			s->failed = true;
		else
			add(s, n, e->args[1 - k]);
	} else {
		add_term(s, c, e);
	}
}

/* Whether e is x op n with a constant n > 0. */
static bool is_by(const kexpr *e, fn op, const kexpr **x, int64_t *n)
{
	if (!e || e->kind != KX_FN || e->fn != op ||
	    e->args[1]->kind != KX_INT || e->args[1]->i <= 0)
		return false;
	*x = e->args[0];
	*n = e->args[1]->i;
	return true;
}

/* Whether 0 <= s < m is known: s is a sum of variables times numbers >= 0. */
static bool is_below(const sum *s, int64_t m)
{
	int64_t most = 0, n;
	for (int i = 0; i < s->terms.n; i++) {
		const term *t = &s->terms.at[i];
		if (t->c == 0)
			continue;
		if (t->c < 0 || !t->e || t->e->kind != KX_VAR ||
		    !ck_mul(t->c, s->vars[t->e->var].extent - 1, &n) ||
		    !ck_add(most, n, &most))
			return false;
	}
	return !s->failed && most < m;
}

/* Whether q == e / n. */
static bool is_quotient(const sum *s, const kexpr *q, const kexpr *e,
			int64_t n)
{
	const kexpr *x, *y;
	int64_t qn, m, mn;
	if (!is_by(q, FN_DIV, &x, &qn))
		return false;
	if (qn == n && same(x, e))
		return true;
	if (is_by(e, FN_DIV, &y, &m) && ck_mul(m, n, &mn) && qn == mn &&
	    same(x, y))
		return true;
	if (qn % n)
		return false;
	sum rest = { .arena = s->arena, .vars = s->vars };
	add(&rest, 1, x);
	add(&rest, -(qn / n), e);
	return is_below(&rest, qn / n);
}

/* Recombines one pair of a quotient and a remainder.  Returns false if there is
 * none. */
static bool join_pair(sum *s)
{
	term *t = s->terms.at;
	for (int i = 0; i < s->terms.n; i++) {
		const kexpr *e;
		int64_t n, want;
		if (!t[i].c || !is_by(t[i].e, FN_MOD, &e, &n) ||
		    !ck_mul(t[i].c, n, &want))
			continue;
		for (int j = 0; j < s->terms.n; j++) {
			if (t[j].c != want || !is_quotient(s, t[j].e, e, n))
				continue;
			int64_t c = t[i].c;
			t[i].c = t[j].c = 0;
			add(s, c, e);
			return true;
		}
	}
	return false;
}

/* Adds c times the row-major position of index[0..n) in dims. */
static void add_position(sum *s, int64_t c, kexpr *const *index, int n,
			 const int64_t *dims)
{
	int64_t stride = c;
	for (int d = n - 1; d >= 0; d--) {
		add(s, stride, index[d]);
		if (!ck_mul(stride, dims[d], &stride))
			s->failed = true;
	}
}

bool order_is_kept(arena *a, const kernel *k)
{
	const kexpr *read = k->body;
	const kinput *in = &k->inputs[read->input];
	int64_t read_nelem, nelem, dims[MAX_NDIM];
	kexpr *vars[MAX_NDIM];
	sum s = { .arena = a, .vars = k->vars };
	if (read->guarded || k->nvars != k->nout)
		return false;
	for (int d = 0; d < k->nout; d++) {
		dims[d] = kernel_dim(k, d);
		vars[d] = kx_var(a, d);
	}
	if (!ck_product(in->dims, in->ndim, &read_nelem) ||
	    !ck_product(dims, k->nout, &nelem) || nelem != read_nelem)
		return false;
	for (int i = 0; i < read->nargs; i++)
		if (kx_has_read(read->args[i]))
			return false;
	add_position(&s, 1, read->args, in->ndim, in->dims);
	while (join_pair(&s))
		;
	/* A variable of extent 1 is always 0. */
	for (int i = 0; i < s.terms.n; i++) {
		const kexpr *e = s.terms.at[i].e;
		if (e && e->kind == KX_VAR && k->vars[e->var].extent == 1)
			s.terms.at[i].c = 0;
	}
	for (int d = 0; d < k->nout; d++)
		if (dims[d] == 1)
			vars[d] = kx_int(a, 0, DT_I64);
	add_position(&s, -1, vars, k->nout, dims);
	for (int i = 0; i < s.terms.n; i++)
		if (s.terms.at[i].c != 0)
			return false;
	return !s.failed;
}

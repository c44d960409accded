#include "config.h"

#include "tests/unit/kernels.h"

#include <assert.h>

/* ---- random ------------------------------------------------------------ */

static uint64_t next(rng *r)
{
	uint64_t z = r->state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

int pick(rng *r, int lo, int hi)
{
	return lo + (int)(next(r) % (uint64_t)(hi - lo + 1));
}

bool chance(rng *r, int percent)
{
	return pick(r, 0, 99) < percent;
}

/* The state of making one kernel. */
typedef struct maker {
	arena *a;
	rng *r;
	kernel *k;
	const recipe *how;
} maker;

static kexpr *constant(maker *m, int lo, int hi)
{
	return kx_int(m->a, pick(m->r, lo, hi), DT_I64);
}

static kexpr *variable(maker *m)
{
	if (m->k->nvars == 0)
		return constant(m, 0, 3);
	return kx_var(m->a, pick(m->r, 0, m->k->nvars - 1));
}

static kexpr *affine(maker *m)
{
	kexpr *e = chance(m->r, 50) ? variable(m) : constant(m, -2, 4);
	int n = pick(m->r, 0, 3);
	for (int i = 0; i < n; i++) {
		kexpr *t = variable(m);
		if (chance(m->r, 50))
			t = kx_fn2(m->a, FN_MUL, constant(m, -3, 3), t);
		else if (chance(m->r, 15))
			t = kx_fn1(m->a, FN_NEG, t);
		e = kx_fn2(m->a, chance(m->r, 70) ? FN_ADD : FN_SUB, e, t);
	}
	return e;
}

static kexpr *condition(maker *m, int depth);

static kexpr *quasi(maker *m, int depth)
{
	static const fn two[] = { FN_ADD, FN_SUB, FN_MIN, FN_MAX, FN_MUL };
	if (depth == 0 || chance(m->r, 25))
		return affine(m);
	kexpr *x = quasi(m, depth - 1);
	switch (pick(m->r, 0, 7)) {
	case 0:
	case 1:
		return kx_fn2(m->a, FN_DIV, x, constant(m, 1, 6));
	case 2:
	case 3:
		return kx_fn2(m->a, FN_MOD, x, constant(m, 1, 6));
	case 4:
		return chance(m->r, 50) ? kx_fn1(m->a, FN_ABS, x) :
			kx_fn2(m->a, chance(m->r, 50) ? FN_DIV : FN_MOD, x,
			       constant(m, -4, -1));
	case 5:
		return kx_select(m->a, condition(m, 1), x,
				 quasi(m, depth - 1));
	case 6:
		return kx_cast(m->a, condition(m, 0), DT_I64);
	default:
		return kx_fn2(m->a, two[pick(m->r, 0, 4)], x,
			      quasi(m, depth - 1));
	}
}

kexpr *random_index(arena *a, rng *r, const kernel *k, const recipe *how)
{
	maker m = { a, r, (kernel *)k, how };
	return how->quasi ? quasi(&m, 3) : affine(&m);
}

static kexpr *comparison(maker *m)
{
	fn f = (fn)pick(m->r, FN_LT, FN_NE);
	if (!m->how->joint)
		return kx_fn2(m->a, f, variable(m), constant(m, 0, 5));
	if (m->how->quasi)
		return kx_fn2(m->a, f, quasi(m, 1), quasi(m, 1));
	return kx_fn2(m->a, f, affine(m), affine(m));
}

static kexpr *condition(maker *m, int depth)
{
	if (depth == 0 || !m->how->joint)
		return comparison(m);
	switch (pick(m->r, 0, 4)) {
	case 0:
		return kx_fn2(m->a, FN_AND, condition(m, depth - 1),
			      condition(m, depth - 1));
	case 1:
		return kx_fn2(m->a, FN_OR, condition(m, depth - 1),
			      condition(m, depth - 1));
	case 2:
		return kx_fn1(m->a, FN_NOT, condition(m, depth - 1));
	default:
		return comparison(m);
	}
}

static kexpr *read_of(maker *m, int depth)
{
	int input = pick(m->r, 0, m->k->ninputs - 1);
	const kinput *in = &m->k->inputs[input];
	kexpr *index[MAX_NDIM];
	for (int d = 0; d < in->ndim; d++) {
		index[d] = random_index(m->a, m->r, m->k, m->how);
		if (m->how->data && depth > 0 && chance(m->r, 40))
			index[d] = kx_fn2(m->a, FN_MOD, read_of(m, depth - 1),
					  constant(m, 1, 7));
	}
	kexpr *otherwise = chance(m->r, 75) ? constant(m, -5, 5) : NULL;
	return kx_read(m->a, input, DT_I64, in->ndim, index, otherwise);
}

static kexpr *body(maker *m, int depth)
{
	static const fn two[] = { FN_ADD, FN_SUB, FN_MUL, FN_MAX };
	if (depth == 0 || chance(m->r, 20))
		return chance(m->r, 80) ? read_of(m, 2) : variable(m);
	kexpr *x = body(m, depth - 1), *y = body(m, depth - 1);
	if (m->how->conditions && chance(m->r, 60))
		return kx_select(m->a, condition(m, 2), x, y);
	return kx_fn2(m->a, two[pick(m->r, 0, 3)], x, y);
}

kernel *random_kernel(arena *a, rng *r, const recipe *how)
{
	static const reducer reducers[] = { RED_SUM, RED_MAX, RED_MIN,
					    RED_PROD, RED_ARGMAX, RED_ARGMIN };
	kernel *k = ARENA_NEW(a, kernel);
	maker m = { a, r, k, how };
	k->name = "random";
	k->type = DT_I64;
	k->nout = pick(r, 0, 3);
	int nred = how->reduce ? pick(r, 0, 2) : 0;
	k->nvars = k->nout + nred;
	if (nred)
		k->reducer = reducers[pick(r, 0, nred == 1 ? 5 : 3)];
	k->vars = ARENA_ARRAY(a, kvar, k->nvars);
	for (int v = 0; v < k->nvars; v++) {
		k->vars[v].name = arena_printf(a, "v%d", v);
		k->vars[v].kind = v < k->nout ? KVAR_OUTPUT : KVAR_REDUCE;
		k->vars[v].extent = chance(r, 5) ? 0 :
						   pick(r, 1, how->max_extent);
	}
	k->ninputs = pick(r, 1, 3);
	k->inputs = ARENA_ARRAY(a, kinput, k->ninputs);
	for (int i = 0; i < k->ninputs; i++) {
		kinput *in = &k->inputs[i];
		in->name = arena_printf(a, "t%d", i);
		in->type = DT_I64;
		in->ndim = pick(r, 0, 3);
		for (int d = 0; d < in->ndim; d++)
			in->dims[d] = chance(r, 3) ? 0 : pick(r, 1, 8);
	}
	k->body = body(&m, how->conditions ? 3 : 2);
	return k;
}

box random_part(rng *r, const kernel *k)
{
	box b = kernel_space(k);
	for (int v = 0; v < b.n; v++) {
		int n = (int)b.hi[v];
		if (n == 0 || chance(r, 30))
			continue;
		b.lo[v] = pick(r, 0, n - 1);
		b.hi[v] = pick(r, (int)b.lo[v] + !chance(r, 3), n);
	}
	return b;
}

int64_t **random_data(arena *a, rng *r, const kernel *k)
{
	int64_t **data = ARENA_ARRAY(a, int64_t *, k->ninputs);
	for (int i = 0; i < k->ninputs; i++) {
		int64_t n = 1;
		for (int d = 0; d < k->inputs[i].ndim; d++)
			n *= k->inputs[i].dims[d];
		data[i] = ARENA_ARRAY(a, int64_t, n);
		for (int64_t e = 0; e < n; e++)
			data[i][e] = pick(r, -2, 9);
	}
	return data;
}

/* ---- the oracle -------------------------------------------------------- */

static int64_t floor_quotient(int64_t x, int64_t y)
{
	if (y == 0)
		return 0;
	int64_t q = x / y;
	while (y > 0 ? q * y > x : q * y < x)
		q--;
	return q;
}

static int64_t function(oracle *o, const kexpr *e)
{
	int64_t x = oracle_value(o, e->args[0]);
	int64_t y = e->nargs > 1 ? oracle_value(o, e->args[1]) : 0;
	switch (e->fn) {
	case FN_ADD:
		return x + y;
	case FN_SUB:
		return x - y;
	case FN_MUL:
		return x * y;
	case FN_DIV:
		return floor_quotient(x, y);
	case FN_MOD:
		return y ? x - y * floor_quotient(x, y) : 0;
	case FN_NEG:
		return -x;
	case FN_MIN:
		return x < y ? x : y;
	case FN_MAX:
		return x > y ? x : y;
	case FN_ABS:
		return x < 0 ? -x : x;
	case FN_LT:
		return x < y;
	case FN_LE:
		return x <= y;
	case FN_GT:
		return x > y;
	case FN_GE:
		return x >= y;
	case FN_EQ:
		return x == y;
	case FN_NE:
		return x != y;
	case FN_AND:
		return x && y;
	case FN_OR:
		return x || y;
	case FN_NOT:
		return !x;
	default:
		assert(!"a function that random kernels use");
		return 0;
	}
}

static bool is_masked(const oracle *o, const kexpr *e, int dim, int64_t i)
{
	for (int n = 0; n < o->k->nderived; n++) {
		const kderived *d = &o->k->derived[n];
		if (d->input == e->input && d->dim == dim &&
		    kx_has_read(e->args[dim]))
			return i < o->space->lo[d->var] ||
			       i >= o->space->hi[d->var];
	}
	return false;
}

static int64_t read_at(oracle *o, const kexpr *e)
{
	const kinput *in = &o->k->inputs[e->input];
	int64_t index[MAX_NDIM] = { 0 }, offset = 0;
	bool inside = true, masked = false;
	for (int d = 0; d < in->ndim; d++) {
		index[d] = oracle_value(o, e->args[d]);
		inside &= index[d] >= 0 && index[d] < in->dims[d];
		masked |= is_masked(o, e, d, index[d]);
		offset = offset * in->dims[d] + index[d];
	}
	if (o->seen && !masked)
		o->seen(o->ctx, e, index);
	if (inside)
		return masked ? 0 : o->data[e->input][offset];
	if (e->guarded)
		return oracle_value(o, e->args[in->ndim]);
	o->fault = true;
	return 0;
}

int64_t oracle_value(oracle *o, const kexpr *e)
{
	switch (e->kind) {
	case KX_INT:
		return e->i;
	case KX_VAR:
		return o->point[e->var];
	case KX_READ:
		return read_at(o, e);
	case KX_FN:
		return function(o, e);
	case KX_SELECT:
		return oracle_value(o, e->args[oracle_value(o, e->args[0]) ?
					       1 : 2]);
	case KX_CAST:
		return oracle_value(o, e->args[0]);
	default:
		assert(!"an expression that random kernels have");
		return 0;
	}
}

bool oracle_start(oracle *o, int from, int to)
{
	for (int v = from; v < to; v++) {
		o->point[v] = o->space->lo[v];
		if (o->space->lo[v] >= o->space->hi[v])
			return false;
	}
	return true;
}

bool oracle_next(oracle *o, int from, int to)
{
	for (int v = to - 1; v >= from; v--) {
		if (++o->point[v] < o->space->hi[v])
			return true;
		o->point[v] = o->space->lo[v];
	}
	return false;
}

int oracle_loops(const kernel *k)
{
	int n = 0;
	for (int v = 0; v < k->nvars; v++)
		n += k->vars[v].kind != KVAR_DERIVED;
	return n;
}

view random_view(arena *a, rng *r, const box *at)
{
	double *x = ARENA_ARRAY(a, double, box_volume(at) + 1);
	for (int64_t i = 0; i < box_volume(at); i++)
		x[i] = pick(r, -9, 9);
	return view_dense(x, DT_F64, at);
}

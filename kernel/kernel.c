#include "config.h"

#include "kernel/kernel.h"

#include <assert.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"

/* ---- making expressions ------------------------------------------------ */

static kexpr *make(arena *a, kexpr_kind kind, dtype t, int nargs)
{
	kexpr *e = ARENA_NEW(a, kexpr);
	e->kind = kind;
	e->type = t;
	e->nargs = nargs;
	if (nargs > 0)
		e->args = ARENA_ARRAY(a, kexpr *, nargs);
	return e;
}

kexpr *kx_int(arena *a, int64_t i, dtype t)
{
	kexpr *e = make(a, KX_INT, t, 0);
	e->i = i;
	return e;
}

kexpr *kx_float(arena *a, double f, dtype t)
{
	kexpr *e = make(a, KX_FLOAT, t, 0);
	e->f = f;
	return e;
}

kexpr *kx_var(arena *a, int var)
{
	kexpr *e = make(a, KX_VAR, DT_I64, 0);
	e->var = var;
	return e;
}

kexpr *kx_read(arena *a, int input, dtype t, int ndim, kexpr **index,
	       kexpr *otherwise)
{
	kexpr *e = make(a, KX_READ, t, ndim + (otherwise != NULL));
	e->input = input;
	e->guarded = otherwise != NULL;
	for (int d = 0; d < ndim; d++)
		e->args[d] = index[d];
	if (otherwise)
		e->args[ndim] = otherwise;
	return e;
}

kexpr *kx_fn(arena *a, fn f, int nargs, kexpr **args)
{
	assert(nargs == fn_nargs(f));
	kexpr *e = make(a, KX_FN, fn_gives_bool(f) ? DT_BOOL : args[0]->type,
			nargs);
	e->fn = f;
	for (int i = 0; i < nargs; i++)
		e->args[i] = args[i];
	return e;
}

kexpr *kx_fn1(arena *a, fn f, kexpr *x)
{
	return kx_fn(a, f, 1, (kexpr *[]){ x });
}

kexpr *kx_fn2(arena *a, fn f, kexpr *x, kexpr *y)
{
	return kx_fn(a, f, 2, (kexpr *[]){ x, y });
}

kexpr *kx_select(arena *a, kexpr *c, kexpr *x, kexpr *y)
{
	kexpr *e = make(a, KX_SELECT, x->type, 3);
	e->args[0] = c;
	e->args[1] = x;
	e->args[2] = y;
	return e;
}

kexpr *kx_cast(arena *a, kexpr *x, dtype t)
{
	kexpr *e = make(a, KX_CAST, t, 1);
	e->args[0] = x;
	return e;
}

kexpr *kx_bitcast(arena *a, kexpr *x, dtype t)
{
	assert(dtype_bits(x->type) == dtype_bits(t));
	kexpr *e = make(a, KX_BITCAST, t, 1);
	e->args[0] = x;
	return e;
}

bool kx_has_read(const kexpr *e)
{
	if (e->kind == KX_READ)
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (kx_has_read(e->args[i]))
			return true;
	return false;
}

/* ---- comparing --------------------------------------------------------- */

static int order(int64_t x, int64_t y)
{
	return (x > y) - (x < y);
}

/* The bits of a float: 0 and -0 differ, and a NaN equals itself. */
static int64_t float_bits(double f)
{
	int64_t bits;
	memcpy(&bits, &f, sizeof(bits));
	return bits;
}

static int node_compare(const kexpr *x, const kexpr *y)
{
	int c = order(x->kind, y->kind);
	if (!c)
		c = order(x->type, y->type);
	if (!c)
		c = order(x->nargs, y->nargs);
	if (c)
		return c;
	switch (x->kind) {
	case KX_INT:
		return order(x->i, y->i);
	case KX_FLOAT:
		return order(float_bits(x->f), float_bits(y->f));
	case KX_VAR:
		return order(x->var, y->var);
	case KX_READ:
		c = order(x->input, y->input);
		return c ? c : order(x->guarded, y->guarded);
	case KX_FN:
		return order(x->fn, y->fn);
	case KX_SELECT:
	case KX_CAST:
	case KX_BITCAST:
		break;
	}
	return 0;
}

int kx_compare(const kexpr *x, const kexpr *y)
{
	if (x == y)
		return 0;
	int c = node_compare(x, y);
	for (int i = 0; !c && i < x->nargs; i++)
		c = kx_compare(x->args[i], y->args[i]);
	return c;
}

bool kx_equal(const kexpr *x, const kexpr *y)
{
	return kx_compare(x, y) == 0;
}

/* Hashes e.  Unless `values' is set, constants outside of indices count only by
 * their presence. */
static uint64_t hash_expr(uint64_t seed, const kexpr *e, bool values)
{
	int64_t own = 0;
	switch (e->kind) {
	case KX_INT:
		own = values ? e->i : 0;
		break;
	case KX_FLOAT:
		own = values ? float_bits(e->f) : 0;
		break;
	case KX_VAR:
		own = e->var;
		break;
	case KX_READ:
		own = 2 * (int64_t)e->input + e->guarded;
		values = true;
		break;
	case KX_FN:
		own = e->fn;
		break;
	case KX_SELECT:
	case KX_CAST:
	case KX_BITCAST:
		break;
	}
	int64_t head[] = { e->kind, e->type, e->nargs, own };
	seed = hash_bytes(seed, head, sizeof(head));
	for (int i = 0; i < e->nargs; i++)
		seed = hash_expr(seed, e->args[i], values);
	return seed;
}

uint64_t kx_hash(uint64_t seed, const kexpr *e)
{
	return hash_expr(seed, e, true);
}

static bool same_expr(const kexpr *x, const kexpr *y)
{
	return x && y ? kx_equal(x, y) : x == y;
}

static bool same_signature(const kernel *x, const kernel *y)
{
	if (x->nvars != y->nvars || x->nout != y->nout ||
	    x->reducer != y->reducer || x->type != y->type ||
	    x->ninputs != y->ninputs)
		return false;
	for (int v = 0; v < x->nvars; v++)
		if (x->vars[v].kind != y->vars[v].kind ||
		    x->vars[v].extent != y->vars[v].extent ||
		    !x->vars[v].indivisible_reason !=
			    !y->vars[v].indivisible_reason)
			return false;
	for (int i = 0; i < x->ninputs; i++) {
		const kinput *p = &x->inputs[i], *q = &y->inputs[i];
		if (p->type != q->type || p->ndim != q->ndim ||
		    (p->ndim && memcmp(p->dims, q->dims,
				       (size_t)p->ndim * sizeof(*p->dims))))
			return false;
	}
	return true;
}

static bool same_derived(const kernel *x, const kernel *y)
{
	if (x->nderived != y->nderived)
		return false;
	for (int i = 0; i < x->nderived; i++)
		if (x->derived[i].var != y->derived[i].var ||
		    x->derived[i].input != y->derived[i].input ||
		    x->derived[i].dim != y->derived[i].dim)
			return false;
	return true;
}

static bool same_attr(const kattr *x, const kattr *y)
{
	if (strcmp(x->name, y->name) || x->n != y->n || !x->ints != !y->ints ||
	    !x->floats != !y->floats)
		return false;
	for (int i = 0; i < x->n; i++)
		if (x->ints     ? x->ints[i] != y->ints[i]
		    : x->floats ? memcmp(&x->floats[i], &y->floats[i],
					 sizeof(*x->floats)) != 0
				: strcmp(x->strings[i], y->strings[i]) != 0)
			return false;
	return true;
}

static uint64_t hash_attr(uint64_t h, const kattr *x)
{
	h = hash_i64(hash_str(h, x->name), x->n);
	for (int i = 0; i < x->n; i++)
		h = x->ints	? hash_i64(h, x->ints[i])
		    : x->floats ? hash_bytes(h, &x->floats[i],
					     sizeof(*x->floats))
				: hash_str(h, x->strings[i]);
	return h;
}

static bool same_opaque(const kernel *x, const kernel *y)
{
	if (!x->opaque || !y->opaque)
		return !x->opaque == !y->opaque;
	if (strcmp(x->opaque_symbol ? x->opaque_symbol : "",
		   y->opaque_symbol ? y->opaque_symbol : "") ||
	    x->nhidden != y->nhidden ||
	    x->opaque_result != y->opaque_result ||
	    x->nslices != y->nslices || x->nattrs != y->nattrs)
		return false;
	for (int i = 0; i < x->nattrs; i++)
		if (!same_attr(&x->attrs[i], &y->attrs[i]))
			return false;
	for (int s = 0; s < x->nslices; s++) {
		const kslice *p = &x->slices[s], *q = &y->slices[s];
		if (p->input != q->input || p->ndim != q->ndim)
			return false;
		for (int d = 0; d < p->ndim; d++)
			if (!same_expr(p->at[d], q->at[d]))
				return false;
	}
	return true;
}

bool kernel_equal(const kernel *x, const kernel *y)
{
	return same_signature(x, y) && same_derived(x, y) &&
	       same_opaque(x, y) && same_expr(x->body, y->body);
}

/* Hashes a kernel; without extents unless `extents' is set; for values see
 * hash_expr(). */
static uint64_t hash_kernel(const kernel *k, bool values, bool extents)
{
	int64_t head[] = { k->nvars, k->nout, k->reducer, k->type,
			   k->ninputs, k->nderived, k->nslices };
	uint64_t h = hash_bytes(HASH_SEED, head, sizeof(head));
	for (int v = 0; v < k->nvars; v++)
		h = hash_i64(hash_i64(h, k->vars[v].kind),
			     extents ? k->vars[v].extent : 0);
	for (int i = 0; i < k->ninputs; i++) {
		const kinput *in = &k->inputs[i];
		h = hash_i64(hash_i64(h, in->type), in->ndim);
		if (extents)
			h = hash_bytes(h, in->dims,
				       (size_t)in->ndim * sizeof(*in->dims));
	}
	for (int i = 0; i < k->nderived; i++)
		h = hash_bytes(h, &k->derived[i], sizeof(k->derived[i]));
	if (k->opaque_symbol)
		h = hash_str(h, k->opaque_symbol);
	for (int i = 0; i < k->nattrs; i++)
		h = hash_attr(h, &k->attrs[i]);
	for (int s = 0; s < k->nslices; s++) {
		h = hash_i64(h, k->slices[s].input);
		for (int d = 0; d < k->slices[s].ndim; d++)
			if (k->slices[s].at[d])
				h = kx_hash(h, k->slices[s].at[d]);
	}
	return k->body ? hash_expr(h, k->body, values) : h;
}

uint64_t kernel_hash(const kernel *k)
{
	return hash_kernel(k, true, true);
}

uint64_t kernel_form_hash(const kernel *k)
{
	return hash_kernel(k, false, true);
}

uint64_t kernel_structure_hash(const kernel *k)
{
	return hash_kernel(k, false, false);
}

/* ---- counting ---------------------------------------------------------- */

/* Operations of e, without those of indices: a function counts if an argument
 * is a float or comes from a tensor.  Of a condition's branches the longer one
 * counts. */
static int64_t count_flops(const kexpr *e)
{
	int64_t n = 0;
	switch (e->kind) {
	case KX_INT:
	case KX_FLOAT:
	case KX_VAR:
		break;
	case KX_READ:
		if (e->guarded)
			n = count_flops(e->args[e->nargs - 1]);
		break;
	case KX_SELECT: {
		int64_t x = count_flops(e->args[1]);
		int64_t y = count_flops(e->args[2]);
		n = count_flops(e->args[0]) + (x > y ? x : y);
		break;
	}
	case KX_CAST:
	case KX_BITCAST:
		n = count_flops(e->args[0]);
		break;
	case KX_FN:
		for (int i = 0; i < e->nargs; i++)
			n += count_flops(e->args[i]);
		if (dtype_is_float(e->args[0]->type) || kx_has_read(e) ||
		    e->fn == FN_RANDOM)
			n += fn_flops(e->fn);
		break;
	}
	return n;
}

int64_t kernel_flops_per_point(const kernel *k)
{
	int64_t n = k->body ? count_flops(k->body) : 0;
	return n + (k->reducer != RED_NONE);
}

int64_t kernel_points(const kernel *k)
{
	int64_t n = 1;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind != KVAR_DERIVED && k->vars[v].extent == 0)
			return 0;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind != KVAR_DERIVED &&
		    !ck_mul(n, k->vars[v].extent, &n))
			return -1;
	return n;
}

/* Whether every read of an input in e is at the result's own index. */
static bool own_index_only(const kernel *k, const kexpr *e, int input)
{
	if (e->kind == KX_READ && e->input == input)
		for (int d = 0; d < e->nargs - e->guarded; d++) {
			const kexpr *at = e->args[d];
			bool only = k->inputs[input].dims[d] == 1 &&
				    at->kind == KX_INT && at->i == 0;
			if (!only && (at->kind != KX_VAR || at->var != d))
				return false;
		}
	for (int i = 0; i < e->nargs; i++)
		if (!own_index_only(k, e->args[i], input))
			return false;
	return true;
}

bool kernel_in_place(const kernel *k, int input)
{
	const kinput *in = &k->inputs[input];
	if (!k->body || k->reducer != RED_NONE || in->type != k->type ||
	    in->ndim != k->nout)
		return false;
	for (int d = 0; d < k->nout; d++)
		if (in->dims[d] != kernel_dim(k, d))
			return false;
	return own_index_only(k, k->body, input);
}

bool kernel_is_copy(const kernel *k)
{
	const kexpr *e = k->body;
	if (k->opaque || e->kind != KX_READ || e->guarded || e->input != 0 ||
	    k->reducer != RED_NONE || e->nargs != k->nout ||
	    k->nderived > 0 || e->type != k->type)
		return false;
	for (int d = 0; d < k->nout; d++)
		if (e->args[d]->kind != KX_VAR || e->args[d]->var != d ||
		    k->inputs[0].dims[d] != kernel_dim(k, d))
			return false;
	return true;
}

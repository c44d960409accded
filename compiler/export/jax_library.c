/* Finds kernels that are a single call of JAX's library. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/export/jax_kernel.h"
#include "kernel/convolution.h"

/* The last argument of a product of elements of type t: the type in which sums
 * of small floats are computed. */
static const char *accumulator(const jax_printer *p, dtype t)
{
	return !dtype_is_small_float(t) ? "" :
		arena_printf(p->a, ", preferred_element_type=%s",
			     jax_type(jax_compute_type(t)));
}

/* An operand with elements of type t. */
static const char *widened(const jax_printer *p, const char *s, dtype t)
{
	return dtype_is_small_float(t) ? arena_printf(p->a, "wide(%s)", s) : s;
}

/* ---- convolutions ------------------------------------------------------ */

static int64_t dim_of(const jax_printer *p, const convolution *c,
		      conv_side side, int i)
{
	int input = c->operand[side], d = c->dim[side][i];
	return input == p->k->ninputs ? kernel_dim(p->k, d)
				      : p->k->inputs[input].dims[d];
}

/* The arguments for one spatial dimension of a call. */
typedef struct conv_window {
	int64_t stride, low, high, left, right; /* dilations of the operands */
} conv_window;

static conv_window window_of(const jax_printer *p, const convolution *c, int i)
{
	const conv_axis *x = &c->axes[i];
	int64_t nx = dim_of(p, c, CONV_X, 2 + i), r = x->dilation;
	int64_t taps = dim_of(p, c, CONV_W, 2 + i) - 1;
	int64_t last = (dim_of(p, c, CONV_Y, 2 + i) - 1) * x->stride;
	int64_t high = last + r * taps - x->pad - (nx - 1);
	if (c->kind == CONV_FORWARD)
		return (conv_window){ x->stride, x->pad, high, 1, r };
	if (c->kind == CONV_FILTER)
		return (conv_window){ r, x->pad, high, 1, x->stride };
	return (conv_window){ 1, r * taps - x->pad, nx - 1 - last + x->pad,
			      x->stride, r };
}

static const char *print_windows(const jax_printer *p, const convolution *c)
{
	int64_t stride[CONV_MAX_SPATIAL], left[CONV_MAX_SPATIAL];
	int64_t right[CONV_MAX_SPATIAL];
	const char *pads = "";
	for (int i = 0; i < c->nspatial; i++) {
		conv_window w = window_of(p, c, i);
		stride[i] = w.stride;
		left[i] = w.left;
		right[i] = w.right;
		pads = arena_printf(p->a, "%s%s(%" PRId64 ", %" PRId64 ")",
				    pads, i ? ", " : "", w.low, w.high);
	}
	int n = c->nspatial;
	return arena_printf(p->a, "%s, [%s], %s, %s",
			    jax_tuple(p->a, n, stride), pads,
			    jax_tuple(p->a, n, left),
			    jax_tuple(p->a, n, right));
}

/* The dimensions of an operand as text: two of c->dim[], then the spatial
 * ones. */
static const char *dims_text(const jax_printer *p, const convolution *c,
			     conv_side side, int first, int second)
{
	int64_t at[CONV_MAX_NDIM] = { c->dim[side][first],
				      c->dim[side][second] };
	for (int i = 2; i < 2 + c->nspatial; i++)
		at[i] = c->dim[side][i];
	return jax_tuple(p->a, 2 + c->nspatial, at);
}

static const char *operand(const jax_printer *p, const convolution *c,
			   conv_side side)
{
	int input = c->operand[side];
	return widened(p, p->inputs[input], p->k->inputs[input].type);
}

/* The taps in reverse order. */
static const char *turned(const jax_printer *p, const convolution *c)
{
	int64_t at[CONV_MAX_SPATIAL];
	for (int i = 0; i < c->nspatial; i++)
		at[i] = c->dim[CONV_W][2 + i];
	return arena_printf(p->a, "lax.rev(%s, %s)", operand(p, c, CONV_W),
			    jax_tuple(p->a, c->nspatial, at));
}

/* Whether the windows of a convolution have one element each and do not
 * overlap. */
static bool is_product(const jax_printer *p, const convolution *c)
{
	for (int i = 0; i < c->nspatial; i++)
		if (dim_of(p, c, CONV_W, 2 + i) > 1)
			return false;
	return c->kind != CONV_DATA;
}

static bool same_types(const jax_printer *p, const convolution *c)
{
	dtype t = DT_NONE;
	for (int s = 0; s < CONV_SIDES; s++) {
		if (c->operand[s] == p->k->ninputs)
			continue;
		dtype u = p->k->inputs[c->operand[s]].type;
		if (t != DT_NONE && t != u)
			return false;
		t = u;
	}
	return true;
}

const char *jax_convolution(const jax_printer *p)
{
	convolution c;
	if (!convolution_of(p->k, &c) || is_product(p, &c) ||
	    !same_types(p, &c))
		return NULL;
	bool forward = c.kind == CONV_FORWARD, data = c.kind == CONV_DATA;
	conv_side left = data ? CONV_Y : CONV_X;
	conv_side right = forward || data ? CONV_W : CONV_Y;
	conv_side out = forward ? CONV_Y : data ? CONV_X : CONV_W;
	/* n and c of x, k and c of w, n and k of y. */
	const char *of_left = dims_text(p, &c, left, c.kind == CONV_FILTER,
					c.kind != CONV_FILTER);
	const char *of_right = dims_text(p, &c, right, forward ? 0 : 1,
					 forward ? 1 : 0);
	const char *of_out = dims_text(p, &c, out, c.kind == CONV_FILTER,
				       c.kind != CONV_FILTER);
	return arena_printf(
		p->a, "lax.conv_general_dilated(\n        %s, %s, %s,\n"
		"        lax.ConvDimensionNumbers(%s, %s, %s)%s)",
		operand(p, &c, left),
		data ? turned(p, &c) : operand(p, &c, right),
		print_windows(p, &c), of_left, of_right, of_out,
		accumulator(p, p->k->inputs[c.operand[left]].type));
}

/* ---- products ---------------------------------------------------------- */

enum { MAX_FACTORS = 8 };

/* Factors that depend only on variables on which the first one depends. */
typedef struct product_group {
	uint32_t vars;
	int n;
	const kexpr *of[MAX_FACTORS];
} product_group;

typedef struct product {
	int n;
	product_group groups[MAX_FACTORS];
} product;

/* A conversion to a wider float does not round. */
static const kexpr *without_casts(const kexpr *e)
{
	while (e->kind == KX_CAST && dtype_is_float(e->args[0]->type) &&
	       jax_compute_type(e->type) == e->type &&
	       (e->type == DT_F64 || e->args[0]->type != DT_F64))
		e = e->args[0];
	return e;
}

static bool collect(const kexpr *e, const kexpr **of, int *n)
{
	const kexpr *f = without_casts(e);
	if (f->kind == KX_FN && f->fn == FN_MUL && f->type == e->type)
		return collect(f->args[0], of, n) && collect(f->args[1], of, n);
	if (*n == MAX_FACTORS)
		return false;
	of[(*n)++] = e;
	return true;
}

static void join(product *x, const kexpr *e)
{
	uint32_t vars = jax_vars(e);
	for (int i = 0; i < x->n; i++) {
		product_group *g = &x->groups[i];
		if ((vars & ~g->vars) && (g->vars & ~vars))
			continue;
		g->vars |= vars;
		g->of[g->n++] = e;
		return;
	}
	x->groups[x->n++] = (product_group){ .vars = vars, .n = 1,
					     .of = { e } };
}

/* Splits a body into groups of factors.  Factors with many variables come
 * first, so that others can join them. */
static bool product_of(const kernel *k, product *x)
{
	const kexpr *of[MAX_FACTORS];
	int n = 0;
	*x = (product){ 0 };
	if (k->reducer != RED_SUM || !dtype_is_float(k->type) ||
	    !collect(k->body, of, &n))
		return false;
	for (int most = MAX_NVARS; most >= 0; most--)
		for (int i = 0; i < n; i++)
			if (__builtin_popcount(jax_vars(of[i])) == most)
				join(x, of[i]);
	return x->n > 1;
}

static char letter_of(const kernel *k, int var)
{
	static const char all[] = "abcdefghijklmnopqrstuvwxyz";
	char taken[MAX_NVARS + 1] = "";
	for (int v = 0; v <= var; v++) {
		char c = k->vars[v].name[0];
		if (c == '\0' || !strchr(all, c) || strchr(taken, c))
			c = all[strspn(all, taken)];
		taken[v] = c;
		taken[v + 1] = '\0';
	}
	return taken[var];
}

static const char *letters(const jax_printer *p, const jax_axes *x)
{
	const char *s = "";
	for (int i = 0; i < x->n; i++)
		s = arena_printf(p->a, "%s%c", s, letter_of(p->k, x->var[i]));
	return s;
}

/* The small float type in which all factors are read, otherwise the type in
 * which they are computed. */
static dtype operand_type(const jax_printer *p, const product *x)
{
	dtype t = DT_NONE;
	for (int i = 0; i < x->n; i++) {
		const kexpr *e = without_casts(x->groups[i].of[0]);
		dtype u = e->kind == KX_READ && x->groups[i].n == 1 ?
			p->k->inputs[e->input].type : p->k->body->type;
		if (t != DT_NONE && t != u)
			return jax_compute_type(p->k->body->type);
		t = u;
	}
	return t;
}

/* A group as an operand; *have are its dimensions. */
static const char *print_operand(const jax_printer *p, const product_group *g,
				 dtype t, jax_axes *have)
{
	const kexpr *e = without_casts(g->of[0]);
	const char *s;
	if (g->n == 1 && e->kind == KX_READ &&
	    p->k->inputs[e->input].type == t &&
	    jax_read_direct(p, e, &s, have))
		return s;
	*have = jax_axes_of(g->vars);
	s = NULL;
	for (int i = 0; i < g->n; i++) {
		const char *f = jax_print_at(p, have, g->of[i],
					     BIND_MUL + (i > 0));
		s = s ? arena_printf(p->a, "%s * %s", s, f) : f;
	}
	jax_piece q = { .s = s, .vars = g->vars };
	return jax_spread(p, have, &q);
}

/* The variables of the result with several values.  Dimensions missing in the
 * text are inserted for them. */
static uint32_t of_result(const kernel *k)
{
	uint32_t vars = 0;
	for (int v = 0; v < k->nout; v++)
		if (k->vars[v].extent != 1)
			vars |= UINT32_C(1) << v;
	return vars;
}

static const char *with_single(const jax_printer *p, const char *s)
{
	int64_t dims[MAX_NVARS];
	bool any = false;
	for (int v = 0; v < p->k->nout; v++) {
		dims[v] = p->k->vars[v].extent;
		any = any || dims[v] == 1;
	}
	return any ? arena_printf(p->a, "jnp.reshape(%s, %s)", s,
				  jax_tuple(p->a, p->k->nout, dims)) : s;
}

const char *jax_product(const jax_printer *p)
{
	product x;
	uint32_t all = 0, want = of_result(p->k);
	if (!product_of(p->k, &x))
		return NULL;
	for (int i = 0; i < x.n; i++)
		all |= x.groups[i].vars;
	for (int v = p->k->nout; v < p->k->nvars; v++)
		if (p->k->vars[v].extent != 1)
			want |= UINT32_C(1) << v;
	if (want & ~all)
		return NULL;
	dtype t = operand_type(p, &x);
	const char *of = "", *args = "";
	for (int i = 0; i < x.n; i++) {
		jax_axes have;
		const char *s = print_operand(p, &x.groups[i], t, &have);
		of = arena_printf(p->a, "%s%s%s", of, i ? "," : "",
				  letters(p, &have));
		args = arena_printf(p->a, "%s, %s", args, widened(p, s, t));
	}
	jax_axes out = jax_axes_of(of_result(p->k));
	return with_single(p, arena_printf(
		p->a, "jnp.einsum(\"%s->%s\"%s%s)", of, letters(p, &out), args,
		accumulator(p, t)));
}

/* ---- sums over places -------------------------------------------------- */

typedef struct scatter {
	int var;	    /* dimension of the result, indexed .. */
	const kexpr *index; /* .. by this */
	const kexpr *value; /* value to which this is added */
} scatter;

static bool is_zero(const kexpr *e)
{
	return (e->kind == KX_INT && e->i == 0) ||
	       (e->kind == KX_FLOAT && e->f == 0);
}

static bool scatter_of(const kernel *k, scatter *x)
{
	const kexpr *e = k->body;
	if (k->reducer != RED_SUM || e->kind != KX_SELECT ||
	    !is_zero(e->args[2]))
		return false;
	const kexpr *c = e->args[0];
	if (c->kind != KX_FN || c->fn != FN_EQ || c->args[0]->type != DT_I64)
		return false;
	for (int i = 0; i < 2; i++) {
		const kexpr *v = c->args[i];
		*x = (scatter){ v->var, c->args[1 - i], e->args[1] };
		uint32_t others = jax_vars(x->index) | jax_vars(x->value);
		if (v->kind == KX_VAR && v->var < k->nout &&
		    !(others >> v->var & 1) && kx_has_read(x->index))
			return true;
	}
	return false;
}

static void append(jax_axes *x, uint32_t vars)
{
	for (; vars; vars &= vars - 1)
		x->var[x->n++] = __builtin_ctz(vars);
}

/* s with its dimensions permuted so that the variables `have' ascend. */
static const char *ascending(const jax_printer *p, const char *s,
			     const jax_axes *have)
{
	const char *order = "";
	bool same = true;
	for (int v = 0, n = 0; v < p->k->nout; v++)
		for (int i = 0; i < have->n; i++)
			if (have->var[i] == v) {
				same = same && i == n;
				order = arena_printf(p->a, "%s%s%d", order,
						     n++ ? ", " : "", i);
			}
	return same ? s : arena_printf(p->a, "%s.transpose(%s)", s, order);
}

const char *jax_scatter(const jax_printer *p)
{
	scatter x;
	jax_axes at = { 0 }, have = { 0 }, of_value;
	if (!scatter_of(p->k, &x))
		return NULL;
	uint32_t out = of_result(p->k) & ~(UINT32_C(1) << x.var);
	uint32_t batch = out & jax_vars(x.index), over = 0;
	for (int v = p->k->nout; v < p->k->nvars; v++)
		if (p->k->vars[v].extent != 1)
			over |= UINT32_C(1) << v;
	if (!over || p->k->vars[x.var].extent == 1)
		return NULL;
	append(&at, batch);
	append(&have, batch);
	have.var[have.n++] = x.var;
	append(&have, out & ~batch);
	append(&at, over);
	of_value = at;
	append(&of_value, out & ~batch);
	jax_piece i = jax_print(p, &at, x.index);
	jax_piece v = jax_print(p, &of_value, x.value);
	if (!jax_is_typed(x.value))
		v.s = arena_printf(p->a, "jnp.asarray(%s, %s)", v.s,
				   jax_type(jax_compute_type(p->k->type)));
	const char *s = arena_printf(
		p->a, "scatter_add(%" PRId64 ", %d, %s, %s)",
		p->k->vars[x.var].extent, __builtin_popcount(batch),
		jax_spread(p, &at, &i), jax_spread(p, &of_value, &v));
	return with_single(p, ascending(p, s, &have));
}

/* ---- opaque functions -------------------------------------------------- */

static const char *values_text(arena *a, const kattr *x)
{
	const char *s = "";
	for (int i = 0; i < x->n; i++) {
		const char *v = x->ints ?
			arena_printf(a, "%" PRId64, x->ints[i]) : x->floats ?
			arena_printf(a, "%.17g", x->floats[i]) :
			arena_printf(a, "\"%s\"", x->strings[i]);
		s = arena_printf(a, "%s%s%s", s, i ? ", " : "", v);
	}
	return x->n == 1 ? s : arena_printf(a, "(%s)", s);
}

/* A slice as an array: first the batch axes, of size 1 if it does not depend on
 * them, then its own dimensions. */
static const char *print_slice(const jax_printer *p, const kslice *x)
{
	kernel k = *p->k;
	kvar *vars = ARENA_ARRAY(p->a, kvar, k.nvars + x->ndim + 1);
	kexpr *index[MAX_NDIM];
	jax_axes axes = { 0 };
	int batch = k.nout - k.nhidden;
	memcpy(vars, k.vars, (size_t)k.nvars * sizeof(*vars));
	for (int v = 0; v < batch; v++)
		axes.var[axes.n++] = v;
	for (int d = 0; d < x->ndim; d++) {
		index[d] = x->at[d];
		if (index[d])
			continue;
		vars[k.nvars] = (kvar){ .name = "", .kind = KVAR_OUTPUT,
					.extent = k.inputs[x->input].dims[d] };
		axes.var[axes.n++] = k.nvars;
		index[d] = kx_var(p->a, k.nvars++);
	}
	k.vars = vars;
	jax_printer inner = { .a = p->a, .k = &k, .inputs = p->inputs };
	return jax_read(&inner, &axes,
			kx_read(p->a, x->input, k.inputs[x->input].type,
				x->ndim, index, NULL)).s;
}

const char *jax_opaque(const jax_printer *p)
{
	const kernel *k = p->k;
	int64_t dims[MAX_NDIM];
	const char *s = arena_printf(p->a, "opaque.%s(", k->opaque);
	for (int i = 0; i < k->nslices; i++)
		s = arena_printf(p->a, "%s%s%s", s, i ? ", " : "",
				 print_slice(p, &k->slices[i]));
	for (int i = 0; i < k->nattrs; i++)
		s = arena_printf(p->a, "%s, %s=%s", s, k->attrs[i].name,
				 values_text(p->a, &k->attrs[i]));
	for (int d = 0; d < k->nout; d++)
		dims[d] = kernel_dim(k, d);
	return arena_printf(p->a,
			    "jnp.broadcast_to(opaque_result(%s), %d), %s)", s,
			    k->opaque_result, jax_tuple(p->a, k->nout, dims));
}

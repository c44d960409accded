/* The reads of a kernel's body.  kernel_finish() compiles each of them once,
 * with the conditions under which it is made. */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "base/vec.h"
#include "kernel/index_interval.h"
#include "kernel/monotone.h"

typedef enum dim_kind {
	DIM_INDEX,
	DIM_WHOLE,   /* data-dependent */
	DIM_DERIVED, /* a data-dependent index; var stands for the dimension */
	DIM_UNKNOWN, /* intervals cannot follow the index */
} dim_kind;

typedef struct access_dim {
	dim_kind kind;
	lin x;
	int var;
	span inside; /* values that conditions on this sum allow */
	int64_t lo, hi; /* the same within the input, half-open */
} access_dim;

struct kaccess {
	const kexpr *read; /* for an opaque function's slice only the input */
	uint64_t hash;
	const void *path; /* identifies the conditions, for comparison */
	int input, ndim;
	bool guarded;
	const cond *when; /* NULL: always */
	access_dim *dims;
};

typedef struct builder {
	arena *a;
	const kernel *k;
	VEC(kaccess) accesses;
} builder;

/* The conditions on the way from the root to an expression. */
typedef struct path {
	const struct path *up;
	const cond *cond;
} path;

static const cond *path_cond(builder *b, const path *p)
{
	VEC(const cond *) all = { 0 };
	for (; p; p = p->up)
		vec_push(b->a, &all, p->cond);
	return index_all(b->a, all.n, all.at);
}

/* Whether x = g * p + .. and y = h * p + .. for a common sum p of variables
 * whose coefficients have no common divisor; sets g > 0 and h. */
static bool parallel(const lin *x, const lin *y, int64_t *g, int64_t *h)
{
	if (!x->affine || !y->affine || x->n != y->n || !x->n)
		return false;
	*g = 0;
	for (int i = 0; i < x->n; i++)
		*g = common_divisor(*g, x->t[i].coef);
	int64_t first = x->t[0].coef / *g;
	if (y->t[0].coef % first)
		return false;
	*h = y->t[0].coef / first;
	for (int i = 0; i < x->n; i++)
		if (x->t[i].var != y->t[i].var ||
		    (__int128)(x->t[i].coef / *g) * *h != y->t[i].coef)
			return false;
	return true;
}

/* Narrows the interval of the index x by a condition on the same sum, which
 * would be lost if its variables were narrowed one by one: the condition bounds
 * the sum p of parallel(), and p bounds x. */
static void clip_by(const cond *c, const lin *x, span *to)
{
	int64_t g, h;
	if (c->kind == COND_ALL)
		for (int i = 0; i < c->n; i++)
			clip_by(c->of[i], x, to);
	if (c->kind != COND_BETWEEN || !parallel(x, &c->x, &g, &h))
		return;
	span p = span_unscale(h, (span){ c->to.lo - c->x.c,
					 c->to.hi - c->x.c });
	p = (span){ max_i64(p.lo, -INDEX_LIMIT / g),
		    min_i64(p.hi, INDEX_LIMIT / g) };
	to->lo = max_i64(to->lo, x->c + g * p.lo);
	to->hi = min_i64(to->hi, x->c + g * p.hi);
}

static int derived_var(const kernel *k, int input, int dim)
{
	for (int i = 0; i < k->nderived; i++)
		if (k->derived[i].input == input && k->derived[i].dim == dim)
			return k->derived[i].var;
	return -1;
}

static void compile_dim(builder *b, const kaccess *acc, int dim,
			const kexpr *index, access_dim *out)
{
	int64_t size = b->k->inputs[acc->input].dims[dim];
	out->inside = (span){ -INDEX_FAR, INDEX_FAR };
	out->lo = 0;
	out->hi = size;
	out->kind = DIM_WHOLE;
	if (!index)
		return;
	if (kx_has_read(index)) {
		out->var = derived_var(b->k, acc->input, dim);
		if (out->var >= 0)
			out->kind = DIM_DERIVED;
		return;
	}
	const kexpr *plain = kx_simplify(b->a, index, b->k->vars);
	if (!index_compile(b->a, b->k, plain, &out->x)) {
		out->kind = DIM_UNKNOWN;
		return;
	}
	out->kind = DIM_INDEX;
	if (acc->when)
		clip_by(acc->when, &out->x, &out->inside);
	out->lo = max_i64(0, out->inside.lo);
	out->hi = min_i64(size, out->inside.hi + 1);
}

static bool same_read(const kaccess *x, const kaccess *y)
{
	if (x->hash != y->hash || x->input != y->input ||
	    x->path != y->path || x->guarded != y->guarded)
		return false;
	for (int d = 0; d < x->ndim; d++)
		if (!kx_equal(x->read->args[d], y->read->args[d]))
			return false;
	return true;
}

static void add_access(builder *b, const kexpr *read, const path *p)
{
	kaccess acc = { .read = read, .input = read->input,
			.ndim = kx_ndim(read), .guarded = read->guarded,
			.path = p, .hash = HASH_SEED };
	assert(acc.ndim == b->k->inputs[acc.input].ndim);
	for (int d = 0; d < acc.ndim; d++)
		acc.hash = kx_hash(acc.hash, read->args[d]);
	for (int i = 0; i < b->accesses.n; i++)
		if (same_read(&b->accesses.at[i], &acc))
			return;
	acc.when = path_cond(b, p);
	acc.dims = ARENA_ARRAY(b->a, access_dim, acc.ndim);
	for (int d = 0; d < acc.ndim; d++)
		compile_dim(b, &acc, d, read->args[d], &acc.dims[d]);
	vec_push(b->a, &b->accesses, acc);
}

static void collect(builder *b, const kexpr *e, const path *p);

static void collect_branch(builder *b, const kexpr *e, const path *p,
			   const cond *c)
{
	if (c) {
		path *below = ARENA_NEW(b->a, path);
		*below = (path){ p, c };
		p = below;
	}
	collect(b, e, p);
}

static bool is_logic(const kexpr *e)
{
	return e->kind == KX_FN && (e->fn == FN_AND || e->fn == FN_OR);
}

static void collect(builder *b, const kexpr *e, const path *p)
{
	if (is_logic(e)) {
		/* The second argument is evaluated only if the first does not
		 * decide. */
		const kexpr *c = kx_simplify(b->a, e->args[0], b->k->vars);
		collect(b, e->args[0], p);
		collect_branch(b, e->args[1], p,
			       index_cond(b->a, b->k, c, e->fn == FN_AND));
		return;
	}
	if (e->kind == KX_SELECT) {
		const kexpr *c = kx_simplify(b->a, e->args[0], b->k->vars);
		collect(b, e->args[0], p);
		collect_branch(b, e->args[1], p,
			       index_cond(b->a, b->k, c, true));
		collect_branch(b, e->args[2], p,
			       index_cond(b->a, b->k, c, false));
		return;
	}
	if (e->kind == KX_READ)
		add_access(b, e, p);
	for (int i = 0; i < e->nargs; i++)
		collect(b, e->args[i], p);
}

static void collect_slice(builder *b, const kslice *s)
{
	kexpr *read = ARENA_NEW(b->a, kexpr);
	*read = (kexpr){ .kind = KX_READ, .input = s->input,
			 .type = b->k->inputs[s->input].type };
	kaccess acc = { .read = read, .input = s->input, .ndim = s->ndim };
	acc.dims = ARENA_ARRAY(b->a, access_dim, s->ndim);
	for (int d = 0; d < s->ndim; d++) {
		compile_dim(b, &acc, d, s->at[d], &acc.dims[d]);
		if (s->at[d])
			collect(b, s->at[d], NULL);
	}
	vec_push(b->a, &b->accesses, acc);
}

void kernel_finish(arena *a, kernel *k)
{
	builder b = { .a = a, .k = k };
	if (k->body)
		collect(&b, k->body, NULL);
	for (int s = 0; s < k->nslices; s++)
		collect_slice(&b, &k->slices[s]);
	k->accesses = b.accesses.at;
	k->naccesses = b.accesses.n;
	kpassing passings[MAX_PASSINGS];
	k->npassings = kernel_passings(k, passings);
	k->passings = ARENA_COPY(a, passings, k->npassings);
}

/* ---- needs ------------------------------------------------------------- */

static inline span affine_span(const lin *x, const box *b)
{
	span r = { x->c, x->c };
	for (int i = 0; i < x->n; i++) {
		int64_t coef = x->t[i].coef;
		int64_t lo = b->lo[x->t[i].var];
		int64_t hi = b->hi[x->t[i].var] - 1;
		r.lo += coef * (coef < 0 ? hi : lo);
		r.hi += coef * (coef < 0 ? lo : hi);
	}
	return r;
}

/* The range [*lo, *hi) that an access reads of dimension x, clipped; false if
 * it is empty. */
static inline bool dim_need(const access_dim *x, const box *space, int64_t *lo,
			    int64_t *hi)
{
	span s = { 0, 0 };
	*lo = x->lo;
	*hi = x->hi;
	switch (x->kind) {
	case DIM_INDEX:
		s = x->x.affine ? affine_span(&x->x, space) :
				  index_span(&x->x, space);
		*lo = max_i64(*lo, s.lo);
		*hi = min_i64(*hi, s.hi + 1);
		break;
	case DIM_DERIVED:
		*lo = max_i64(*lo, space->lo[x->var]);
		*hi = min_i64(*hi, space->hi[x->var]);
		break;
	case DIM_WHOLE:
	case DIM_UNKNOWN:
		break;
	}
	return *lo < *hi;
}

/* Extends the needed box by the reads of one access; `some': the box is not
 * empty before.  Returns whether it is not empty afterwards. */
static bool add_need(const kaccess *acc, const box *space, box *need,
		     bool some)
{
	int64_t lo[MAX_NDIM], hi[MAX_NDIM];
	box part;
	if (acc->when) {
		box_copy(&part, space);
		if (!index_narrow(acc->when, &part))
			return some;
		space = &part;
	}
	for (int d = 0; d < acc->ndim; d++)
		if (!dim_need(&acc->dims[d], space, &lo[d], &hi[d]))
			return some;
	for (int d = 0; d < acc->ndim; d++) {
		need->lo[d] = some ? min_i64(need->lo[d], lo[d]) : lo[d];
		need->hi[d] = some ? max_i64(need->hi[d], hi[d]) : hi[d];
	}
	return true;
}

/* Whether no point is evaluated.  A derived variable adds no loop: if it is
 * empty, only its input is not read. */
static bool no_points(const kernel *k, const box *space)
{
	for (int v = 0; v < k->nvars; v++)
		if (space->lo[v] >= space->hi[v] &&
		    k->vars[v].kind != KVAR_DERIVED)
			return true;
	return false;
}

static void set_empty(box *b, int n)
{
	b->n = n;
	for (int d = 0; d < n; d++)
		b->lo[d] = b->hi[d] = 0;
}

void kernel_needs(const kernel *k, const box *space, box *needs)
{
	uint32_t some = 0;
	for (int i = 0; i < k->ninputs; i++)
		set_empty(&needs[i], k->inputs[i].ndim);
	if (no_points(k, space))
		return;
	for (int i = 0; i < k->naccesses; i++) {
		const kaccess *acc = &k->accesses[i];
		uint32_t bit = (uint32_t)1 << acc->input;
		if (add_need(acc, space, &needs[acc->input], some & bit))
			some |= bit;
	}
}

box kernel_need(const kernel *k, const box *space, int input)
{
	box need;
	bool some = false;
	set_empty(&need, k->inputs[input].ndim);
	if (no_points(k, space))
		return need;
	for (int i = 0; i < k->naccesses; i++)
		if (k->accesses[i].input == input)
			some = add_need(&k->accesses[i], space, &need, some);
	return need;
}

/* ---- variables of reads ------------------------------------------------ */

/* The variables that an index and the conditions on it use, a bit each. */
static uint32_t vars_of_lin(const lin *x);

static uint32_t vars_of_cond(const cond *c)
{
	uint32_t vars = 0;
	if (!c)
		return 0;
	if (c->kind == COND_BETWEEN)
		vars |= vars_of_lin(&c->x);
	for (int i = 0; i < c->n; i++)
		vars |= vars_of_cond(c->of[i]);
	return vars;
}

static uint32_t vars_of_lin(const lin *x)
{
	uint32_t vars = 0;
	for (int i = 0; i < x->n; i++) {
		const atom *a = x->t[i].atom;
		vars |= a ? vars_of_lin(&a->x) | vars_of_lin(&a->y) |
				    vars_of_cond(a->when) |
				    vars_of_cond(a->unless)
			  : UINT32_C(1) << x->t[i].var;
	}
	return vars;
}

static uint32_t vars_of_dim(const access_dim *x)
{
	return x->kind == DIM_INDEX   ? vars_of_lin(&x->x)
	       : x->kind == DIM_DERIVED ? UINT32_C(1) << x->var
					: 0;
}

/* Whether an access reads something in every part of the iteration space. */
static bool always_reads(const kernel *k, const kaccess *acc)
{
	for (int d = 0; d < acc->ndim; d++) {
		const access_dim *x = &acc->dims[d];
		if (x->kind == DIM_INDEX &&
		    (x->x.all.lo < 0 ||
		     x->x.all.hi >= k->inputs[acc->input].dims[d]))
			return false;
	}
	return !acc->when;
}

/* A condition narrows all of its variables together, and whether one of several
 * reads is made at all depends on all of its indices. */
void kernel_need_vars(const kernel *k, int input, uint32_t *vars)
{
	int ndim = k->inputs[input].ndim, nreads = 0;
	uint32_t all = 0;
	bool always = true;
	memset(vars, 0, (size_t)ndim * sizeof(*vars));
	for (int i = 0; i < k->naccesses; i++) {
		const kaccess *acc = &k->accesses[i];
		if (acc->input != input)
			continue;
		uint32_t when = vars_of_cond(acc->when);
		for (int d = 0; d < ndim; d++) {
			vars[d] |= vars_of_dim(&acc->dims[d]) | when;
			all |= vars[d];
		}
		always = always && always_reads(k, acc);
		nreads++;
	}
	for (int d = 0; d < ndim && nreads > 1 && !always; d++)
		vars[d] = all;
}

/* For one access that is made everywhere. */
static int span_of_dim(const kernel *k, const access_dim *x, int64_t size)
{
	bool clipped = x->lo != 0 || x->hi != size;
	if (clipped)
		return NEED_OTHER;
	if (x->kind == DIM_WHOLE || x->kind == DIM_UNKNOWN)
		return NEED_ALL;
	int v = x->var;
	if (x->kind == DIM_INDEX) {
		const lin *i = &x->x;
		if (!i->affine || i->n != 1 || i->c != 0 || i->t[0].coef != 1)
			return NEED_OTHER;
		v = i->t[0].var;
	}
	return k->vars[v].extent == size ? v : NEED_OTHER;
}

void kernel_need_spans(const kernel *k, int input, int *spans)
{
	const kinput *in = &k->inputs[input];
	int nreads = 0;
	for (int d = 0; d < in->ndim; d++)
		spans[d] = NEED_OTHER;
	for (int i = 0; i < k->naccesses; i++) {
		const kaccess *acc = &k->accesses[i];
		if (acc->input != input)
			continue;
		for (int d = 0; d < in->ndim; d++) {
			int s = acc->when ? NEED_OTHER
					  : span_of_dim(k, &acc->dims[d],
							in->dims[d]);
			bool other = nreads > 0 && s != spans[d];
			spans[d] = other ? NEED_OTHER : s;
		}
		nreads++;
	}
}

/* ---- reads that leave their input -------------------------------------- */

static bool dim_outside(const access_dim *x, const box *space, int64_t size,
			outside *o)
{
	*o = (outside){ .size = size };
	if (x->kind == DIM_UNKNOWN)
		return true;
	if (x->kind != DIM_INDEX)
		return false;
	span s = index_span(&x->x, space);
	s = (span){ max_i64(s.lo, x->inside.lo), min_i64(s.hi, x->inside.hi) };
	o->known = true;
	o->lo = s.lo;
	o->hi = s.hi + 1;
	return s.lo <= s.hi && (s.lo < 0 || s.hi >= size);
}

/* Searches by bisection for a point at which a read leaves its input.
 * Intervals alone are too wide, for example for i - i / 2. */
typedef struct search {
	const kaccess *acc;
	const access_dim *dim;
	int64_t size;
	uint32_t used; /* variables */
	int steps; /* steps that remain */
} search;

/* The used variable with the longest range; -1 if each has a single value. */
static int widest(const search *s, const box *space)
{
	int at = -1;
	for (int v = 0; v < space->n; v++) {
		int64_t n = space->hi[v] - space->lo[v];
		if ((s->used >> v & 1) && n > 1 &&
		    (at < 0 || n > space->hi[at] - space->lo[at]))
			at = v;
	}
	return at;
}

/* Each level halves a variable, so that there are at most 64 * MAX_NVARS. */
static bool finds_point(search *s, const box *space)
{
	outside o;
	box part;
	box_copy(&part, space);
	if (s->acc->when && !index_narrow(s->acc->when, &part))
		return false;
	if (!dim_outside(s->dim, &part, s->size, &o))
		return false;
	int v = widest(s, &part);
	if (v < 0 || s->steps-- <= 0)
		return true;
	int64_t lo = part.lo[v], hi = part.hi[v], half = lo + (hi - lo) / 2;
	part.hi[v] = half;
	if (finds_point(s, &part))
		return true;
	part.lo[v] = half;
	part.hi[v] = hi;
	return finds_point(s, &part);
}

static bool leaves(const kaccess *acc, const access_dim *dim, int64_t size,
		   const box *space)
{
	enum { MAX_STEPS = 10000 };
	search s = { .acc = acc, .dim = dim, .size = size,
		     .steps = MAX_STEPS };
	if (dim->kind == DIM_UNKNOWN)
		return true;
	s.used = vars_of_lin(&dim->x) | vars_of_cond(acc->when);
	return finds_point(&s, space);
}

bool kernel_reads_outside(const kernel *k, outside *o)
{
	box whole = kernel_space(k);
	if (no_points(k, &whole))
		return false;
	for (int i = 0; i < k->naccesses; i++) {
		const kaccess *acc = &k->accesses[i];
		box space = whole;
		if (acc->guarded)
			continue;
		if (acc->when && !index_narrow(acc->when, &space))
			continue;
		for (int d = 0; d < acc->ndim; d++) {
			int64_t size = k->inputs[acc->input].dims[d];
			const access_dim *x = &acc->dims[d];
			if (!dim_outside(x, &space, size, o) ||
			    !leaves(acc, x, size, &space))
				continue;
			o->read = acc->read;
			o->dim = d;
			return true;
		}
	}
	return false;
}

/* Reductions of which terms add nothing unless sums are multiples of numbers:
 *
 *	out[i] = Sum(r) if (i - r) % 2 == 0 and at[(i - r) / 2] == r
 *		then x[(i - r) / 2] else 0
 *
 * Gradients of pooling with strides, and of strided convolutions of single
 * channels, have this form.  For even i all odd r add nothing, and the reverse.
 * So each class of i becomes a kernel of its own with the terms of one class of
 * r.  It reads memory in order and has no such condition.
 *
 * In sums of products, a term that is left out is 0 times an element of the
 * other factor.  That is NaN if the element is infinite or NaN, so the
 * generated code tests for such elements. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* Each class is a function, called for parts of at least LEAST_POINTS points of
 * the result.  Sums of more than MOST_ALL_TERMS terms are added up in blocks;
 * leaving terms out would change the blocks. */
enum { MOST_CLASSES = 16, MOST_ALL_TERMS = 256, LEAST_POINTS = 2048 };

/* A condition: a * var + b * term + c is a multiple of `by'.  For one class of
 * var, the terms are `step' apart, or there are none. */
typedef struct multiple {
	int var, term; /* variables of the result and of the reduction */
	int64_t by, step, a, b, c;
} multiple;

typedef struct classes {
	arena *a;
	const kernel *k;
	nest nest; /* loops if variables are not divided */
	int n, count;
	multiple of[MAX_TURNS];
	const kexpr *rest;   /* other conditions; NULL: none */
	const kexpr *chosen; /* part of the body under all conditions */
	const kexpr *finite; /* a factor of that; NULL: none */
	int along;	     /* variable of its first index */
} classes;

/* ---- whether there are some -------------------------------------------- */

/* Whether no other condition has a variable of m. */
static bool is_new(const classes *x, const multiple *m)
{
	for (int i = 0; i < x->n; i++)
		if (x->of[i].var == m->var || x->of[i].term == m->term)
			return false;
	return true;
}

/* Finds the two variables of a sum.  Returns false if it does not have exactly
 * two. */
static bool find_variables(const nest *n, const linear *sum, multiple *m)
{
	m->var = m->term = -1;
	for (int l = 0; l < n->n; l++) {
		bool reduced = n->loops[l].reduced;
		int *to = reduced ? &m->term : &m->var;
		if (sum->coef[l] == 0)
			continue;
		if (*to >= 0)
			return false;
		*to = n->loops[l].var;
		*(reduced ? &m->b : &m->a) = sum->coef[l];
	}
	m->c = sum->c;
	return m->var >= 0 && m->term >= 0;
}

static bool add_multiple(classes *x, const kexpr *e)
{
	const kexpr *mod = e->args[0], *zero = e->args[1];
	multiple m;
	if (e->fn != FN_EQ || zero->kind != KX_INT || zero->i ||
	    mod->kind != KX_FN || mod->fn != FN_MOD || mod->type != DT_I64 ||
	    mod->args[1]->kind != KX_INT || x->n == MAX_TURNS)
		return false;
	linear sum = linear_of(&x->nest, mod->args[0]);
	m.by = mod->args[1]->i;
	if (!sum.affine || m.by < 2 || m.by > MOST_CLASSES / x->count ||
	    !find_variables(&x->nest, &sum, &m) || !is_new(x, &m))
		return false;
	m.step = m.by / common_divisor(m.by, m.b);
	x->of[x->n++] = m;
	x->count *= (int)m.by;
	return true;
}

static void add_conditions(classes *x, const kexpr *e)
{
	if (e->kind == KX_FN && e->fn == FN_AND && e->type == DT_BOOL) {
		add_conditions(x, e->args[0]);
		add_conditions(x, e->args[1]);
	} else if (e->kind != KX_FN || e->nargs != 2 || !add_multiple(x, e)) {
		kexpr *own = (kexpr *)e;
		x->rest = x->rest ? kx_fn2(x->a, FN_AND, (kexpr *)x->rest, own)
				  : own;
	}
}

/* Whether index d of a read is inside its input wherever the read is made. */
static bool is_inside(const nest *n, const kexpr *read, int d)
{
	int64_t lo, hi;
	linear x = linear_of(n, read->args[d]);
	return x.affine && linear_range(n, &x, &lo, &hi) && lo >= 0 &&
	       hi < n->k->inputs[read->input].dims[d];
}

/* The variable that is the first index of a read; -1 if it is something
 * else. */
static int first_of(const nest *n, const kexpr *read)
{
	linear x = linear_of(n, read->args[0]);
	int found = -1;
	for (int l = 0; l < n->n; l++) {
		if (x.coef[l] && (x.coef[l] != 1 || found >= 0))
			return -1;
		if (x.coef[l])
			found = n->loops[l].var;
	}
	return x.affine && !x.c ? found : -1;
}

/* Whether a factor can be tested along its first dimension for elements that
 * are not finite. */
static bool can_be_finite(classes *x, const kexpr *e)
{
	const kernel *k = x->k;
	dtype t = k->body->type;
	if ((t != DT_F32 && t != DT_F64) || e->kind != KX_READ ||
	    kx_ndim(e) == 0 || k->inputs[e->input].type != t)
		return false;
	for (int d = 0; d < kx_ndim(e); d++)
		if (!is_inside(&x->nest, e, d))
			return false;
	x->along = first_of(&x->nest, e);
	return x->along >= 0;
}

/* Finds the part of the body that is under the conditions, and without which
 * nothing is added. */
static bool find_chosen(classes *x)
{
	const kexpr *e = x->k->body;
	x->chosen = e;
	if (e->kind == KX_FN && e->fn == FN_MUL && x->k->reducer == RED_SUM) {
		int i = e->args[0]->kind != KX_SELECT;
		x->chosen = e->args[i];
		x->finite = e->args[!i];
		if (!can_be_finite(x, x->finite))
			return false;
	}
	e = x->chosen;
	return e->kind == KX_SELECT &&
	       (x->finite ? e->args[2]->kind == KX_FLOAT && e->args[2]->f == 0
			  : adds_nothing(x->k->reducer, e->args[2]));
}

static bool has_few_terms(const kernel *k)
{
	int64_t terms = 1;
	for (int v = k->nout; v < k->nvars && terms <= MOST_ALL_TERMS; v++)
		terms = k->vars[v].extent > MOST_ALL_TERMS
				? MOST_ALL_TERMS + 1
				: terms * k->vars[v].extent;
	return terms <= MOST_ALL_TERMS;
}

static bool find_classes(const emitter *g, classes *x)
{
	const kernel *k = g->k;
	if (g->s.kind != SCHEDULE_STRIP || g->epilogue || k->nderived ||
	    !has_few_terms(k))
		return false;
	*x = (classes){ .a = g->p.a, .k = k, .count = 1,
			.nest = nest_of(k, ~(uint32_t)0) };
	if (!find_chosen(x))
		return false;
	add_conditions(x, x->chosen->args[0]);
	return x->n > 0;
}

/* ---- the kernel of a class --------------------------------------------- */

/* The variables of a class: each is by * own + more, with the class's own
 * variable, and has n values. */
typedef struct part {
	int64_t by[MAX_NVARS], more[MAX_NVARS], extent[MAX_NVARS];
} part;

/* Sets the values of var that are `more' above a multiple, and the
 * corresponding values of term. */
static void add_part(const kernel *k, const multiple *m, int64_t more, part *p)
{
	int64_t n = k->vars[m->var].extent, nterms = k->vars[m->term].extent;
	int64_t a = floor_mod(m->a, m->by), b = floor_mod(m->b, m->by);
	int64_t rest = a * more + floor_mod(m->c, m->by), first = 0;
	while (first < m->step && (rest + b * first) % m->by)
		first++;
	p->by[m->var] = m->by;
	p->more[m->var] = more;
	p->extent[m->var] = n > more ? (n - more - 1) / m->by + 1 : 0;
	p->by[m->term] = m->step;
	p->more[m->term] = first;
	p->extent[m->term] = first < m->step && nterms > first
				     ? (nterms - first - 1) / m->step + 1
				     : 0;
}

static part part_of(const classes *x, int class)
{
	part p = { .by = { 0 } };
	for (int v = 0; v < x->k->nvars; v++) {
		p.by[v] = 1;
		p.extent[v] = x->k->vars[v].extent;
	}
	for (int i = 0; i < x->n; i++) {
		add_part(x->k, &x->of[i], class % x->of[i].by, &p);
		class /= (int)x->of[i].by;
	}
	return p;
}

/* e written in the variables of the class. */
static kexpr *rewrite(arena *a, const kexpr *e, const part *p)
{
	if (e->kind == KX_VAR && p->by[e->var] > 1) {
		kexpr *by = kx_int(a, p->by[e->var], DT_I64);
		kexpr *more = kx_int(a, p->more[e->var], DT_I64);
		kexpr *own = kx_fn2(a, FN_MUL, by, kx_var(a, e->var));
		return kx_fn2(a, FN_ADD, own, more);
	}
	kexpr *to = ARENA_COPY(a, e, 1);
	to->args = ARENA_ARRAY(a, kexpr *, e->nargs);
	for (int i = 0; i < e->nargs; i++)
		to->args[i] = rewrite(a, e->args[i], p);
	return to;
}

/* The body without the conditions that all classes have. */
static const kexpr *body_of(const classes *x)
{
	kexpr *e = x->chosen->args[1];
	const kexpr *body = x->k->body;
	if (x->rest)
		e = kx_select(x->a, (kexpr *)x->rest, e, x->chosen->args[2]);
	if (!x->finite)
		return e;
	bool first = body->args[0] == x->finite;
	return kx_fn2(x->a, FN_MUL, first ? (kexpr *)x->finite : e,
		      first ? e : (kexpr *)x->finite);
}

static const kernel *kernel_of(const classes *x, const part *p)
{
	kernel *k = ARENA_COPY(x->a, x->k, 1);
	k->vars = ARENA_COPY(x->a, k->vars, k->nvars);
	for (int v = 0; v < k->nvars; v++)
		k->vars[v].extent = p->extent[v];
	k->body = kx_simplify(x->a, rewrite(x->a, body_of(x), p), k->vars);
	return k;
}

/* ---- the text ---------------------------------------------------------- */

/* Emits a function that computes the elements of a class. */
static void emit_class(emitter *g, const classes *x, int class)
{
	const part p = part_of(x, class);
	emitter own = { .t = g->t, .k = kernel_of(x, &p) };
	own.head = arena_printf(x->a, "static int TDL_PART(class%d)", class);
	own.s = schedule_of_loops(own.k);
	printer_init(&own.p, x->a, &own.s.nest, false);
	memcpy(own.p.by, p.by, sizeof(own.p.by));
	memcpy(own.p.more, p.more, sizeof(own.p.more));
	own.p.numbers = g->p.numbers;
	emit_schedule(&own);
	g->t = own.t;
	g->p.numbers = own.p.numbers;
	SAY("%s", "");
}

/* The condition under which classes can be computed separately and cover all
 * that is asked for, in C. */
static const char *print_when(const classes *x)
{
	const kernel *k = x->k;
	const char *s = "true";
	for (int v = k->nout; v < k->nvars; v++)
		s = arena_printf(x->a, "%s && args->lo[%d] == 0 && "
				 "args->hi[%d] == %" PRId64, s, v, v,
				 k->vars[v].extent);
	if (!x->finite)
		return s;
	int v = x->along;
	return arena_printf(x->a, "%s && tdl_finite_%s(&args->in[%d], "
			    "args->lo[%d], args->hi[%d])", s,
			    type_suffix(x->finite->type), x->finite->input, v,
			    v);
}

/* The number of outer variables of the result that have one value in each call.
 * None of them is divided into classes, or follows one that is. */
static int count_around(const classes *x)
{
	int64_t points = 1;
	int n = x->k->nout;
	for (int i = 0; i < x->n; i++)
		n = x->of[i].var < n ? x->of[i].var : n;
	for (int v = x->k->nout - 1; v >= 0; v--) {
		if (v < n && points >= LEAST_POINTS)
			return v + 1;
		points *= x->k->vars[v].extent < LEAST_POINTS
				  ? x->k->vars[v].extent
				  : LEAST_POINTS;
		points = points < LEAST_POINTS ? points : LEAST_POINTS;
	}
	return 0;
}

/* Emits a call of a class's function for its elements. */
static void emit_part(emitter *g, const classes *x, int class)
{
	const part p = part_of(x, class);
	for (int i = 0; i < x->n; i++) {
		int v = x->of[i].var, term = x->of[i].term;
		SAY("part.lo[%d] = tdl_ceil_div(args->lo[%d] - %" PRId64
		    ", %" PRId64 ");", v, v, p.more[v], p.by[v]);
		SAY("part.hi[%d] = tdl_ceil_div(args->hi[%d] - %" PRId64
		    ", %" PRId64 ");", v, v, p.more[v], p.by[v]);
		SAY("part.hi[%d] = %" PRId64 ";", term, p.extent[term]);
	}
	SAY("TDL_PART(class%d)(&part);", class);
}

bool emit_by_class(emitter *g)
{
	classes x;
	if (!find_classes(g, &x))
		return false;
	g->head = "static int TDL_PART(every)";
	emit_schedule(g);
	SAY("%s", "");
	for (int i = 0; i < x.count; i++)
		emit_class(g, &x, i);
	OPEN("int TDL_KERNEL(tdl_args *args)");
	SAY("if (!(%s))", print_when(&x));
	SAY("\treturn TDL_PART(every)(args);");
	SAY("tdl_args part = *args;");
	int n = count_around(&x);
	for (int v = 0; v < n; v++) {
		OPEN("for (part.lo[%d] = args->lo[%d]; part.lo[%d] < "
		     "args->hi[%d]; part.lo[%d]++)", v, v, v, v, v);
		SAY("part.hi[%d] = part.lo[%d] + 1;", v, v);
	}
	for (int i = 0; i < x.count; i++)
		emit_part(g, &x, i);
	close_loops(g, n);
	SAY("args->fault = part.fault;");
	emit_end(g);
	return true;
}

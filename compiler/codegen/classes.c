/* Reductions of which terms add nothing unless sums are multiples of numbers,
 *
 *	out[i] = Sum(r) if (i - r) % 2 == 0 and at[(i - r) / 2] == r
 *		then x[(i - r) / 2] else 0
 *
 * as gradients of pooling, and of convolutions of single channels, in steps
 * are.  For even i all odd r add nothing, and the reverse: each class of i is a
 * kernel of its own, which has the terms of one class of r, reads memory in
 * order and has no such condition.
 *
 * Terms of products that are left out are 0 times an element of the other
 * factor, which is NaN if that is infinite or NaN; the generated code looks. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* Each class is a function, which is called for parts of the result of at least
 * LEAST_POINTS.  Sums of more terms are taken in blocks, which would be others
 * without those that add nothing. */
enum { MOST_CLASSES = 16, MOST_ALL_TERMS = 256, LEAST_POINTS = 2048 };

/* A condition: a * var + b * term + c is a multiple of `by'.  Terms of a class
 * of var are `step' apart, or there are none. */
typedef struct multiple {
	int var, term; /* variables, of the result and of the reduction */
	int64_t by, step, a, b, c;
} multiple;

typedef struct classes {
	arena *a;
	const kernel *k;
	nest nest; /* of undivided variables */
	int n, count;
	multiple of[MAX_TURNS];
	const kexpr *rest;   /* the other conditions; NULL for none */
	const kexpr *chosen; /* the part of the body under all of them */
	const kexpr *finite; /* a factor of that; NULL */
	int along;	     /* the variable of its first index */
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

/* The two variables of a sum, if it is one of two. */
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

/* Whether index d of a read is in its input wherever it is made. */
static bool is_inside(const nest *n, const kexpr *read, int d)
{
	int64_t lo, hi;
	linear x = linear_of(n, read->args[d]);
	return x.affine && linear_range(n, &x, &lo, &hi) && lo >= 0 &&
	       hi < n->k->inputs[read->input].dims[d];
}

/* The variable that the first index of a read is; -1 where it is another. */
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

/* A factor that can be looked at along its first dimension. */
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

/* The part of the body that is nothing without its conditions. */
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

/* Of a class: what each variable is there, by * its own + more, and how many
 * values it has. */
typedef struct part {
	int64_t by[MAX_NVARS], more[MAX_NVARS], extent[MAX_NVARS];
} part;

/* The values of var that are `more' above a multiple, and those of term that go
 * with them. */
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

/* e in the variables of the class. */
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

/* The body without the conditions of all classes. */
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

/* A function that computes the elements of a class. */
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

/* Whether classes are all that is asked for, and can be computed apart. */
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

/* The variables of the result that have one value in each call: none that is
 * in classes, or follows one. */
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

/* Calls the function of a class for its elements. */
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

#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>

#include "plan/plan.h"

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* ---- declarations ------------------------------------------------------ */

static uint32_t inputs_of(const kexpr *e)
{
	uint32_t s = e->kind == KX_READ ? (uint32_t)1 << e->input : 0;
	for (int i = 0; i < e->nargs; i++)
		s |= inputs_of(e->args[i]);
	return s;
}

static uint32_t vars_of(const kexpr *e)
{
	uint32_t s = e->kind == KX_VAR ? (uint32_t)1 << e->var : 0;
	for (int i = 0; i < e->nargs; i++)
		s |= vars_of(e->args[i]);
	return s;
}

static void emit_block(emitter *g, const char *name, const char *block,
		       int ndim)
{
	if (ndim > 0)
		SAY("const int64_t %s_at = tdl_start(&%s, %d);", name, block,
		    ndim);
	for (int d = 0; d < ndim - 1; d++)
		SAY("const int64_t %s_%d = %s.stride[%d];", name, d, block, d);
}

/* Of pointers to where the result may lie, none is `restrict`. */
static const char *if_apart(bool in_place)
{
	return in_place ? "" : "restrict ";
}

/* An epilogue's result may lie where one of its own inputs lies. */
static bool may_be_in_place(const emitter *g)
{
	return g->epilogue || any_in_place(g->k);
}

void emit_inputs(emitter *g, const kexpr *e)
{
	uint32_t used = inputs_of(e);
	for (int i = 0; i < g->k->ninputs; i++) {
		const char *block = arena_printf(g->p.a, "args->in[%d]", i);
		const kinput *in = &g->k->inputs[i];
		if (!(used >> i & 1) || (g->own && g->own->input == i))
			continue;
		SAY("const %s *%s%s = %s.data;", type_of_element(in->type),
		    if_apart(g->epilogue || kernel_in_place(g->k, i)),
		    g->p.input[i], block);
		emit_block(g, g->p.input[i], block, in->ndim);
	}
}

void emit_result(emitter *g)
{
	SAY("%s *%s%s = args->out.data;", type_of_element(g->k->type),
	    if_apart(may_be_in_place(g)), g->p.out);
	emit_block(g, g->p.out, "args->out", g->k->nout);
}

uint32_t position_var(const kernel *k)
{
	bool arg = reducer_is_where(k->reducer);
	return arg ? (uint32_t)1 << k->nout : 0;
}

void emit_constants(emitter *g, const kexpr *e)
{
	uint32_t used = vars_of(e) | position_var(g->k);
	for (int v = 0; v < g->k->nvars; v++)
		if (used >> v & 1 && g->p.nest.first[v] < 0)
			SAY("const int64_t %s = 0;", g->p.var[v]);
}

void emit_bounds(emitter *g, int l)
{
	const loop *p = &g->p.nest.loops[l];
	const char *whole;
	switch (p->part) {
	case LOOP_WHOLE:
		SAY("int64_t %s_lo = args->lo[%d], %s_hi = args->hi[%d];",
		    p->name, p->var, p->name, p->var);
		break;
	case LOOP_QUOTIENT:
		SAY("int64_t %s_lo = args->lo[%d] / %" PRId64 ";", p->name,
		    p->var, p->divisor);
		SAY("int64_t %s_hi = tdl_ceil_div(args->hi[%d], %" PRId64 ");",
		    p->name, p->var, p->divisor);
		break;
	case LOOP_REMAINDER:
		whole = arena_printf(g->p.a, "%" PRId64 " * %s", p->divisor,
				     p[-1].name);
		SAY("int64_t %s_lo = tdl_max(0, args->lo[%d] - %s);", p->name,
		    p->var, whole);
		SAY("int64_t %s_hi = tdl_min(%" PRId64 ", args->hi[%d] - %s);",
		    p->name, p->divisor, p->var, whole);
		break;
	case LOOP_TURN:
		whole = g->p.var[p->var];
		SAY("int64_t %s_lo = tdl_ceil_div(args->lo[%d] - %s_r, %s_n);",
		    p->name, p->var, whole, whole);
		SAY("int64_t %s_hi = tdl_ceil_div(args->hi[%d] - %s_r, %s_n);",
		    p->name, p->var, whole, whole);
		break;
	}
}

void emit_whole(emitter *g, int l)
{
	const loop *p = &g->p.nest.loops[l];
	if (p->part == LOOP_REMAINDER)
		SAY("const int64_t %s = %" PRId64 " * %s + %s;",
		    g->p.var[p->var], p->divisor, p[-1].name, p->name);
	if (p->part == LOOP_TURN)
		SAY("const int64_t %s = %s_n * %s + %s_r;", g->p.var[p->var],
		    g->p.var[p->var], p->name, g->p.var[p->var]);
}

/* ---- loops ------------------------------------------------------------- */

int open_loops(emitter *g, loop_set s)
{
	int n = 0;
	for (int l = 0; l < g->p.nest.n; l++) {
		const char *name = loop_name(g, l);
		if (!(s & loop_bit(l)))
			continue;
		if (g->p.nest.loops[l].part == LOOP_REMAINDER)
			emit_bounds(g, l);
		OPEN("for (int64_t %s = %s_lo; %s < %s_hi; %s++)", name, name,
		     name, name, name);
		emit_whole(g, l);
		n++;
	}
	return n;
}

void close_loops(emitter *g, int n)
{
	while (n--)
		CLOSE();
}

/* ---- runs -------------------------------------------------------------- */

/* Gives names to data-dependent indices of e that are computed at every point
 * and do not depend on loop l. */
static void name_indices(emitter *g, int l, const kexpr *e)
{
	int last = e->kind == KX_SELECT ? 1 : e->nargs;
	if (e->kind == KX_READ)
		last = kx_ndim(e);
	for (int i = 0; i < last; i++)
		name_indices(g, l, e->args[i]);
	for (int d = 0; e->kind == KX_READ && d < kx_ndim(e); d++) {
		if (!is_data_index(e, d) ||
		    (l >= 0 && loops_of(&g->p.nest, e->args[d]) & loop_bit(l)))
			continue;
		const char *value = print_data_index(&g->p, e, d);
		const char *name =
			arena_printf(g->p.a, "index%d", g->p.nnames++);
		SAY("const int64_t %s = %s;", name, value);
		vec_push(g->p.a, &g->p.named, ((named){e->args[d], name}));
	}
}

static bool same_guard(const emitter *g, const kexpr *x, const kexpr *y)
{
	if (kx_ndim(x) != kx_ndim(y))
		return false;
	for (int d = 0; d < kx_ndim(x); d++)
		if (g->k->inputs[x->input].dims[d] !=
			    g->k->inputs[y->input].dims[d] ||
		    !kx_equal(x->args[d], y->args[d]))
			return false;
	return true;
}

/* Counts the different guards of e, up to two; *first is one of them. */
static int count_guards(const emitter *g, const kexpr *e, const kexpr **first)
{
	int n = 0;
	if (is_affine_guard(&g->p, e)) {
		bool checked = false;
		for (int d = 0; d < kx_ndim(e); d++)
			checked |= needs_check(&g->p, e, d);
		if (checked && !*first) {
			*first = e;
			n = 1;
		} else if (checked && !same_guard(g, *first, e)) {
			return 2;
		}
	}
	for (int i = 0; i < e->nargs; i++)
		n += count_guards(g, e->args[i], first);
	return n;
}

/* If the result lies in the place of an input, an element is read only to be
 * written: no iteration depends on another, which the compiler cannot see.
 * Elements that share a byte depend on each other. */
static void emit_independence(emitter *g)
{
	if (may_be_in_place(g) && dtype_bits(g->k->type) >= 8)
		SAY("#pragma GCC ivdep");
}

static void emit_part(emitter *g, int l, const char *from, const char *to,
		      guard_state guard, statement *st, const void *arg)
{
	const char *name = l < 0 ? "" : loop_name(g, l);
	guard_state before = g->p.guard;
	g->p.guard = guard;
	if (l >= 0) {
		emit_independence(g);
		OPEN("for (int64_t %s = %s; %s < %s; %s++)", name, from, name,
		     to, name);
		emit_whole(g, l);
	}
	st(g, arg);
	if (l >= 0)
		CLOSE();
	g->p.guard = before;
}

/* Narrows [in, end) to where index d of a read is inside its input: with the
 * index c * l + rest, 0 <= c * l + rest < n. */
static void emit_narrow(emitter *g, int l, const kexpr *read, int d)
{
	linear x = linear_of(&g->p.nest, read->args[d]);
	const char *rest = print_linear(&g->p, &x, l);
	int64_t c = x.coef[l], n = g->k->inputs[read->input].dims[d];
	if (c == 1) {
		SAY("in = tdl_max(in, -(%s));", rest);
		SAY("end = tdl_min(end, %" PRId64 " - (%s));", n, rest);
	} else if (c > 0) {
		SAY("in = tdl_max(in, tdl_ceil_div(-(%s), %" PRId64 "));", rest,
		    c);
		SAY("end = tdl_min(end, tdl_ceil_div(%" PRId64
		    " - (%s), %" PRId64 "));",
		    n, rest, c);
	} else {
		SAY("in = tdl_max(in, tdl_ceil_div(%s - %" PRId64 ", %" PRId64
		    "));",
		    rest, n - 1, -c);
		SAY("end = tdl_min(end, tdl_div(%s, %" PRId64 ") + 1);", rest,
		    -c);
	}
}

/* A run in three parts: before, inside and behind where the guard holds. */
static void emit_guarded_run(emitter *g, int l, const char *from,
			     const char *to, const kexpr *read, statement *st,
			     const void *arg)
{
	const char *always = print_inside(&g->p, read, l);
	text_block(&g->t);
	SAY("int64_t in = %s, end = %s;", from, to);
	for (int d = 0; d < kx_ndim(read); d++)
		if (needs_check(&g->p, read, d) &&
		    loops_of(&g->p.nest, read->args[d]) & loop_bit(l))
			emit_narrow(g, l, read, d);
	if (always)
		SAY("end = %s ? end : in;", always);
	SAY("in = tdl_clamp(in, %s, %s);", from, to);
	SAY("end = tdl_clamp(end, in, %s);", to);
	emit_part(g, l, from, "in", GUARD_OUTSIDE, st, arg);
	emit_part(g, l, "in", "end", GUARD_INSIDE, st, arg);
	emit_part(g, l, "end", to, GUARD_OUTSIDE, st, arg);
	CLOSE();
}

static bool guard_runs_along(emitter *g, const kexpr *read, int l)
{
	for (int d = 0; l >= 0 && d < kx_ndim(read); d++)
		if (needs_check(&g->p, read, d) &&
		    loops_of(&g->p.nest, read->args[d]) & loop_bit(l))
			return true;
	return false;
}

void emit_run(emitter *g, int l, const char *from, const char *to,
	      const kexpr *e, statement *st, const void *arg)
{
	const kexpr *read = NULL;
	int known = g->p.named.n;
	name_indices(g, l, e);
	if (count_guards(g, e, &read) != 1) {
		emit_part(g, l, from, to, GUARD_CHECK, st, arg);
	} else if (guard_runs_along(g, read, l)) {
		emit_guarded_run(g, l, from, to, read, st, arg);
	} else {
		OPEN("if (%s)", print_inside(&g->p, read, -1));
		emit_part(g, l, from, to, GUARD_INSIDE, st, arg);
		CLOSE();
		OPEN("else");
		emit_part(g, l, from, to, GUARD_OUTSIDE, st, arg);
		CLOSE();
	}
	g->p.named.n = known;
}

void emit_whole_run(emitter *g, int l, const char *from, const char *n,
		    const kexpr *e, statement *st, const void *arg)
{
	int known = g->p.named.n;
	name_indices(g, l, e);
	emit_independence(g);
	SAY("TDL_ROLL");
	OPEN("for (int64_t lane = 0; lane < %s; lane++)", n);
	SAY("const int64_t %s = %s + lane;", loop_name(g, l), from);
	emit_whole(g, l);
	st(g, arg);
	CLOSE();
	g->p.named.n = known;
}

/* ---- the function ------------------------------------------------------ */

const char *print_some(emitter *g)
{
	const char *s = NULL;
	for (int v = g->k->nout; v < g->k->nvars; v++) {
		if (g->k->vars[v].kind != KVAR_REDUCE ||
		    g->p.nest.first[v] >= 0)
			continue;
		const char *one =
			arena_printf(g->p.a, "%s < %s",
				     print_bound(&g->p, v, false),
				     print_bound(&g->p, v, true));
		s = s ? arena_printf(g->p.a, "%s && %s", s, one) : one;
	}
	return s;
}

void emit_begin(emitter *g)
{
	OPEN("%s(tdl_args *args)", g->head ? g->head : "int TDL_KERNEL");
	emit_empty(g);
}

void emit_empty(emitter *g)
{
	if (g->k->nout) {
		OPEN("for (int v = 0; v < %d; v++)", g->k->nout);
		SAY("if (args->lo[v] >= args->hi[v])");
		SAY("\treturn 0;");
		CLOSE();
	}
}

void emit_end(emitter *g)
{
	SAY("return args->fault.found ? TDL_INDEX_OUTSIDE : 0;");
	CLOSE();
}

/* ---- what schedules have in common -------------------------------------- */

loop_set loops_that(const emitter *g, bool reduce)
{
	loop_set s = 0;
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].reduced == reduce)
			s |= loop_bit(l);
	return s;
}

loop_set set_without(loop_set s, int l)
{
	return l < 0 ? s : s & ~loop_bit(l);
}

void emit_bounds_of(emitter *g, loop_set s)
{
	for (int l = 0; l < g->p.nest.n; l++)
		if (s & loop_bit(l))
			emit_bounds(g, l);
}

static void emit_all_bounds(emitter *g)
{
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].part != LOOP_REMAINDER)
			emit_bounds(g, l);
}

const kexpr *all_reads(emitter *g)
{
	kexpr *both[] = { g->k->body, (kexpr *)g->epilogue };
	return g->epilogue ? kx_fn2(g->p.a, FN_MUL, both[0], both[1])
			   : g->k->body;
}

void emit_head(emitter *g)
{
	const kexpr *e = all_reads(g);
	emit_begin(g);
	emit_inputs(g, e);
	emit_result(g);
	emit_constants(g, e);
	emit_all_bounds(g);
}

void emit_inner_bounds(emitter *g)
{
	if (g->s.inner >= 0 &&
	    g->p.nest.loops[g->s.inner].part == LOOP_REMAINDER)
		emit_bounds(g, g->s.inner);
}

const char *inner_bound(emitter *g, const char *which)
{
	if (g->s.inner < 0)
		return "";
	return arena_printf(g->p.a, "%s_%s", loop_name(g, g->s.inner), which);
}

void open_stretches(emitter *g, int l, const char *length)
{
	const char *x = loop_name(g, l);
	OPEN("for (int64_t %s_0 = %s_lo, %s_1; %s_0 < %s_hi; %s_0 = %s_1)", x,
	     x, x, x, x, x, x);
	SAY("%s_1 = tdl_min(%s_hi, %s_0 + %s);", x, x, x, length);
}

const char *stretch(emitter *g, int l, int which)
{
	return arena_printf(g->p.a, "%s_%d", loop_name(g, l), which);
}

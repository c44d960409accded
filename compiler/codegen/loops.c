/* The schedules that are plain nests of loops. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* The loops over the result, or those that reduce. */
static loop_set loops_that(const emitter *g, bool reduce)
{
	loop_set s = 0;
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].reduced == reduce)
			s |= loop_bit(l);
	return s;
}

static loop_set without(loop_set s, int l)
{
	return l < 0 ? s : s & ~loop_bit(l);
}

static void emit_all_bounds(emitter *g)
{
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].part != LOOP_REMAINDER)
			emit_bounds(g, l);
}

/* What all of these functions begin with. */
static void emit_head(emitter *g)
{
	emit_begin(g);
	emit_inputs(g, g->k->body);
	emit_result(g);
	emit_constants(g, g->k->body);
	emit_all_bounds(g);
}

/* The bounds of the innermost loop where it is a remainder. */
static void emit_inner_bounds(emitter *g)
{
	if (g->s.inner >= 0 &&
	    g->p.nest.loops[g->s.inner].part == LOOP_REMAINDER)
		emit_bounds(g, g->s.inner);
}

static const char *inner_bound(emitter *g, const char *which)
{
	if (g->s.inner < 0)
		return "";
	return arena_printf(g->p.a, "%s_%s", loop_name(g, g->s.inner), which);
}

/* ---- nothing is reduced ------------------------------------------------ */

static void store_body(emitter *g, const void *arg)
{
	const kexpr *e = g->k->body;
	(void)arg;
	SAY("%s = %s;", print_result(&g->p),
	    print_element(&g->p, print_expr(&g->p, e), e->type, g->k->type));
}

/* Opens a loop over the stretches [<loop>_0, <loop>_1) of a loop. */
static void open_stretches(emitter *g, int l, const char *length)
{
	const char *x = loop_name(g, l);
	OPEN("for (int64_t %s_0 = %s_lo, %s_1; %s_0 < %s_hi; %s_0 = %s_1)", x,
	     x, x, x, x, x, x);
	SAY("%s_1 = tdl_min(%s_hi, %s_0 + %s);", x, x, x, length);
}

static const char *stretch(emitter *g, int l, int which)
{
	return arena_printf(g->p.a, "%s_%d", loop_name(g, l), which);
}

/* Two loops in squares, so that what a cache line holds is used while it is
 * there, whichever of the two it lies along. */
static void emit_squares(emitter *g, loop_set all)
{
	int across = g->s.across, inner = g->s.inner;
	const char *x = loop_name(g, across);
	emit_merge(g, all & (loop_bit(across + 1) - 1), g->k->body, true);
	int n = open_loops(g, without(without(all, inner), across));
	open_stretches(g, across, "TDL_SQUARE");
	open_stretches(g, inner, "TDL_SQUARE");
	OPEN("for (int64_t %s = %s_0; %s < %s_1; %s++)", x, x, x, x, x);
	emit_run(g, inner, stretch(g, inner, 0), stretch(g, inner, 1),
		 g->k->body, store_body, NULL);
	close_loops(g, n + 3);
}

static void emit_rows(emitter *g, loop_set all)
{
	emit_merge(g, all, g->k->body, true);
	int n = open_loops(g, without(all, g->s.inner));
	emit_inner_bounds(g);
	emit_run(g, g->s.inner, inner_bound(g, "lo"), inner_bound(g, "hi"),
		 g->k->body, store_body, NULL);
	close_loops(g, n);
}

void emit_map(emitter *g)
{
	loop_set all = loops_that(g, false);
	emit_head(g);
	if (g->s.across >= 0)
		emit_squares(g, all);
	else
		emit_rows(g, all);
	emit_end(g);
}

/* ---- accumulators ------------------------------------------------------ */

/* The type that a reduction is kept in. */
static dtype accumulator_of(const kernel *k)
{
	dtype t = k->body->type;
	switch (k->reducer) {
	case RED_SUM:
	case RED_PROD:
		return t == DT_BOOL ? DT_I64 : dtype_accumulator(t);
	case RED_AND:
	case RED_OR:
		return DT_BOOL;
	default:
		return t;
	}
}

static const char *print_identity(emitter *g)
{
	dtype t = g->k->body->type;
	switch (g->k->reducer) {
	case RED_PROD:
	case RED_AND:
		return "1";
	case RED_MAX:
	case RED_ARGMAX:
		return print_limit(&g->p, t, false);
	case RED_MIN:
	case RED_ARGMIN:
		return print_limit(&g->p, t, true);
	default:
		return "0";
	}
}

/* Adds the term at hand to the accumulator `to`. */
static void add_term(emitter *g, const void *arg)
{
	const char *to = arg;
	const kexpr *e = g->k->body;
	bool is_float = dtype_is_float(e->type), max = g->k->reducer == RED_MAX;
	switch (g->k->reducer) {
	case RED_SUM:
		if (is_float && e->kind == KX_FN && e->fn == FN_MUL)
			SAY("%s = tdl_fma_%s(%s, %s, %s);", to,
			    type_suffix(e->type), print_expr(&g->p, e->args[0]),
			    print_expr(&g->p, e->args[1]), to);
		else
			SAY("%s += %s;", to, print_expr(&g->p, e));
		break;
	case RED_PROD:
		SAY("%s *= %s;", to, print_operand(&g->p, e));
		break;
	case RED_MAX:
	case RED_MIN:
		if (is_float) {
			SAY("%s = tdl_%s_%s(%s, %s);", to, max ? "max" : "min",
			    type_suffix(e->type), to, print_expr(&g->p, e));
			break;
		}
		SAY("const %s term = %s;", type_of_value(e->type),
		    print_expr(&g->p, e));
		SAY("%s = term %c %s ? term : %s;", to, max ? '>' : '<', to,
		    to);
		break;
	case RED_AND:
		SAY("%s = %s && %s;", to, to, print_operand(&g->p, e));
		break;
	default:
		SAY("%s = %s || %s;", to, to, print_operand(&g->p, e));
		break;
	}
}

static void store_sum(emitter *g, const char *sum)
{
	SAY("%s = %s;", print_result(&g->p),
	    print_element(&g->p, sum, accumulator_of(g->k), g->k->type));
}

/* Opens "if" around the reduction where it may be empty for a variable that
 * has no loop; returns whether it did. */
static bool open_some(emitter *g)
{
	const char *some = print_some(g);
	if (some)
		OPEN("if (%s)", some);
	return some != NULL;
}

/* ---- a strip of accumulators ------------------------------------------- */

/* The loops that reduce, around a run from the strip's first element to `to`,
 * a C expression. */
static void reduce_strip(emitter *g, const char *sum, const char *to)
{
	bool some = open_some(g);
	int n = open_loops(g, loops_that(g, true));
	emit_run(g, g->s.inner, stretch(g, g->s.inner, 0), to, g->k->body,
		 add_term, sum);
	close_loops(g, n + some);
}

/* A short strip that is whole has a length that the compiler knows, and is
 * kept in registers. */
static void reduce_narrow_strip(emitter *g, const char *sum)
{
	const char *x = loop_name(g, g->s.inner);
	OPEN("if (%s_1 - %s_0 == TDL_NARROW)", x, x);
	reduce_strip(g, sum, arena_printf(g->p.a, "%s_0 + TDL_NARROW", x));
	CLOSE();
	OPEN("else");
	reduce_strip(g, sum, stretch(g, g->s.inner, 1));
	CLOSE();
}

void emit_strip(emitter *g)
{
	const char *length = g->s.narrow ? "TDL_NARROW" : "TDL_STRIP";
	const char *j = loop_name(g, g->s.inner);
	const char *sum = arena_printf(g->p.a, "sum[%s - %s_0]", j, j);
	loop_set out = loops_that(g, false);
	emit_head(g);
	emit_merge(g, out, g->k->body, true);
	int n = open_loops(g, without(out, g->s.inner));
	emit_inner_bounds(g);
	open_stretches(g, g->s.inner, length);
	SAY("%s sum[%s];", type_of_value(accumulator_of(g->k)), length);
	SAY("for (int64_t i = 0; i < %s_1 - %s_0; i++)", j, j);
	SAY("\tsum[i] = %s;", print_identity(g));
	if (g->s.narrow)
		reduce_narrow_strip(g, sum);
	else
		reduce_strip(g, sum, stretch(g, g->s.inner, 1));
	OPEN("for (int64_t %s = %s_0; %s < %s_1; %s++)", j, j, j, j, j);
	emit_whole(g, g->s.inner);
	store_sum(g, sum);
	close_loops(g, n + 2);
	emit_end(g);
}

/* ---- one accumulator --------------------------------------------------- */

/* Keeps the better of the best and the term at hand, and where it was. */
static void keep_best(emitter *g, const void *arg)
{
	const kexpr *e = g->k->body;
	const char *op = g->k->reducer == RED_ARGMAX ? ">" : "<";
	(void)arg;
	SAY("const %s term = %s;", type_of_value(e->type),
	    print_expr(&g->p, e));
	if (dtype_is_float(e->type))
		OPEN("if (where < 0 || term %s best || (term != term && best "
		     "== best))",
		     op);
	else
		OPEN("if (where < 0 || term %s best)", op);
	SAY("best = term;");
	SAY("where = %s;", g->p.var[g->k->nout]);
	CLOSE();
}

void emit_single(emitter *g)
{
	const kernel *k = g->k;
	bool arg = k->reducer == RED_ARGMAX || k->reducer == RED_ARGMIN;
	loop_set out = loops_that(g, false), reduce = loops_that(g, true);
	emit_head(g);
	int n = open_loops(g, out);
	SAY("%s %s = %s;", type_of_value(accumulator_of(k)),
	    arg ? "best" : "sum", print_identity(g));
	if (arg)
		SAY("int64_t where = -1;");
	bool some = open_some(g);
	int m = open_loops(g, without(reduce, g->s.inner));
	emit_inner_bounds(g);
	emit_run(g, g->s.inner, inner_bound(g, "lo"), inner_bound(g, "hi"),
		 k->body, arg ? keep_best : add_term, "sum");
	close_loops(g, m + some);
	if (arg)
		SAY("%s = %s;", print_result(&g->p),
		    print_element(&g->p, "tdl_max(where, 0)", DT_I64, k->type));
	else
		store_sum(g, "sum");
	close_loops(g, n);
	emit_end(g);
}

/* The schedules for reductions. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>
#include <string.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* Values of TDL_TERMS and TDL_LANES. */
enum { TERMS_OF_A_BLOCK = 256, LANES = 32 };

/* ---- accumulators ------------------------------------------------------ */

dtype accumulator_of(const kernel *k)
{
	dtype t = k->body->type;
	if (reducer_is_logic(k->reducer))
		return DT_BOOL;
	if (k->reducer == RED_NONE ||
	    reducer_table[k->reducer].choice != FN_NO_CHOICE)
		return t;
	return t == DT_BOOL ? DT_I64 : dtype_accumulator(t);
}

const char *print_identity(emitter *g)
{
	dtype t = g->k->body->type;
	switch (reducer_table[g->k->reducer].neutral) {
	case NEUTRAL_ONE:
		return "1";
	case NEUTRAL_LEAST:
		return print_limit(&g->p, t, false);
	case NEUTRAL_GREATEST:
		return print_limit(&g->p, t, true);
	case NEUTRAL_ZERO:
		break;
	}
	return "0";
}

/* Updates `to', the greatest or least so far, with the term. */
static void emit_chosen(emitter *g, const reducer_facts *by, const char *to)
{
	const kexpr *e = g->s.term;
	if (dtype_is_float(e->type)) {
		SAY("%s = tdl_%s_%s(%s, %s);", to, fn_name(by->combine),
		    type_suffix(e->type), to, print_expr(&g->p, e));
		return;
	}
	SAY("const %s term = %s;", type_of_value(e->type),
	    print_expr(&g->p, e));
	SAY("%s = term %s %s ? term : %s;", to, by->c, to, to);
}

void emit_term(emitter *g, const void *arg)
{
	const char *to = arg;
	const kexpr *e = g->s.term;
	const reducer_facts *by = &reducer_table[g->k->reducer];
	if (reducer_is_logic(g->k->reducer))
		SAY("%s = %s %s %s;", to, to, by->c, print_operand(&g->p, e));
	else if (by->choice != FN_NO_CHOICE)
		emit_chosen(g, by, to);
	else if (by->combine != FN_ADD)
		SAY("%s %s= %s;", to, by->c, print_operand(&g->p, e));
	else if (dtype_is_float(e->type) && e->kind == KX_FN &&
		 e->fn == FN_MUL)
		SAY("%s = tdl_fma_%s(%s, %s, %s);", to, type_suffix(e->type),
		    print_expr(&g->p, e->args[0]),
		    print_expr(&g->p, e->args[1]), to);
	else
		SAY("%s %s= %s;", to, by->c, print_expr(&g->p, e));
}

void emit_sum(emitter *g, const char *sum)
{
	SAY("%s = %s;", print_result(&g->p),
	    print_reduced(g, sum, accumulator_of(g->k)));
}

/* ---- long sums --------------------------------------------------------- */

/* Whether sums are added up in blocks of TDL_TERMS.  There are several adjacent
 * accumulators, each with every n-th term.  Each is added to one of f64 from
 * time to time, so that rounding errors do not grow with the number of
 * terms. */
static bool has_blocks(const emitter *g, int64_t n)
{
	int64_t terms = 1, most = TERMS_OF_A_BLOCK * n;
	const nest *x = &g->s.nest;
	if (g->k->reducer != RED_SUM || accumulator_of(g->k) != DT_F32)
		return false;
	for (int l = 0; l < x->n; l++)
		if (x->loops[l].reduced && terms <= most)
			terms *= x->loops[l].extent < most + 1 ?
					 x->loops[l].extent : most + 1;
	return terms > most;
}

/* Declares `n' accumulators, in C. */
static void begin_blocks(emitter *g, const char *n)
{
	SAY("double total[%s] = {0};", n);
	SAY("int terms = 0;");
}

static void flush(emitter *g, const char *sums, const char *n)
{
	OPEN("for (int64_t i = 0; i < %s; i++)", n);
	SAY("total[i] += %s[i];", sums);
	SAY("%s[i] = 0;", sums);
	CLOSE();
}

/* Counts one more term in each accumulator. */
static void count_terms(emitter *g, const char *sums, const char *n)
{
	OPEN("if (++terms == TDL_TERMS)");
	SAY("terms = 0;");
	flush(g, sums, n);
	CLOSE();
}

bool open_some(emitter *g)
{
	const char *some = print_some(g);
	if (some)
		OPEN("if (%s)", some);
	return some != NULL;
}

/* ---- a strip of accumulators ------------------------------------------- */

/* Emits the reducing loops around a run from the strip's first element to `to',
 * a C expression. */
static void reduce_strip(emitter *g, const char *sum, const char *to)
{
	const char *from = stretch(g, g->s.inner, 0);
	bool some = open_some(g);
	int n = open_loops(g, loops_that(g, true));
	emit_run(g, g->s.inner, from, to, g->k->body, emit_term, sum);
	if (has_blocks(g, 1))
		count_terms(g, "sum", arena_printf(g->p.a, "%s - %s", to,
						   from));
	close_loops(g, n + some);
}

/* Emits a short strip.  A complete one has a length known to the compiler, and
 * stays in registers. */
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
	const char *sum_of_all = sum;
	loop_set out = loops_that(g, false);
	emit_head(g);
	emit_window(g);
	emit_merge(g, out, all_reads(g), true);
	int n = open_loops(g, set_without(out, g->s.inner));
	emit_inner_bounds(g);
	open_stretches(g, g->s.inner, length);
	SAY("%s sum[%s];", type_of_value(accumulator_of(g->k)), length);
	SAY("for (int64_t i = 0; i < %s_1 - %s_0; i++)", j, j);
	SAY("\tsum[i] = %s;", print_identity(g));
	if (has_blocks(g, 1)) {
		begin_blocks(g, length);
		sum_of_all = arena_printf(g->p.a,
					  "(float)(total[%s - %s_0] + %s)", j,
					  j, sum);
	}
	if (g->s.narrow)
		reduce_narrow_strip(g, sum);
	else
		reduce_strip(g, sum, stretch(g, g->s.inner, 1));
	OPEN("for (int64_t %s = %s_0; %s < %s_1; %s++)", j, j, j, j, j);
	emit_whole(g, g->s.inner);
	emit_sum(g, sum_of_all);
	close_loops(g, n + 2);
	emit_end(g);
}

/* ---- one accumulator --------------------------------------------------- */

void emit_best(emitter *g, const void *arg)
{
	const kexpr *e = g->k->body;
	const char *op = reducer_table[g->k->reducer].c;
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

/* Combines two accumulators. */
static void combine(emitter *g, const char *x, const char *y)
{
	dtype t = accumulator_of(g->k);
	const reducer_facts *by = &reducer_table[g->k->reducer];
	if (by->choice == FN_NO_CHOICE)
		SAY("%s %s= %s;", x, by->c, y);
	else if (dtype_is_float(t))
		SAY("%s = tdl_%s_%s(%s, %s);", x, fn_name(by->combine),
		    type_suffix(t), x, y);
	else
		SAY("%s = %s %s %s ? %s : %s;", x, y, by->c, x, y, x);
}

/* Whether e is an element of a tensor of the accumulators' type, at an index
 * that needs no check and moves by one with the innermost loop. */
static bool lies_along(const emitter *g, const kexpr *e)
{
	int inner = g->s.inner;
	if (e->kind != KX_READ ||
	    g->k->inputs[e->input].type != accumulator_of(g->k) ||
	    g->s.nest.loops[inner].part != LOOP_WHOLE)
		return false;
	for (int d = 0; d < kx_ndim(e); d++) {
		linear x = linear_of(&g->s.nest, e->args[d]);
		if (!x.affine || needs_check(&g->p, e, d) ||
		    x.coef[inner] != (d == kx_ndim(e) - 1))
			return false;
	}
	return true;
}

/* Whether the terms are such elements or products of two of them. */
static bool has_plain_terms(const emitter *g)
{
	const kexpr *e = g->k->body;
	dtype t = accumulator_of(g->k);
	if (g->k->reducer != RED_SUM || (t != DT_F32 && t != DT_F64))
		return false;
	if (e->kind == KX_FN && e->fn == FN_MUL)
		return lies_along(g, e->args[0]) && lies_along(g, e->args[1]);
	return lies_along(g, e);
}

/* Emits complete stretches whose terms are plain. */
static void reduce_plain_terms(emitter *g, bool blocks)
{
	const kexpr *e = g->k->body;
	const char *j = loop_name(g, g->s.inner), *y = "NULL";
	const char *from = stretch(g, g->s.inner, 0);
	SAY("const int64_t %s = %s, left = (%s_hi - %s) / TDL_LANES;", j, from,
	    j, from);
	SAY("const int64_t run = %s;",
	    blocks ? "tdl_min(left, TDL_TERMS - terms)" : "left");
	if (e->kind == KX_FN) {
		y = arena_printf(g->p.a, "&%s", print_expr(&g->p, e->args[1]));
		e = e->args[0];
	}
	SAY("tdl_add_terms_%s(run, &%s, %s, lane);",
	    type_suffix(accumulator_of(g->k)), print_expr(&g->p, e), y);
	SAY("%s = %s + run * TDL_LANES;", stretch(g, g->s.inner, 1), from);
	if (blocks)
		SAY("terms += run;");
}

/* Emits a complete stretch, or several. */
static void reduce_stretch(emitter *g, bool blocks)
{
	const char *j = loop_name(g, g->s.inner);
	const char *from = stretch(g, g->s.inner, 0);
	if (has_plain_terms(g)) {
		reduce_plain_terms(g, blocks);
		return;
	}
	emit_run(g, g->s.inner, from,
		 arena_printf(g->p.a, "%s + TDL_LANES", from), g->k->body,
		 emit_term, arena_printf(g->p.a, "lane[%s - %s]", j, from));
	if (blocks)
		SAY("terms++;");
}

/* Emits the reducing loops.  `first' is the accumulator of the next term:
 * stretches that begin at the first one, and have a term for each, are of a
 * length known to the compiler. */
static void reduce_lanes(emitter *g, bool blocks)
{
	const char *j = loop_name(g, g->s.inner);
	const char *from = stretch(g, g->s.inner, 0);
	const char *to = stretch(g, g->s.inner, 1);
	bool some = open_some(g);
	int n = open_loops(g, set_without(loops_that(g, true), g->s.inner));
	emit_inner_bounds(g);
	open_stretches(g, g->s.inner, "TDL_LANES - first");
	OPEN("if (%s - %s == TDL_LANES)", to, from);
	reduce_stretch(g, blocks);
	CLOSE();
	OPEN("else");
	emit_run(g, g->s.inner, from, to, g->k->body, emit_term,
		 arena_printf(g->p.a, "lane[first + %s - %s]", j, from));
	SAY("first = (first + %s - %s) %% TDL_LANES;", to, from);
	if (blocks)
		SAY("terms += !first;");
	CLOSE();
	if (blocks) {
		OPEN("if (terms == TDL_TERMS)");
		SAY("terms = 0;");
		flush(g, "lane", "TDL_LANES");
		CLOSE();
	}
	close_loops(g, n + some + 1);
}

/* Adds term i, by the order of all reducing loops, to accumulator i mod
 * TDL_LANES on every processor.  At the end accumulators are combined in
 * pairs. */
static void emit_lanes(emitter *g)
{
	bool blocks = has_blocks(g, LANES);
	const char *of = blocks ? "total" : "lane";
	const char *sum = blocks ? "(float)total[0]" : "lane[0]";
	emit_head(g);
	emit_merge(g, loops_that(g, true), g->k->body, false);
	int n = open_loops(g, loops_that(g, false));
	SAY("%s lane[TDL_LANES];", type_of_value(accumulator_of(g->k)));
	SAY("int64_t first = 0;");
	SAY("for (int i = 0; i < TDL_LANES; i++)");
	SAY("\tlane[i] = %s;", print_identity(g));
	if (blocks)
		begin_blocks(g, "TDL_LANES");
	reduce_lanes(g, blocks);
	if (blocks)
		flush(g, "lane", "TDL_LANES");
	SAY("for (int n = TDL_LANES / 2; n > 0; n /= 2)");
	OPEN("\tfor (int i = 0; i < n; i++)");
	combine(g, arena_printf(g->p.a, "%s[i]", of),
		arena_printf(g->p.a, "%s[i + n]", of));
	CLOSE();
	emit_sum(g, sum);
	close_loops(g, n);
	emit_end(g);
}

static void emit_one(emitter *g)
{
	const kernel *k = g->k;
	bool arg = reducer_is_where(k->reducer);
	loop_set out = loops_that(g, false), reduce = loops_that(g, true);
	emit_head(g);
	int n = open_loops(g, out);
	SAY("%s %s = %s;", type_of_value(accumulator_of(k)),
	    arg ? "best" : "sum", print_identity(g));
	if (arg)
		SAY("int64_t where = -1;");
	bool some = open_some(g);
	int m = open_loops(g, set_without(reduce, g->s.inner));
	emit_inner_bounds(g);
	emit_run(g, g->s.inner, inner_bound(g, "lo"), inner_bound(g, "hi"),
		 k->body, arg ? emit_best : emit_term, "sum");
	close_loops(g, m + some);
	if (arg)
		SAY("%s = %s;", print_result(&g->p),
		    print_element(&g->p, "tdl_max(where, 0)", DT_I64, k->type));
	else
		emit_sum(g, "sum");
	close_loops(g, n);
	emit_end(g);
}

void emit_single(emitter *g)
{
	if (g->s.lanes)
		emit_lanes(g);
	else
		emit_one(g);
}

/* ---- scatters ---------------------------------------------------------- */

void emit_nothing(emitter *g)
{
	const char *type = type_of_value(accumulator_of(g->k));
	const char *value = print_identity(g), *some = NULL;
	for (int v = g->k->nout; g->s.otherwise && v < g->k->nvars; v++)
		if (g->k->vars[v].kind == KVAR_REDUCE)
			some = arena_printf(g->p.a, "%s%s%s < %s",
					    some ? some : "",
					    some ? " && " : "",
					    print_bound(&g->p, v, false),
					    print_bound(&g->p, v, true));
	if (some)
		value = arena_printf(g->p.a, "%s ? %s : %s", some,
				     print_operand(&g->p, g->s.otherwise),
				     value);
	SAY("const %s nothing = %s;", type, value);
}

/* Initialises all elements of the result. */
static void emit_results(emitter *g)
{
	int n = open_loops(g, loops_that(g, false));
	SAY("%s = nothing;", print_result(&g->p));
	close_loops(g, n);
}

/* The value that a condition gives to the loop's variable. */
static const char *print_given(emitter *g, const where *w)
{
	const char *e = print_operand(&g->p, w->e);
	const char *rest = print_linear(&g->p, &w->rest, -1);
	if (w->sign < 0)
		return arena_printf(g->p.a, "%s - %s", rest, e);
	if (!strcmp(rest, "0"))
		return e;
	return arena_printf(g->p.a, "%s - (%s)", e, rest);
}

int open_wheres(emitter *g)
{
	for (int i = 0; i < g->s.nwheres; i++) {
		const where *w = &g->s.wheres[i];
		if (w->loop < 0) {
			OPEN("if (%s)", print_expr(&g->p, w->e));
			continue;
		}
		const char *x = loop_name(g, w->loop);
		SAY("const int64_t %s = %s;", x, print_given(g, w));
		OPEN("if (%s_lo <= %s && %s < %s_hi)", x, x, x, x);
	}
	return g->s.nwheres;
}

static void add_to_result(emitter *g, const void *arg)
{
	(void)arg;
	emit_term(g, print_result(&g->p));
}

void emit_scatter(emitter *g)
{
	loop_set all = loops_that(g, true) | loops_that(g, false);
	loop_set inside = all & ~g->s.around & ~g->s.given;
	emit_head(g);
	emit_nothing(g);
	emit_results(g);
	int n = open_some(g);
	n += open_loops(g, g->s.around);
	n += open_wheres(g);
	n += open_loops(g, set_without(inside, g->s.inner));
	emit_inner_bounds(g);
	emit_run(g, g->s.inner, inner_bound(g, "lo"), inner_bound(g, "hi"),
		 g->s.term, add_to_result, NULL);
	close_loops(g, n);
	emit_end(g);
}

/* ---- running reductions ------------------------------------------------ */

/* Opens the loop over the result.  Inside it adds the terms that an element has
 * and the one before it does not have. */
static void open_scan(emitter *g, const char *sum)
{
	const schedule *s = &g->s;
	const char *i = loop_name(g, s->along), *j = loop_name(g, s->step);
	int64_t shift = s->shift + !s->down;
	if (s->down) {
		SAY("int64_t %s = %s_hi - 1;", j, j);
		OPEN("for (int64_t %s = %s_hi - 1; %s >= %s_lo; %s--)", i, i, i,
		     i, i);
		OPEN("for (; %s >= tdl_max(%s_lo, %s + %" PRId64 "); %s--)", j,
		     j, i, shift, j);
	} else {
		SAY("int64_t %s = %s_lo;", j, j);
		OPEN("for (int64_t %s = %s_lo; %s < %s_hi; %s++)", i, i, i, i,
		     i);
		OPEN("for (; %s < tdl_min(%s_hi, %s + %" PRId64 "); %s++)", j,
		     j, i, shift, j);
	}
	int n = open_some(g);
	n += open_loops(g, set_without(loops_that(g, true), s->step));
	if (s->inner >= 0)
		emit_run(g, s->inner, stretch(g, s->inner, 0),
			 stretch(g, s->inner, 1), s->term, emit_term, sum);
	else
		emit_run(g, -1, "", "", s->term, emit_term, sum);
	close_loops(g, n + 1);
}

static void emit_scan_strips(emitter *g)
{
	const char *l = loop_name(g, g->s.inner);
	const char *sum = arena_printf(g->p.a, "sum[%s - %s_0]", l, l);
	emit_inner_bounds(g);
	open_stretches(g, g->s.inner, "TDL_STRIP");
	SAY("%s sum[TDL_STRIP];", type_of_value(accumulator_of(g->k)));
	SAY("for (int64_t i = 0; i < %s_1 - %s_0; i++)", l, l);
	SAY("\tsum[i] = nothing;");
	open_scan(g, sum);
	OPEN("for (int64_t %s = %s_0; %s < %s_1; %s++)", l, l, l, l, l);
	emit_whole(g, g->s.inner);
	emit_sum(g, sum);
	close_loops(g, 3);
}

void emit_scan(emitter *g)
{
	loop_set out = set_without(loops_that(g, false), g->s.along);
	emit_head(g);
	emit_nothing(g);
	int n = open_loops(g, set_without(out, g->s.inner));
	if (g->s.inner >= 0) {
		emit_scan_strips(g);
	} else {
		SAY("%s sum = nothing;", type_of_value(accumulator_of(g->k)));
		open_scan(g, "sum");
		emit_sum(g, "sum");
		CLOSE();
	}
	close_loops(g, n);
	emit_end(g);
}

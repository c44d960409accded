/* CUDA for reductions under a condition: scatters and running reductions. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* ---- scatters ---------------------------------------------------------- */

/* The part of a result that a thread computes: one point of the variables that
 * no condition gives, and a stretch of the first variable that a condition
 * gives.  The thread looks at all terms in order and adds those that belong
 * there.  So nothing is atomic, and the order is always the same. */
typedef struct owners {
	var_set free, given; /* variables of the result */
	int along;	     /* the variable that is divided into stretches */
	int64_t length;	     /* of a stretch */
} owners;

/* Values of a loop whose conditions are read at a time; reads in a
 * condition. */
enum { AHEAD = 8, MAX_AHEAD = 2 };

static owners owners_of(const emitter *g)
{
	enum { CAP = 1 << 30, THREADS = 1 << 16 };
	var_set out = cuda_vars(g, false);
	owners o = {.given = vars_of_loops(&g->p.nest, g->s.given) & out};
	o.free = out & ~o.given;
	o.along = o.given ? __builtin_ctz(o.given) : -1;
	if (o.along < 0)
		return o;
	int64_t n = g->k->vars[o.along].extent;
	int64_t others = cuda_points(g->k, o.free, CAP);
	int64_t stretches = others ? THREADS / others : 1;
	if (stretches < 1)
		stretches = 1;
	o.length = n / stretches > 1 ? n / stretches : 1;
	return o;
}

/* Declares the bounds of variables that conditions give, for this thread's
 * stretch. */
static void declare_given(emitter *g, const owners *o)
{
	for (int l = 0; l < g->p.nest.n; l++) {
		const char *x = loop_name(g, l);
		int v = g->p.nest.loops[l].var;
		if (!(g->s.given & loop_bit(l)))
			continue;
		if (v == o->along) {
			SAY("const TDL_INT %s_lo = TDL_LO(%d) + "
			    "tdl_digit(at, stretches) * %" PRId64 ";",
			    x, v, o->length);
			SAY("const TDL_INT %s_hi = tdl_min(TDL_HI(%d), %s_lo + "
			    "%" PRId64 ");", x, v, x, o->length);
			SAY("const TDL_INT %s_n = %s_hi - %s_lo;", x, x, x);
		} else {
			SAY("const TDL_INT %s_hi = TDL_HI(%d);", x, v);
		}
	}
}

static void add_to_result(emitter *g)
{
	emit_term(g, print_result(&g->p));
}

/* Opens the loop over a variable in steps of AHEAD values.  What the first
 * condition reads is read for all of them before it is tested. */
static int open_ahead(emitter *g, int v, const cuda_reads *f)
{
	const char *x = g->p.var[v];
	OPEN("for (TDL_INT from = %s_lo; from < %s_lo + %s_n; from += %d)", x,
	     x, x, AHEAD);
	cuda_declare_next(g, f, AHEAD);
	SAY("#pragma unroll");
	OPEN("for (int unit = 0; unit < %d; unit++)", AHEAD);
	SAY("const TDL_INT %s = tdl_min((TDL_INT)(from + unit), "
	    "(TDL_INT)(%s_lo + %s_n - 1));", x, x, x);
	cuda_parts(g, v);
	cuda_load_next(g, f);
	CLOSE();
	cuda_take_next(g, f);
	SAY("#pragma unroll");
	OPEN("for (int unit = 0; unit < %d; unit++)", AHEAD);
	SAY("const TDL_INT %s = from + unit;", x);
	SAY("if (%s >= %s_lo + %s_n)", x, x, x);
	SAY("\tbreak;");
	cuda_parts(g, v);
	return 2;
}

/* Opens the loops around the conditions.  Returns how many. */
static int open_around(emitter *g, var_set around)
{
	cuda_reads f = {.g = g, .loop = -1, .wanted = cuda_is_plain};
	if (!around)
		return 0;
	cuda_find_reads(&f, g->s.wheres[0].e);
	int last = 31 - __builtin_clz(around);
	if (!f.n || f.n > MAX_AHEAD || g->p.nest.first[last] < 0)
		return cuda_loops(g, around);
	int n = cuda_loops(g, around & ~var_bit(last));
	return n + open_ahead(g, last, &f);
}

static void emit_owner(emitter *g, const owners *o)
{
	const nest *n = &g->p.nest;
	var_set reduced = cuda_vars(g, true);
	var_set given = vars_of_loops(n, g->s.given);
	var_set around = vars_of_loops(n, g->s.around) & reduced;
	int opened = cuda_loops(g, o->given);
	SAY("%s = nothing;", print_result(&g->p));
	while (opened--)
		CLOSE();
	opened = open_some(g);
	opened += open_around(g, around);
	opened += open_wheres(g);
	opened += cuda_loops(g, reduced & ~around & ~given);
	add_to_result(g);
	g->p.loaded.n = 0;
	while (opened--)
		CLOSE();
}

void cuda_scatter(cuda_text *c)
{
	emitter *g = &c->g;
	owners o = owners_of(g);
	if (o.along < 0) {
		cuda_reduce(c);
		return;
	}
	cuda_tile(c, -1, CUDA_THREADS * o.length);
	cuda_head(c, g->k->body, CUDA_THREADS, 0);
	emit_nothing(g);
	SAY("const TDL_INT stretches = tdl_ceil_div(%s_n, (TDL_INT)%" PRId64
	    ");", g->p.var[o.along], o.length);
	cuda_elements(g, arena_printf(g->p.a, "%s * stretches",
				      cuda_count(g, o.free)));
	/* Adjacent threads have adjacent elements. */
	if (o.free) {
		SAY("TDL_INT free_at = tdl_digit(at, %s);",
		    arena_printf(g->p.a, "(TDL_INT)(%s)",
				 cuda_count(g, o.free)));
		cuda_decode(g, o.free, "free_at");
	}
	declare_given(g, &o);
	emit_owner(g, &o);
	cuda_end(g);
}

/* ---- running reductions ------------------------------------------------ */

/* Emits the terms for one value of the loop `step'. */
static void emit_step(emitter *g, const char *sum)
{
	var_set others = cuda_vars(g, true) &
			 ~var_bit(g->p.nest.loops[g->s.step].var);
	int n = open_some(g);
	n += cuda_loops(g, others);
	emit_term(g, sum);
	while (n--)
		CLOSE();
}

/* Emits a scan in which a thread walks along a row of the result. */
static void scan_alone(cuda_text *c, var_set rows, bool is_long)
{
	emitter *g = &c->g;
	const schedule *s = &g->s;
	const char *i = loop_name(g, s->along), *j = loop_name(g, s->step);
	const char *type = type_of_value(accumulator_of(g->k));
	int64_t shift = s->shift + !s->down;
	cuda_tile(c, -1, CUDA_THREADS);
	cuda_elements(g, cuda_count(g, rows));
	cuda_decode(g, rows, "at");
	SAY("%s total = nothing;", is_long ? "double" : type);
	if (s->down) {
		SAY("TDL_INT next = %s_lo + %s_n - 1;", j, j);
		OPEN("for (TDL_INT %s = %s_lo + %s_n - 1; %s >= %s_lo; %s--)",
		     i, i, i, i, i, i);
		OPEN("for (; next >= tdl_max(%s_lo, (TDL_INT)(%s + %" PRId64
		     ")); next--)", j, i, shift);
	} else {
		SAY("TDL_INT next = %s_lo;", j);
		OPEN("for (TDL_INT %s = %s_lo; %s < %s_lo + %s_n; %s++)", i, i,
		     i, i, i, i);
		OPEN("for (; next < tdl_min((TDL_INT)(%s_lo + %s_n), "
		     "(TDL_INT)(%s + %" PRId64 ")); next++)", j, j, i, shift);
	}
	SAY("const TDL_INT %s = next;", j);
	if (is_long) {
		SAY("float sum = 0;");
		emit_step(g, "sum");
		SAY("total += sum;");
	} else {
		emit_step(g, "total");
	}
	CLOSE();
	emit_sum(g, is_long ? "(float)total" : "total");
	CLOSE();
	cuda_end(g);
}

/* Stores `value' in the element whose last term is the current one, if it
 * exists. */
static void emit_last_term(emitter *g)
{
	const char *i = loop_name(g, g->s.along);
	SAY("const TDL_INT %s = last - %" PRId64 ";", i, g->s.shift);
	OPEN("if (last_term < terms && %s_lo <= %s && %s < %s_lo + %s_n)", i, i,
	     i, i, i);
	emit_sum(g, "value");
	CLOSE();
}

/* Emits a scan in which a block has a row, and takes as many terms at a time as
 * it has threads. */
static void scan_together(cuda_text *c, var_set rows, bool is_long)
{
	emitter *g = &c->g;
	const schedule *s = &g->s;
	const char *i = loop_name(g, s->along), *j = loop_name(g, s->step);
	const char *type = type_of_value(accumulator_of(g->k));
	const char *wide = is_long ? "double" : type;
	const char *op = cuda_joins(g->k->reducer);
	const char *value = is_long ? "(float)(before + value)"
				    : arena_printf(g->p.a, "%s::join(before, "
						   "value)", op);
	for (int v = 0; v < g->k->nout; v++)
		if (rows & var_bit(v))
			cuda_tile(c, v, 1);
	SAY("__shared__ %s shared[%d];", type, CUDA_THREADS / 32);
	cuda_items(g, cuda_count(g, rows));
	if (rows)
		SAY("TDL_INT at = item;");
	cuda_decode(g, rows, "at");
	/* The operands end with the terms of the last element. */
	SAY("const TDL_INT terms = tdl_min(%s_n, (TDL_INT)(%s));", j,
	    arena_printf(g->p.a,
			 s->down ? "%s_lo + %s_n - %s_lo - %" PRId64
				 : "%s_lo + %s_n - %s_lo + %" PRId64,
			 s->down ? j : i, s->down ? j : i, s->down ? i : j,
			 s->shift));
	SAY("%s before = nothing;", wide);
	OPEN("for (TDL_INT from = 0; from < terms; from += %d)", CUDA_THREADS);
	SAY("const TDL_INT last_term = from + threadIdx.x;");
	if (s->down)
		SAY("const TDL_INT last = %s_lo + %s_n - 1 - last_term;", j, j);
	else
		SAY("const TDL_INT last = %s_lo + last_term;", j);
	SAY("%s value = %s, total;", type, print_identity(g));
	OPEN("if (last_term < terms)");
	SAY("const TDL_INT %s = last;", j);
	emit_step(g, "value");
	CLOSE();
	SAY("value = tdl_scan_block<%s>(value, (%s)%s, shared, &total);", op,
	    type, print_identity(g));
	SAY("value = %s;", value);
	emit_last_term(g);
	if (is_long)
		SAY("before += total;");
	else
		SAY("before = %s::join(before, total);", op);
	CLOSE();
	/* Elements without terms, and those after all terms. */
	OPEN("for (TDL_INT %s = %s_lo + threadIdx.x; %s < %s_lo + %s_n; %s += "
	     "%d)", i, i, i, i, i, i, CUDA_THREADS);
	SAY("const TDL_INT last = %s + %" PRId64 ";", i, s->shift);
	OPEN("if (last < %s_lo || last >= %s_lo + %s_n)", j, j, j);
	if (s->down)
		SAY("const %s value = last < %s_lo ? (%s)before : nothing;",
		    type, j, type);
	else
		SAY("const %s value = last < %s_lo ? nothing : (%s)before;",
		    type, j, type);
	emit_sum(g, "value");
	CLOSE();
	CLOSE();
	cuda_end(g);
}

void cuda_scan(cuda_text *c)
{
	enum { CAP = 1 << 30, MANY = 1 << 14, LONG = 256 };
	emitter *g = &c->g;
	int along = g->p.nest.loops[g->s.along].var;
	var_set rows = cuda_vars(g, false) & ~var_bit(along);
	bool is_long = cuda_is_long(
		g->k, cuda_points(g->k, all_reduced(g->k), CAP));
	int64_t nrows = cuda_points(g->k, rows, CAP);
	cuda_head(c, g->k->body, CUDA_THREADS, 0);
	emit_nothing(g);
	if (g->k->vars[along].extent >= LONG &&
	    (g->s.inner < 0 || nrows < MANY))
		scan_together(c, rows, is_long);
	else
		scan_alone(c, rows, is_long);
}

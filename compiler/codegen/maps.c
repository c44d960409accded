/* The schedules for kernels that reduce nothing. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

static void store_body(emitter *g, const void *arg)
{
	const kexpr *e = g->k->body;
	(void)arg;
	SAY("%s = %s;", print_result(&g->p),
	    print_stored(&g->p, e, g->k->type));
}

/* Whether e is an element of a tensor, at an index that needs no check, which
 * lies beside the next one along loop `across' and in another row than that
 * along `inner'. */
static bool lies_across(const emitter *g, const kexpr *e)
{
	const nest *n = &g->p.nest;
	if (dtype_bits(e->type) < 32 || step_of(n, e, g->s.across) != 1)
		return false;
	for (int d = 0; d < kx_ndim(e); d++)
		if (!linear_of(n, e->args[d]).affine ||
		    needs_check(&g->p, e, d))
			return false;
	return linear_of(n, e->args[kx_ndim(e) - 1]).coef[g->s.across] == 1 &&
	       step_of(n, e, g->s.inner) >= FAR_STEP;
}

/* Turns the square at hand of what a read moves over, and has the read take its
 * elements from there. */
static void turn_square(emitter *g, const kexpr *read)
{
	const char *x = loop_name(g, g->s.across);
	const char *y = loop_name(g, g->s.inner);
	const char *name = g->p.input[read->input];
	const char *to = arena_printf(g->p.a, "%s_turned%d", name,
				      g->p.loaded.n);
	int64_t coef[MAX_NDIM];
	for (int d = 0; d < kx_ndim(read); d++)
		coef[d] = linear_of(&g->p.nest, read->args[d])
				  .coef[g->s.inner];
	SAY("%s %s[TDL_SQUARE * TDL_SQUARE];", type_of_element(read->type),
	    to);
	text_block(&g->t);
	SAY("const int64_t %s = %s_0, %s = %s_0;", x, x, y, y);
	SAY("tdl_turn_%d(&%s, %s,", dtype_bits(read->type),
	    print_element_at(&g->p, read),
	    print_step(g, name, coef, kx_ndim(read)));
	SAY("\t    %s_1 - %s_0, %s_1 - %s_0, %s);", y, y, x, x, to);
	CLOSE();
	vec_push(g->p.a, &g->p.loaded,
		 ((named){ read, arena_printf(g->p.a,
					      "%s[(%s - %s_0) * TDL_SQUARE + "
					      "%s - %s_0]", to, x, x, y, y) }));
}

static bool is_turned(const emitter *g, const kexpr *read)
{
	for (int i = 0; i < g->p.loaded.n; i++)
		if (kx_equal(g->p.loaded.at[i].e, read))
			return true;
	return false;
}

/* Turns the squares of all reads that lie so and are made at every point: what
 * a condition leaves out may lie outside of its input. */
static void turn_squares(emitter *g, const kexpr *e)
{
	if (e->kind == KX_READ && lies_across(g, e) && !is_turned(g, e))
		turn_square(g, e);
	if (e->kind != KX_CAST && (e->kind != KX_FN || e->type == DT_BOOL))
		return;
	for (int i = 0; i < e->nargs; i++)
		turn_squares(g, e->args[i]);
}

/* Emits two loops in squares, so that the elements of a cache line are used
 * while it is in the cache, along either loop. */
static void emit_squares(emitter *g, loop_set all)
{
	int across = g->s.across, inner = g->s.inner;
	const char *x = loop_name(g, across);
	emit_merge(g, all & (loop_bit(across + 1) - 1), g->k->body, true);
	int n = open_loops(g, set_without(set_without(all, inner), across));
	open_stretches(g, across, "TDL_SQUARE");
	open_stretches(g, inner, "TDL_SQUARE");
	turn_squares(g, g->k->body);
	OPEN("for (int64_t %s = %s_0; %s < %s_1; %s++)", x, x, x, x, x);
	emit_run(g, inner, stretch(g, inner, 0), stretch(g, inner, 1),
		 g->k->body, store_body, NULL);
	close_loops(g, n + 3);
	g->p.loaded.n = 0;
}

/* ---- inputs that are read in another shape ------------------------------ */

static bool is_affine(const nest *n, const kexpr *read)
{
	for (int d = 0; d < kx_ndim(read); d++)
		if (!linear_of(n, read->args[d]).affine)
			return false;
	return true;
}

/* Finds the reads in e that are even steps through memory if the rows of their
 * inputs are contiguous.  Gives each a name, and adds to *when the
 * condition. */
static void name_reshaped(emitter *g, const kexpr *e, const char **when)
{
	const nest *n = &g->p.nest;
	linear x;
	for (int i = 0; i < e->nargs && e->kind != KX_READ; i++)
		name_reshaped(g, e->args[i], when);
	if (e->kind != KX_READ || e->guarded || is_affine(n, e) ||
	    !linear_offset(n, e, &x))
		return;
	const char *name = g->p.input[e->input];
	const kinput *in = &g->k->inputs[e->input];
	int64_t stride = 1;
	for (int d = in->ndim - 1; d > 0; d--) {
		stride *= in->dims[d];
		*when = arena_printf(g->p.a, "%s%s%s_%d == %" PRId64,
				     *when ? *when : "", *when ? " && " : "",
				     name, d - 1, stride);
	}
	vec_push(g->p.a, &g->p.loaded,
		 ((named){ e, arena_printf(g->p.a, "%s[%s_at + %s]", name, name,
					   print_linear(&g->p, &x, -1)) }));
}

/* ---- conditions on loops around the innermost one ------------------------ */

enum { MOST_CASES = 4 };

/* Conditions of choices, that are the same along a run. */
typedef struct cases {
	int n;
	const kexpr *e[MOST_CASES];
} cases;

static bool is_among(const cases *c, const kexpr *e)
{
	for (int i = 0; i < c->n; i++)
		if (kx_equal(c->e[i], e))
			return true;
	return false;
}

/* Finds the conditions of which a side calls a function: under a condition the
 * compiler would call it for one element after the other. */
static void find_cases(const emitter *g, const kexpr *e, cases *c)
{
	loop_set inner = g->s.inner < 0 ? 0 : loop_bit(g->s.inner);
	if (e->kind == KX_READ)
		return;
	if (e->kind == KX_SELECT && inner && !kx_has_read(e->args[0]) &&
	    !(loops_of(&g->p.nest, e->args[0]) & inner) &&
	    (calls_function(e->args[1]) || calls_function(e->args[2])) &&
	    c->n < MOST_CASES && !is_among(c, e->args[0]))
		c->e[c->n++] = e->args[0];
	for (int i = 0; i < e->nargs; i++)
		find_cases(g, e->args[i], c);
}

/* Whether e and f compare a variable with different numbers. */
static bool exclude(const kexpr *e, const kexpr *f)
{
	return e->kind == KX_FN && f->kind == KX_FN && e->fn == FN_EQ &&
	       f->fn == FN_EQ && e->args[0]->kind == KX_VAR &&
	       kx_equal(e->args[0], f->args[0]) &&
	       e->args[1]->kind == KX_INT && f->args[1]->kind == KX_INT &&
	       e->args[1]->i != f->args[1]->i;
}

/* Settles what is known if condition i is the first that holds, or none does if
 * i is their number. */
static void settle(emitter *g, const cases *c, int i)
{
	g->p.settled.n = 0;
	for (int j = 0; j < c->n; j++)
		if (j <= i || exclude(c->e[i], c->e[j]))
			vec_push(g->p.a, &g->p.settled,
				 ((settled){ c->e[j], j == i }));
}

/* A run of the innermost loop; one for each case if there are several. */
static void emit_body(emitter *g)
{
	const char *from = inner_bound(g, "lo"), *to = inner_bound(g, "hi");
	cases c = { 0 };
	find_cases(g, g->k->body, &c);
	for (int i = 0; c.n && i <= c.n; i++) {
		g->p.settled.n = 0;
		if (i == c.n)
			OPEN("else");
		else
			OPEN("%sif (%s)", i ? "else " : "",
			     print_expr(&g->p, c.e[i]));
		settle(g, &c, i);
		emit_run(g, g->s.inner, from, to, g->k->body, store_body, NULL);
		CLOSE();
	}
	g->p.settled.n = 0;
	if (!c.n)
		emit_run(g, g->s.inner, from, to, g->k->body, store_body, NULL);
}

static void emit_reshaped(emitter *g, loop_set all)
{
	const char *when = NULL;
	name_reshaped(g, g->k->body, &when);
	if (!when)
		return;
	OPEN("if (%s)", when);
	int n = open_loops(g, set_without(all, g->s.inner));
	emit_inner_bounds(g);
	emit_body(g);
	close_loops(g, n);
	SAY("return args->fault.found ? TDL_INDEX_OUTSIDE : 0;");
	CLOSE();
	g->p.loaded.n = 0;
}

static void emit_rows(emitter *g, loop_set all)
{
	emit_reshaped(g, all);
	emit_merge(g, all, g->k->body, true);
	int n = open_loops(g, set_without(all, g->s.inner));
	emit_inner_bounds(g);
	emit_body(g);
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

/* Factors of products that are read in a window, as convolutions read images.
 * Describes them to tdl/product.h, which lays out many columns, or rows, of the
 * product at a time. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>

#define SAY(...) text_line(&g->t, __VA_ARGS__)

/* Steps and terms for which the planes of product.h are meant. */
enum { MOST_STEPS = 4, MOST_TERMS = 64 };

/* The loops of a factor, (n, i, j), and of the depth, (c, r, s); -1: none.
 * Loops i and r move the window along one dimension, which may be -1, and j and
 * s along another.  A window of one element has neither r nor s. */
typedef struct window {
	int n, i, j, c, r, s;
	int rows, cols;
} window;

static bool is_sum(const nest *n, const linear *x, const turn *t)
{
	for (int l = 0; l < n->n; l++)
		if (x->coef[l] != t->sum.coef[l])
			return false;
	return x->affine && x->c == t->sum.c;
}

/* Index d of a read if it moves evenly.  This includes the quotient of a sum
 * that has the product's classes, whose remainder is left out. */
static linear index_of(const schedule *s, const kexpr *e, int d)
{
	linear x = linear_of(&s->nest, e->args[d]), none = { .affine = true };
	const kexpr *i = e->args[d];
	nest whole = s->nest;
	if (x.affine || !s->nturns || i->kind != KX_FN || i->fn != FN_DIV ||
	    i->args[1]->kind != KX_INT)
		return x;
	for (int l = 0; l < whole.n; l++)
		whole.loops[l].part = LOOP_WHOLE;
	const linear sum = linear_of(&whole, i->args[0]);
	for (const turn *t = s->turns; t < s->turns + s->nturns; t++) {
		if (t->by != i->args[1]->i || !is_sum(&whole, &sum, t))
			continue;
		none.coef[t->row] = sum.coef[t->row];
		if (t->term >= 0)
			none.coef[t->term] =
				sum.coef[t->term] * t->step / t->by;
		return none;
	}
	return x;
}

/* Whether index d of e depends on no loops of `all' except x and y. */
static bool moves_by(const nest *n, const kexpr *e, int d, loop_set all, int x,
		     int y)
{
	return !(loops_of(n, e->args[d]) &
		 set_without(set_without(all, x), y));
}

static int64_t coefficient(const schedule *s, const kexpr *e, int d, int l)
{
	return l < 0 ? 0 : index_of(s, e, d).coef[l];
}

/* Whether a loop of columns moves along dimension d in small steps, and a loop
 * of few terms does, too. */
static bool steps(const schedule *s, const kexpr *e, int d, int column,
		  int term)
{
	int64_t step = coefficient(s, e, d, column);
	int64_t by = coefficient(s, e, d, term);
	int64_t terms = term < 0 ? 0 : s->nest.loops[term].extent;
	return step >= 1 && step <= MOST_STEPS && by && by >= -MOST_TERMS &&
	       by <= MOST_TERMS && terms <= MOST_TERMS &&
	       terms <= s->nest.loops[column].extent;
}

/* The same without a loop of terms, where the window is a single element. */
static bool steps_alone(const schedule *s, const kexpr *e, int d, int column)
{
	int64_t step = coefficient(s, e, d, column);
	return step >= 1 && step <= MOST_STEPS &&
	       !(loops_of(&s->nest, e->args[d]) & s->depth);
}

/* The dimension along which i and r move the window; -1 if there is none. */
static int find_rows(const schedule *s, const kexpr *e, int i, int r)
{
	for (int d = 0; i >= 0 && r >= 0 && d < kx_ndim(e) - 1; d++)
		if (steps(s, e, d, i, r))
			return d;
	return -1;
}

/* The dimension along which i moves a window of one element; -1. */
static int find_lone_rows(const schedule *s, const kexpr *e, int i)
{
	for (int d = kx_ndim(e) - 2; i >= 0 && d >= 0; d--)
		if (steps_alone(s, e, d, i))
			return d;
	return -1;
}

/* Takes the last loop of a set; -1 if it is empty. */
static int take(loop_set *s)
{
	int l = set_last(*s);
	*s = set_without(*s, l);
	return l;
}

static window find_loops(const schedule *s, const kexpr *e, loop_set own)
{
	loop_set depth = s->depth;
	window w = { .i = -1, .r = -1, .s = -1, .cols = kx_ndim(e) - 1 };
	w.j = take(&own);
	if (steps_alone(s, e, w.cols, w.j)) {
		w.rows = find_lone_rows(s, e, set_last(own));
	} else {
		w.s = take(&depth);
		w.rows = find_rows(s, e, set_last(own), set_last(depth));
		w.r = w.rows >= 0 ? take(&depth) : -1;
	}
	if (w.rows >= 0)
		w.i = take(&own);
	w.n = take(&own);
	w.c = take(&depth);
	if (own | depth)
		w.j = -1;
	return w;
}

static bool all_affine(const schedule *s, const kexpr *e)
{
	for (int d = 0; d < kx_ndim(e); d++)
		if (!index_of(s, e, d).affine)
			return false;
	return true;
}

static bool is_whole(const nest *n, loop_set s)
{
	for (; s; s &= s - 1)
		if (n->loops[set_first(s)].part != LOOP_WHOLE &&
		    n->loops[set_first(s)].part != LOOP_TURN)
			return false;
	return true;
}

/* Whether all elements of the border are equal. */
static bool has_border(const nest *n, const kexpr *e)
{
	const kexpr *other = e->guarded ? e->args[e->nargs - 1] : NULL;
	return !other || (!loops_of(n, other) && !kx_has_read(other));
}

static bool has_type(const emitter *g, const kexpr *e)
{
	dtype t = g->k->body->type;
	return (t == DT_F32 || t == DT_F64) && e->type == t;
}

/* The read of a factor.  If the product is computed class by class, it is the
 * read under the conditions. */
static const kexpr *read_of(const schedule *s, const kexpr *e)
{
	return s->nturns && e != s->finite ? e->args[1] : e;
}

static bool is_turned(const schedule *s, int l)
{
	return l >= 0 && s->nest.loops[l].part == LOOP_TURN;
}

/* Whether columns beside each other do not lie so in memory, although they are
 * read one by one: they are some steps apart, or go in turns. */
static bool skips(const schedule *s, const kexpr *e, const window *w)
{
	return steps_alone(s, e, w->cols, w->j) &&
	       (is_turned(s, w->i) || is_turned(s, w->j) ||
		coefficient(s, e, w->cols, w->j) > 1);
}

static bool find_window(const emitter *g, const kexpr *e, loop_set own,
			window *w)
{
	const nest *n = &g->p.nest;
	loop_set all = own | g->s.depth;
	if (e->kind != KX_READ || !kx_ndim(e) || !has_type(g, e) || !own ||
	    !is_whole(n, all) || !all_affine(&g->s, e) || !has_border(n, e))
		return false;
	*w = find_loops(&g->s, e, own);
	if (w->j < 0 || (w->s < 0 ? !skips(&g->s, e, w)
				  : !steps(&g->s, e, w->cols, w->j, w->s)))
		return false;
	for (int d = 0; d < w->cols; d++)
		if (d == w->rows ? !moves_by(n, e, d, all, w->i, w->r)
				 : !moves_by(n, e, d, all, w->n, w->c) ||
					   needs_check(&g->p, e, d))
			return false;
	return moves_by(n, e, w->cols, all, w->j, w->s);
}

/* ---- its text ------------------------------------------------------------ */

/* The distance of elements one step apart in a loop; "0" if there is no
 * loop. */
static const char *print_move(emitter *g, const kexpr *e, int l)
{
	int64_t coef[MAX_NDIM];
	for (int d = 0; d < kx_ndim(e); d++)
		coef[d] = coefficient(&g->s, e, d, l);
	return print_step(g, g->p.input[e->input], coef, kx_ndim(e));
}

static const char *print_size(emitter *g, int l)
{
	const char *x = l < 0 ? NULL : loop_name(g, l);
	return x ? arena_printf(g->p.a, "%s_hi - %s_lo", x, x) : "1";
}

static const char *print_index(emitter *g, const kexpr *e, int d)
{
	linear x;
	if (d < 0)
		return "0";
	x = linear_of(&g->p.nest, e->args[d]);
	return x.affine ? print_linear(&g->p, &x, -1)
			: print_expr(&g->p, e->args[d]);
}

/* The address of row 0 and column 0 of the first image. */
static const char *print_start(emitter *g, const kexpr *e, const window *w)
{
	const char *x = g->p.input[e->input];
	const char *at = arena_printf(g->p.a, "%s_at", x);
	for (int d = 0; d < w->cols; d++)
		if (d != w->rows)
			at = arena_printf(g->p.a, "%s + (%s) * %s_%d", at,
					  print_index(g, e, d), x, d);
	return at;
}

/* The first or last bound of an index, if it has to be checked. */
static const char *print_edge(emitter *g, const kexpr *e, int d, bool last)
{
	if (d < 0 || !needs_check(&g->p, e, d))
		return last ? "INT64_MAX / 2" : "INT64_MIN / 2";
	return arena_printf(g->p.a, "%" PRId64,
			    last ? g->k->inputs[e->input].dims[d] : 0);
}

/* Emits a pair in a field: for rows and for columns. */
static void say_pair(emitter *g, const char *field, const char *rows,
		     const char *cols)
{
	SAY("\t.%s = { %s, %s },", field, rows, cols);
}

static const char *print_number(emitter *g, int64_t x)
{
	return arena_printf(g->p.a, "%" PRId64, x);
}

static void emit_fields(emitter *g, const char *name, const kexpr *e,
			const window *w)
{
	const schedule *s = &g->s;
	int64_t step = w->rows < 0 ? 1 : coefficient(s, e, w->rows, w->i);
	int64_t term = w->rows < 0 ? 0 : coefficient(s, e, w->rows, w->r);
	const char *x = g->p.input[e->input];
	SAY("product.%s.window = (tdl_window){", name);
	SAY("\t.in = %s + %s,", x, print_start(g, e, w));
	SAY("\t.image = %s, .channel = %s, .row = %s,", print_move(g, e, w->n),
	    print_move(g, e, w->c),
	    w->rows < 0 ? "0" : arena_printf(g->p.a, "%s_%d", x, w->rows));
	say_pair(g, "size", print_size(g, w->i), print_size(g, w->j));
	say_pair(g, "terms", print_size(g, w->r), print_size(g, w->s));
	say_pair(g, "first", print_index(g, e, w->rows),
		 print_index(g, e, w->cols));
	say_pair(g, "step", print_number(g, step),
		 print_number(g, coefficient(s, e, w->cols, w->j)));
	say_pair(g, "term", print_number(g, term),
		 print_number(g, coefficient(s, e, w->cols, w->s)));
	say_pair(g, "lo", print_edge(g, e, w->rows, false),
		 print_edge(g, e, w->cols, false));
	say_pair(g, "hi", print_edge(g, e, w->rows, true),
		 print_edge(g, e, w->cols, true));
	SAY("\t.other = %s };",
	    e->guarded ? print_expr(&g->p, e->args[e->nargs - 1]) : "0");
}

void emit_planes(emitter *g, const char *name, const kexpr *factor,
		 loop_set own)
{
	const kexpr *e = read_of(&g->s, factor);
	loop_set all = own | g->s.depth;
	window w;
	if (!find_window(g, e, own, &w))
		return;
	text_block(&g->t);
	emit_inputs(g, e);
	emit_constants(g, e);
	for (int l = 0; l < g->p.nest.n; l++)
		if (all & loop_bit(l)) {
			emit_bounds(g, l);
			SAY("const int64_t %s = %s_lo;", loop_name(g, l),
			    loop_name(g, l));
			emit_whole(g, l);
		}
	emit_fields(g, name, e, &w);
	SAY("if (%sproduct.depth > 0)", g->s.nturns ? "tdl_turns && " : "");
	SAY("\tproduct.%s.planes = tdl_planes_%s;", name, type_suffix(e->type));
	SAY("else");
	SAY("\tproduct.%s.planes = NULL;", name);
	text_close(&g->t);
}

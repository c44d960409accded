/* Reductions of few terms with one factor read in a window, such as
 * convolutions of single channels and pooling.
 *
 * The part of the input read by some rows of the result is copied to a plane
 * with a border, so that no term has a condition.  If the window moves in steps
 * of more than one, the plane has a part for each remainder, so that adjacent
 * elements of the result read adjacent elements.  A term has the same distance
 * from its element everywhere, even from row to row.  So all rows form one loop
 * without inner loops. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* The most terms, steps of the window, and rows or columns of it.
 * TDL_WINDOW_PLANE has room for these.  The least points of the result. */
enum { MOST_TERMS = 64, MOST_STEPS = 4, MOST_SPAN = 64, LEAST_POINTS = 16 };

/* A dimension of the input along which a loop of the result moves the window.
 * Its index is step * loop + the terms of reducing loops + a rest that does not
 * move. */
typedef struct side {
	int dim, loop; /* -1: none */
	linear index;
	int64_t step;
	int64_t least, span; /* of the terms of reducing loops */
} side;

typedef struct window {
	const kexpr *read;
	side rows, cols;
	/* other elements that move with those of the result are read, so that
	 * rows need loops of their own */
	bool beside;
} window;

/* ---- whether there is one ---------------------------------------------- */

static loop_set reduced_loops(const nest *n)
{
	return all_loops(n) & ~output_loops(n);
}

/* A read that is evaluated whenever e is.  The window is copied for all terms;
 * reads under a condition may be outside the input, or outside the part of it
 * that is there. */
static const kexpr *find_read(const nest *n, const kexpr *e, int l)
{
	const kexpr *found = NULL;
	if (e->kind == KX_READ && loops_of(n, e) & loop_bit(l) &&
	    loops_of(n, e) & reduced_loops(n))
		return e;
	for (int i = 0; i < kx_nalways(e) && !found; i++)
		found = find_read(n, e->args[i], l);
	return found;
}

/* Whether a read stays in place when the window moves, or reads an element
 * beside the result's, for all terms. */
static bool read_stays(const emitter *g, const kexpr *e, loop_set moved,
		       window *w)
{
	const nest *n = &g->p.nest;
	for (int d = 0; d < kx_ndim(e); d++)
		if (!linear_of(n, e->args[d]).affine ||
		    needs_check(&g->p, e, d))
			return false;
	if (!(loops_of(n, e) & moved))
		return true;
	w->beside = true;
	return !(loops_of(n, e) & reduced_loops(n));
}

/* Whether this holds for everything else in e. */
static bool stays(const emitter *g, const kexpr *e, window *w)
{
	loop_set moved = loop_bit(w->cols.loop);
	if (w->rows.loop >= 0)
		moved |= loop_bit(w->rows.loop);
	if (e->kind == KX_READ)
		return kx_equal(e, w->read) || read_stays(g, e, moved, w);
	if (!e->nargs)
		return !(loops_of(&g->p.nest, e) & moved);
	for (int i = 0; i < e->nargs; i++)
		if (!stays(g, e->args[i], w))
			return false;
	return true;
}

static bool has_reduced(const nest *n, const linear *x)
{
	for (int l = 0; l < n->n; l++)
		if (n->loops[l].reduced && x->coef[l])
			return true;
	return false;
}

/* Finds the range of the terms of reducing loops. */
static bool find_span(const nest *n, side *s)
{
	s->span = 1;
	for (int l = 0; l < n->n; l++) {
		int64_t c = s->index.coef[l], most = n->loops[l].extent - 1;
		if (!n->loops[l].reduced || !c)
			continue;
		if (c < -MOST_SPAN || c > MOST_SPAN || most > MOST_SPAN)
			return false;
		s->least += c < 0 ? c * most : 0;
		s->span += (c < 0 ? -c : c) * most;
	}
	return s->span <= MOST_SPAN;
}

static bool has_step(const side *s)
{
	return s->step >= 1 && s->step <= MOST_STEPS;
}

/* Finds the dimension of the window's rows: besides the last dimension, the one
 * that reducing loops move. */
static bool find_rows(const nest *n, window *w)
{
	side *s = &w->rows;
	*s = (side){ .dim = -1, .loop = -1, .step = 1, .span = 1 };
	for (int d = 0; d < w->cols.dim; d++) {
		linear x = linear_of(n, w->read->args[d]);
		if (!x.affine || x.coef[w->cols.loop])
			return false;
		if (!has_reduced(n, &x))
			continue;
		if (s->dim >= 0)
			return false;
		s->dim = d;
		s->index = x;
	}
	for (int l = n->n - 1; s->dim >= 0 && l >= 0 && s->loop < 0; l--)
		if (!n->loops[l].reduced && s->index.coef[l])
			s->loop = l;
	if (s->loop >= 0)
		s->step = s->index.coef[s->loop];
	for (int d = 0; s->loop >= 0 && d <= w->cols.dim; d++)
		if (d != s->dim &&
		    loops_of(n, w->read->args[d]) & loop_bit(s->loop))
			return false;
	return has_step(s) && (s->dim < 0 || find_span(n, s));
}

static bool find_cols(const nest *n, window *w)
{
	side *s = &w->cols;
	s->dim = kx_ndim(w->read) - 1;
	if (s->dim < 0)
		return false;
	s->index = linear_of(n, w->read->args[s->dim]);
	s->step = s->index.affine ? s->index.coef[s->loop] : 0;
	return has_step(s) && find_span(n, s);
}

/* Whether the loops are complete, with few terms and enough results. */
static bool has_loops(const nest *n, const window *w)
{
	int64_t terms = 1, points = n->loops[w->cols.loop].extent;
	for (int l = 0; l < n->n; l++) {
		int64_t extent = n->loops[l].extent;
		if (n->loops[l].part != LOOP_WHOLE)
			return false;
		if (!n->loops[l].reduced)
			continue;
		if (!extent || extent > MOST_TERMS / terms)
			return false;
		terms *= extent;
	}
	if (w->rows.loop >= 0 && points < LEAST_POINTS)
		points *= n->loops[w->rows.loop].extent;
	return terms > 1 && points >= LEAST_POINTS;
}

static bool has_types(const emitter *g, const kexpr *read)
{
	dtype t = read->type, sum = accumulator_of(g->k);
	return (t == DT_F32 || t == DT_F64) && g->k->body->type == sum &&
	       (sum == t || sum == DT_I64);
}

static bool find_window(const emitter *g, window *w)
{
	const nest *n = &g->p.nest;
	const kexpr *other;
	*w = (window){ .cols.loop = g->s.inner };
	w->read = find_read(n, g->k->body, g->s.inner);
	if (!w->read || !has_types(g, w->read))
		return false;
	other = w->read->guarded ? w->read->args[w->read->nargs - 1] : NULL;
	if (other && (loops_of(n, other) || kx_has_read(other)))
		return false;
	return find_cols(n, w) && find_rows(n, w) && has_loops(n, w) &&
	       stays(g, g->k->body, w);
}

/* ---- the plane --------------------------------------------------------- */

/* The index of a side at the first element of the plane. */
static const char *print_first(emitter *g, const side *s)
{
	linear x = s->index;
	const char *moved = "0";
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].reduced || l == s->loop)
			x.coef[l] = 0;
	if (s->loop >= 0)
		moved = arena_printf(g->p.a, "%" PRId64 " * %s", s->step,
				     stretch(g, s->loop, 0));
	return arena_printf(g->p.a, "%s + %s + (%" PRId64 ")",
			    print_linear(&g->p, &x, -1), moved, s->least);
}

/* The number of results along a side. */
static const char *print_length(emitter *g, const side *s)
{
	if (s->loop < 0)
		return "1";
	return arena_printf(g->p.a, "(%s - %s)", stretch(g, s->loop, 1),
			    stretch(g, s->loop, 0));
}

/* The address in the input of column 0 of the current row. */
static const char *print_row(emitter *g, const window *w)
{
	const char *x = g->p.input[w->read->input];
	const char *at = arena_printf(g->p.a, "%s_at", x);
	for (int d = 0; d < w->cols.dim; d++) {
		linear i = linear_of(&g->p.nest, w->read->args[d]);
		at = arena_printf(g->p.a, "%s + (%s) * %s_%d", at,
				  d == w->rows.dim
					  ? "tdl_row"
					  : print_linear(&g->p, &i, -1),
				  x, d);
	}
	return at;
}

/* Whether the current row is inside the input, in C. */
static const char *print_row_inside(emitter *g, const window *w)
{
	const char *s = "true";
	for (int d = 0; d < w->cols.dim; d++) {
		linear i = linear_of(&g->p.nest, w->read->args[d]);
		if (needs_check(&g->p, w->read, d))
			s = arena_printf(
				g->p.a, "%s && tdl_inside(%s, %" PRId64 ")", s,
				d == w->rows.dim
					? "tdl_row"
					: print_linear(&g->p, &i, -1),
				g->k->inputs[w->read->input].dims[d]);
	}
	return s;
}

static void emit_plane(emitter *g, const window *w)
{
	const kexpr *e = w->read;
	int64_t si = w->rows.step, sj = w->cols.step;
	SAY("const int64_t tdl_first = %s;", print_first(g, &w->cols));
	SAY("const int64_t tdl_last = tdl_first + (%s - 1) * %" PRId64
	    " + %" PRId64 ";",
	    print_length(g, &w->cols), sj, w->cols.span);
	OPEN("for (int64_t tdl_y = 0; tdl_y < (%s - 1) * %" PRId64
	     " + %" PRId64 "; tdl_y++)",
	     print_length(g, &w->rows), si, w->rows.span);
	if (w->rows.dim >= 0)
		SAY("const int64_t tdl_row = %s + tdl_y;",
		    print_first(g, &w->rows));
	SAY("tdl_window_row_%s(tdl_plane + tdl_y %% %" PRId64 " * %" PRId64
	    " * tdl_size + tdl_y / %" PRId64 " * tdl_pitch,",
	    type_suffix(e->type), si, sj, si);
	SAY("\ttdl_size, %" PRId64 ", tdl_first, tdl_last, %s,", sj,
	    g->p.input[e->input]);
	SAY("\t%s, %" PRId64 ", %s,", print_row(g, w),
	    g->k->inputs[e->input].dims[w->cols.dim],
	    e->guarded ? print_expr(&g->p, e->args[e->nargs - 1]) : "0");
	SAY("\t%s);", print_row_inside(g, w));
	CLOSE();
}

/* ---- the terms --------------------------------------------------------- */

/* The distance along a side of a term given by the values `at' of its loops. */
static int64_t distance(const nest *n, const side *s, const int64_t *at)
{
	int64_t d = -s->least;
	for (int l = 0; s->dim >= 0 && l < n->n; l++)
		if (n->loops[l].reduced)
			d += s->index.coef[l] * at[l];
	return d;
}

static void emit_one_term(emitter *g, const window *w, const int64_t *at)
{
	const nest *n = &g->p.nest;
	int64_t y = distance(n, &w->rows, at), x = distance(n, &w->cols, at);
	int64_t si = w->rows.step, sj = w->cols.step;
	const char *name = arena_printf(
		g->p.a,
		"tdl_plane[tdl_q + %" PRId64 " * tdl_size + %" PRId64
		" * tdl_pitch + %" PRId64 "]",
		y % si * sj + x % sj, y / si, x / sj);
	text_block(&g->t);
	for (int l = 0; l < n->n; l++)
		if (n->loops[l].reduced)
			SAY("const int64_t %s = %" PRId64 ";", loop_name(g, l),
			    at[l]);
	vec_push(g->p.a, &g->p.loaded, ((named){ w->read, name }));
	emit_term(g, "sum");
	g->p.loaded.n--;
	CLOSE();
}

/* Emits all terms in order. */
static void emit_terms(emitter *g, const window *w)
{
	const nest *n = &g->p.nest;
	int64_t at[MAX_LOOPS] = { 0 };
	guard_state before = g->p.guard;
	int l;
	g->p.guard = GUARD_INSIDE;
	do {
		emit_one_term(g, w, at);
		for (l = n->n - 1; l >= 0; l--) {
			if (!n->loops[l].reduced)
				continue;
			if (++at[l] < n->loops[l].extent)
				break;
			at[l] = 0;
		}
	} while (l >= 0);
	g->p.guard = before;
}

/* ---- the whole --------------------------------------------------------- */

/* Whether all terms are asked for, in C. */
static const char *print_all_terms(emitter *g)
{
	const nest *n = &g->p.nest;
	const char *s = print_some(g);
	for (int l = 0; l < n->n; l++) {
		const char *x = loop_name(g, l);
		if (n->loops[l].reduced)
			s = arena_printf(
				g->p.a, "%s%s%s_lo == 0 && %s_hi == %" PRId64,
				s ? s : "", s ? " && " : "", x, x,
				n->loops[l].extent);
	}
	return s;
}

/* Opens loops over the results whose windows fit in a plane.  Returns how
 * many. */
static int open_parts(emitter *g, const window *w)
{
	int64_t si = w->rows.step, sj = w->cols.step;
	open_stretches(g, w->cols.loop, "TDL_WINDOW_COLS");
	SAY("const int64_t tdl_pitch = %s + %" PRId64 ";",
	    print_length(g, &w->cols), (w->cols.span - 1) / sj);
	if (w->rows.loop < 0)
		return 1;
	SAY("const int64_t tdl_most = tdl_max(1, TDL_WINDOW_SIZE / (%" PRId64
	    " * tdl_pitch) - %" PRId64 ");",
	    si * sj, (w->rows.span - 1) / si);
	open_stretches(g, w->rows.loop, "tdl_most");
	return 2;
}

/* Whether an epilogue reads something besides the sum that moves with some
 * loops. */
static bool moves_with(const emitter *g, const kexpr *e, loop_set moved)
{
	bool any = !e->nargs && loops_of(&g->p.nest, e) & moved;
	if (kx_equal(e, g->own))
		return false;
	for (int i = 0; i < e->nargs && !any; i++)
		any = moves_with(g, e->args[i], moved);
	return any;
}

/* Whether all sums are treated alike, so that this can be done before they are
 * stored. */
static bool treats_alike(const emitter *g, const window *w)
{
	loop_set moved = loop_bit(w->cols.loop);
	if (w->rows.loop >= 0)
		moved |= loop_bit(w->rows.loop);
	return !g->epilogue || !moves_with(g, g->epilogue, moved);
}

static void store_element(emitter *g, const window *w, const char *sum)
{
	if (treats_alike(g, w))
		SAY("%s = %s;", print_result(&g->p), sum);
	else
		emit_sum(g, sum);
}

/* Opens one loop over all elements, including those between rows; or a loop
 * over each row. */
static int open_all(emitter *g, const window *w)
{
	SAY("const int64_t tdl_n = (%s - 1) * tdl_pitch + %s;",
	    print_length(g, &w->rows), print_length(g, &w->cols));
	OPEN("for (int64_t tdl_q = 0; tdl_q < (tdl_n + 15) / 16 * 16; "
	     "tdl_q++)");
	return 1;
}

/* Opens the loop of rows, if there is one; a row begins at tdl_row_at. */
static int open_rows(emitter *g, const window *w)
{
	int i = w->rows.loop;
	const char *y = i < 0 ? NULL : loop_name(g, i);
	if (y)
		OPEN("for (int64_t %s = %s; %s < %s; %s++)", y,
		     stretch(g, i, 0), y, stretch(g, i, 1), y);
	else
		text_block(&g->t);
	SAY("const int64_t tdl_row_at = %s;",
	    y ? arena_printf(g->p.a, "(%s - %s) * tdl_pitch", y,
			     stretch(g, i, 0))
	      : "0");
	return 1;
}

static int open_elements(emitter *g, const window *w)
{
	int n = open_rows(g, w), j = w->cols.loop;
	const char *x = loop_name(g, j);
	OPEN("for (int64_t %s = %s; %s < %s; %s++)", x, stretch(g, j, 0), x,
	     stretch(g, j, 1), x);
	SAY("const int64_t tdl_q = tdl_row_at + %s - %s;", x, stretch(g, j, 0));
	return n + 1;
}

/* Whether a row of sums is stored as it is, to elements of the result that lie
 * beside each other. */
static bool stores_rows(const emitter *g, const window *w)
{
	const kernel *k = g->k;
	int v = g->p.nest.loops[w->cols.loop].var;
	return treats_alike(g, w) && accumulator_of(k) == k->type &&
	       w->read->type == k->type && v == k->nout - 1 && g->p.by[v] <= 1;
}

static void store_rows(emitter *g, const window *w)
{
	int n = open_rows(g, w), j = w->cols.loop;
	SAY("const int64_t %s = %s;", loop_name(g, j), stretch(g, j, 0));
	SAY("tdl_copy_row_%s(&%s, tdl_sums + tdl_row_at, %s);",
	    type_suffix(g->k->type), print_result(&g->p),
	    print_length(g, &w->cols));
	close_loops(g, n);
}

static void store_sums(emitter *g, const window *w)
{
	if (stores_rows(g, w)) {
		store_rows(g, w);
		return;
	}
	int n = open_elements(g, w);
	store_element(g, w, "tdl_sums[tdl_q]");
	close_loops(g, n);
}

static void emit_part(emitter *g, const window *w)
{
	const char *type = type_of_value(accumulator_of(g->k));
	SAY("const int64_t tdl_size = tdl_pitch * (%s + %" PRId64 ");",
	    print_length(g, &w->rows), (w->rows.span - 1) / w->rows.step);
	emit_plane(g, w);
	int n = w->beside ? open_elements(g, w) : open_all(g, w);
	SAY("%s sum = %s;", type, print_identity(g));
	emit_terms(g, w);
	SAY("tdl_sums[tdl_q] = %s;",
	    treats_alike(g, w)
		    ? print_reduced(g, "sum", accumulator_of(g->k))
		    : "sum");
	close_loops(g, n);
	store_sums(g, w);
}

void emit_window(emitter *g)
{
	window w;
	loop_set out = loops_that(g, false);
	if (!find_window(g, &w))
		return;
	const char *type = type_of_value(w.read->type);
	const char *sums = type_of_value(accumulator_of(g->k));
	OPEN("if (%s)", print_all_terms(g));
	SAY("%s *const restrict tdl_plane = args->scratch;", type);
	SAY("%s *const restrict tdl_sums = (void *)(tdl_plane + "
	    "TDL_WINDOW_PLANE);", sums);
	out = set_without(set_without(out, w.rows.loop), w.cols.loop);
	int n = open_loops(g, out);
	n += open_parts(g, &w);
	emit_part(g, &w);
	close_loops(g, n);
	SAY("return args->fault.found ? TDL_INDEX_OUTSIDE : 0;");
	CLOSE();
}

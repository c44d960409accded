/* A sum of products: the functions that tdl/product.h asks for. */
#include "config.h"

#include "compiler/codegen/emit.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* A walk over two spaces, each of them loops that are one after the other:
 * the points [first, first + n) of the outer one, and for each of them the
 * points [first, first + n) of the inner one, in runs of its last loop. */
typedef struct side {
	loop_set loops;
	const char *first, *n; /* in C */
} side;

/* ---- the factors' type ------------------------------------------------- */

/* The type in which a product is computed. */
static dtype product_type(const kernel *k)
{
	dtype t = k->body->type;
	return t == DT_F64 ? DT_F64 : dtype_is_float(t) ? DT_F32 : DT_I64;
}

/* ---- walking ----------------------------------------------------------- */

/* <loop>_first: the position of point `first` of the side. */
static void emit_decode(emitter *g, const side *s)
{
	loop_set left = s->loops;
	if (!left)
		return;
	text_block(&g->t);
	SAY("int64_t at = %s;", s->first);
	while (left) {
		int l = set_last(left);
		const char *x = loop_name(g, l);
		left &= ~loop_bit(l);
		SAY("%s_first = %s_lo + at %% (%s_hi - %s_lo);", x, x, x, x);
		if (left)
			SAY("at /= %s_hi - %s_lo;", x, x);
	}
	CLOSE();
}

static void declare_firsts(emitter *g, const side *s)
{
	for (int l = 0; l < g->p.nest.n; l++)
		if (s->loops & loop_bit(l))
			SAY("int64_t %s_first;", loop_name(g, l));
	emit_decode(g, s);
}

static void declare_loops(emitter *g, const side *s)
{
	for (int l = 0; l < g->p.nest.n; l++)
		if (s->loops & loop_bit(l))
			SAY("int64_t %s = %s_first;", loop_name(g, l),
			    loop_name(g, l));
}

/* Goes to the next point of some loops. */
static void emit_next(emitter *g, loop_set s)
{
	int opened = 0;
	while (s) {
		int l = set_last(s);
		const char *x = loop_name(g, l);
		s &= ~loop_bit(l);
		if (!s) {
			SAY("%s++;", x);
			break;
		}
		OPEN("if (++%s == %s_hi)", x, x);
		SAY("%s = %s_lo;", x, x);
		opened++;
	}
	while (opened--)
		CLOSE();
}

/* The statement of a run, and its position in the packed panel. */
typedef struct walk {
	const kexpr *e;
	statement *st;
	const char *outer_step, *inner_step; /* NULL: 1 */
	const char *whole; /* the usual length of a run; NULL: there is none */
	const char *run; /* the first point of the run at hand */
	int inner;	 /* the loop of runs; -1 */
	loop_set loops;	 /* of both spaces */
} walk;

/* Has what follows a whole run of a tile brought nearer, before the next panel
 * of columns needs it. */
static void emit_fetch(emitter *g, const walk *w, const char *at)
{
	SAY("tdl_fetch_%s(&%s + %s);", type_suffix(product_type(g->k)), at,
	    w->whole);
}

/* The same of all that an epilogue reads beside the sum, in the run. */
static void emit_read_fetches(emitter *g, const walk *w, const kexpr *e)
{
	if (g->own && kx_equal(e, g->own))
		return;
	if (e->kind == KX_READ && step_of(&g->p.nest, e, w->inner) == 1 &&
	    g->k->inputs[e->input].type == product_type(g->k))
		emit_fetch(g, w, print_expr(&g->p, e));
	for (int i = 0; i < e->nargs; i++)
		emit_read_fetches(g, w, e->args[i]);
}

/* Loops that go in turns have their variables inside of a run alone. */
static void emit_fetches(emitter *g, const walk *w)
{
	if (g->s.nturns)
		return;
	if (g->k->type == product_type(g->k))
		emit_fetch(g, w, print_result(&g->p));
	emit_read_fetches(g, w, w->e);
}

/* The inner space of a walk, with `to` at its first element. */
static void emit_runs(emitter *g, const side *s, walk *w)
{
	const char *x;
	w->inner = set_last(s->loops);
	if (w->inner < 0) {
		emit_run(g, -1, "", "", w->e, w->st, w);
		return;
	}
	x = loop_name(g, w->inner);
	declare_loops(g, s);
	OPEN("for (int64_t left = %s; left > 0;)", s->n);
	SAY("const int64_t run = %s;", x);
	SAY("const int64_t stop = tdl_min(%s_hi, run + left);", x);
	w->run = "run";
	if (w->whole) {
		OPEN("if (stop - run == %s)", w->whole);
		emit_fetches(g, w);
		emit_whole_run(g, w->inner, "run", w->whole, w->e, w->st, w);
		CLOSE();
		OPEN("else");
	}
	emit_run(g, w->inner, "run", "stop", w->e, w->st, w);
	if (w->whole)
		CLOSE();
	SAY("to += (stop - run)%s%s;", w->inner_step ? " * " : "",
	    w->inner_step ? w->inner_step : "");
	SAY("left -= stop - run;");
	SAY("%s = %s_lo;", x, x);
	emit_next(g, s->loops & ~loop_bit(w->inner));
	CLOSE();
}

/* The variables of loops that go in turns. */
static void emit_turned(emitter *g, loop_set s)
{
	for (; s; s &= s - 1)
		if (g->p.nest.loops[set_first(s)].part == LOOP_TURN)
			emit_whole(g, set_first(s));
}

/* `type` is that of the panel. */
static void emit_walk(emitter *g, const side *outer, const side *inner, walk *w,
		      const char *type)
{
	w->loops = outer->loops | inner->loops;
	declare_firsts(g, outer);
	declare_firsts(g, inner);
	declare_loops(g, outer);
	OPEN("for (int64_t line = 0; line < %s; line++)", outer->n);
	SAY("%s *to = panel + line%s%s;", type, w->outer_step ? " * " : "",
	    w->outer_step ? w->outer_step : "");
	emit_runs(g, inner, w);
	emit_next(g, outer->loops);
	CLOSE();
}

/* The element of the panel that belongs to the point at hand. */
static const char *print_place(emitter *g, const walk *w)
{
	const char *x;
	if (w->inner < 0)
		return "*to";
	x = loop_name(g, w->inner);
	if (!w->inner_step)
		return arena_printf(g->p.a, "to[%s - %s]", x, w->run);
	return arena_printf(g->p.a, "to[(%s - %s) * %s]", x, w->run,
			    w->inner_step);
}

/* ---- packing ----------------------------------------------------------- */

static void pack_element(emitter *g, const void *arg)
{
	const walk *w = arg;
	emit_turned(g, set_without(w->loops, w->inner));
	SAY("%s = %s;", print_place(g, w), print_expr(&g->p, w->e));
}

static void declare_outer(emitter *g)
{
	int n = 0;
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->s.outer & loop_bit(l))
			SAY("const int64_t %s = product->at[%d];",
			    loop_name(g, l), n++);
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->s.outer & loop_bit(l))
			emit_whole(g, l);
	for (int l = 0; l < g->p.nest.n; l++) {
		const char *x = g->p.var[g->p.nest.loops[l].var];
		if (g->p.nest.loops[l].part != LOOP_TURN)
			continue;
		SAY("const int64_t %s_r = product->at[%d];", x, n++);
		SAY("const int64_t %s_n = product->at[%d];", x, n++);
	}
}

/* Runs go along the panel, or along the depth where that is how a factor's
 * memory lies; where it lies in both ways, as that of a window does, along the
 * depth if runs along the panel are short beside those. */
static bool runs_along_depth(const emitter *g, const kexpr *e, loop_set s)
{
	enum { SHORT = 8, LONGER = 2 };
	const nest *n = &g->p.nest;
	int across = set_last(s), depth = set_last(g->s.depth);
	if (across < 0 || depth < 0)
		return across < 0;
	if (step_of(n, e, depth) >= FAR_STEP)
		return false;
	return step_of(n, e, across) >= FAR_STEP ||
	       (n->loops[across].extent < SHORT &&
		n->loops[across].extent * LONGER <= n->loops[depth].extent);
}

static void emit_pack(emitter *g, const char *name, const kexpr *e, loop_set s,
		      const char *step)
{
	dtype t = product_type(g->k);
	const char *type = type_of_value(t);
	side across = {s, "first", "count"};
	side depth = {g->s.depth, "depth", "ndepth"};
	walk w = {.e = e, .st = pack_element};
	OPEN("static void TDL_PART(%s)(const tdl_product *product, int64_t "
	     "depth, "
	     "int64_t ndepth, int64_t first, int64_t count, void *panel_)",
	     name);
	SAY("tdl_args *args = product->args;");
	SAY("%s *panel = panel_;", type);
	emit_inputs(g, e);
	emit_constants(g, e);
	declare_outer(g);
	emit_bounds_of(g, s | g->s.depth);
	emit_merge(g, g->s.depth, e, false);
	emit_merge(g, s, e, false);
	if (runs_along_depth(g, e, s)) {
		w.inner_step = step;
		emit_walk(g, &across, &depth, &w, type);
	} else {
		w.outer_step = step;
		emit_walk(g, &depth, &across, &w, type);
	}
	CLOSE();
	SAY("%s", "");
}

/* ---- storing ----------------------------------------------------------- */

static void store_element(emitter *g, const void *arg)
{
	dtype t = product_type(g->k);
	const walk *w = arg;
	emit_turned(g, set_without(w->loops, w->inner));
	SAY("%s = %s;", print_result(&g->p),
	    print_reduced(g, print_place(g, w), t));
}

static bool store_runs_along_rows(const emitter *g)
{
	return set_last(g->s.rows) > set_last(g->s.cols);
}

static void emit_store(emitter *g)
{
	const char *type = type_of_value(product_type(g->k));
	const char *step = arena_printf(g->p.a, "TDL_COLS(%s)", type);
	side rows = {g->s.rows, "row", "nrows"};
	side cols = {g->s.cols, "col", "ncols"};
	kexpr nothing = {.kind = KX_INT, .type = DT_I64};
	const kexpr *e = g->epilogue ? g->epilogue : &nothing;
	walk w = {.e = e, .st = store_element};
	OPEN("static void TDL_PART(store)(const tdl_product *product, int64_t "
	     "row, "
	     "int64_t nrows, int64_t col, int64_t ncols, const void *tile)");
	SAY("tdl_args *args = product->args;");
	SAY("const %s *panel = tile;", type);
	emit_inputs(g, e);
	emit_result(g);
	emit_constants(g, e);
	declare_outer(g);
	emit_bounds_of(g, g->s.rows | g->s.cols);
	emit_merge(g, g->s.rows, e, true);
	emit_merge(g, g->s.cols, e, true);
	type = arena_printf(g->p.a, "const %s", type);
	if (store_runs_along_rows(g)) {
		w.inner_step = step;
		emit_walk(g, &cols, &rows, &w, type);
	} else {
		w.outer_step = step;
		w.whole = step;
		emit_walk(g, &rows, &cols, &w, type);
	}
	CLOSE();
	SAY("%s", "");
}

static const char *print_count(emitter *g, loop_set s)
{
	const char *n = "1";
	for (int l = 0; l < g->p.nest.n; l++) {
		const char *x = loop_name(g, l);
		if (s & loop_bit(l))
			n = arena_printf(g->p.a, "%s * (%s_hi - %s_lo)", n, x,
					 x);
	}
	return n;
}

/* ---- factors that are kept ---------------------------------------------- */

/* "(x_hi - x_lo)" of the whole run. */
static const char *print_whole(emitter *g, int l)
{
	int v = g->p.nest.loops[l].var;
	return arena_printf(g->p.a, "(kept->hi[%d] - kept->lo[%d])", v, v);
}

/* Goes from the number in `to' of a point of the loops before l to that of one
 * with l, at `x'. */
static void emit_number(emitter *g, const char *to, int l, const char *x)
{
	SAY("%s = %s * %s + %s - kept->lo[%d];", to, to, print_whole(g, l), x,
	    g->p.nest.loops[l].var);
}

static void emit_kept(emitter *g, int which, const char *name, loop_set own,
		      const char *tile)
{
	const char *count = "1";
	OPEN("if (kept && kept->at[%d])", which);
	SAY("int64_t at = 0, first = 0;");
	for (int l = 0; l < g->p.nest.n; l++) {
		const char *x = loop_name(g, l);
		if (g->s.outer & loop_bit(l))
			emit_number(g, "at", l, x);
		if (!(own & loop_bit(l)))
			continue;
		emit_number(g, "first", l, arena_printf(g->p.a, "%s_lo", x));
		count = arena_printf(g->p.a, "%s * %s", count,
				     print_whole(g, l));
	}
	SAY("const int64_t all = (%s + %s - 1) / %s * %s;", count, tile, tile,
	    tile);
	SAY("product.%s.kept = (%s *)kept->at[%d] + (at * all + first) * "
	    "product.depth;", name, type_of_value(product_type(g->k)), which);
	CLOSE();
}

/* The answer of a kernel that is asked for the factors that it can keep. */
static void emit_keeps(emitter *g, const kept_factor *f,
		       const char *const *tile)
{
	OPEN("if (args->keeps)");
	for (int i = 0; i < KEPT_SIDES; i++)
		if (f[i].inputs)
			SAY("args->keeps[%d] = (tdl_keeps){ %" PRIu32
			    ", %" PRIu32 ", %" PRIu32 ", %" PRIu32
			    ", %d, %s };", i, f[i].inputs, f[i].outer,
			    f[i].own, f[i].depth, f[i].size, tile[i]);
	SAY("return 0;");
	CLOSE();
}

/* ---- turns ------------------------------------------------------------- */

static const char *turned_name(emitter *g, int l)
{
	return g->p.var[g->p.nest.loops[l].var];
}

/* The remainder of a turn's sum for the class of elements at hand, and for the
 * class of terms, in C; 0 where there are no classes. */
static const char *print_remainder(emitter *g, const turn *t)
{
	linear rest = t->sum;
	const char *sum;
	rest.coef[t->row] = 0;
	if (t->term >= 0)
		rest.coef[t->term] = 0;
	sum = arena_printf(g->p.a, "%" PRId64 " * %s_r + %s",
			   t->sum.coef[t->row], turned_name(g, t->row),
			   print_linear(&g->p, &rest, -1));
	if (t->term >= 0)
		sum = arena_printf(g->p.a, "%s + %" PRId64 " * %s_r", sum,
				   t->sum.coef[t->term],
				   turned_name(g, t->term));
	return arena_printf(g->p.a, "tdl_turns * tdl_mod(%s, %" PRId64 ")", sum,
			    t->by);
}

/* Whether the class of elements at hand has terms, besides what `some` says. */
static const char *print_has_terms(emitter *g, const char *some)
{
	for (int i = 0; i < g->s.nturns; i++) {
		const turn *t = &g->s.turns[i];
		const char *x = turned_name(g, t->term < 0 ? t->row : t->term);
		const char *one =
			t->term < 0 ? arena_printf(g->p.a, "%s == 0",
						   print_remainder(g, t))
				    : arena_printf(g->p.a, "%s_r < %s_n", x, x);
		some = arena_printf(g->p.a, "%s%s%s", some ? some : "",
				    some ? " && " : "", one);
	}
	return some;
}

/* <variable>_n, the number of classes: one where terms cannot be left out. */
static void emit_classes(emitter *g)
{
	const kexpr *e = g->s.finite;
	int v = e ? e->args[0]->var : -1;
	if (!g->s.nturns)
		return;
	SAY("const bool tdl_turns = tdl_finite_%s(&args->in[%d], %s, %s);",
	    type_suffix(e->type), e->input, print_bound(&g->p, v, false),
	    print_bound(&g->p, v, true));
	for (int i = 0; i < g->s.nturns; i++) {
		const turn *t = &g->s.turns[i];
		SAY("const int64_t %s_n = tdl_turns ? %" PRId64 " : 1;",
		    turned_name(g, t->row), t->by);
		if (t->term >= 0)
			SAY("const int64_t %s_n = tdl_turns ? %" PRId64
			    " : 1;", turned_name(g, t->term), t->step);
	}
}

/* Opens a loop over the classes of each condition, in which <variable>_r is
 * that of the elements, and that of the terms: the number of classes for none.
 */
static int open_classes(emitter *g)
{
	for (int i = 0; i < g->s.nturns; i++) {
		const turn *t = &g->s.turns[i];
		const char *x = turned_name(g, t->row);
		OPEN("for (int64_t %s_r = 0; %s_r < %s_n; %s_r++)", x, x, x,
		     x);
		if (t->term < 0)
			continue;
		const char *y = turned_name(g, t->term);
		SAY("int64_t %s_r = 0;", y);
		SAY("while (%s_r < %s_n && %s)", y, y, print_remainder(g, t));
		SAY("\t%s_r++;", y);
	}
	return g->s.nturns;
}

/* The bounds of loops that go in turns, of a class. */
static void emit_turn_bounds(emitter *g)
{
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].part == LOOP_TURN)
			emit_bounds(g, l);
}

/* ---- the product ------------------------------------------------------- */

/* Computes the product, or packs what is kept. */
static void emit_work(emitter *g, const kept_factor *keeps)
{
	const char *t = type_suffix(product_type(g->k));
	if (keeps[KEPT_ROWS].inputs || keeps[KEPT_COLS].inputs) {
		SAY("if (kept && kept->fill)");
		SAY("\ttdl_fill_%s(&product);", t);
		SAY("else");
		SAY("\ttdl_product_%s(&product);", t);
	} else {
		SAY("tdl_product_%s(&product);", t);
	}
}

static void emit_call(emitter *g, const kept_factor *keeps,
		      const char *const *tile)
{
	const char *some = print_has_terms(g, print_some(g));
	const char *depth = print_count(g, g->s.depth);
	const dtype type = product_type(g->k);
	int n = 0;
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->s.outer & loop_bit(l))
			SAY("product.at[%d] = %s;", n++, loop_name(g, l));
	for (int l = 0; l < g->p.nest.n; l++) {
		const char *x = g->p.var[g->p.nest.loops[l].var];
		if (g->p.nest.loops[l].part != LOOP_TURN)
			continue;
		SAY("product.at[%d] = %s_r;", n++, x);
		SAY("product.at[%d] = %s_n;", n++, x);
	}
	SAY("product.rows = %s;", print_count(g, g->s.rows));
	SAY("product.cols = %s;", print_count(g, g->s.cols));
	if (some)
		SAY("product.depth = %s ? %s : 0;", some, depth);
	else
		SAY("product.depth = %s;", depth);
	emit_in_memory(g, "left", g->s.left, g->s.rows, type);
	emit_in_memory(g, "right", g->s.right, g->s.cols, type);
	emit_planes(g, "left", g->s.left, g->s.rows);
	emit_planes(g, "right", g->s.right, g->s.cols);
	if (keeps[KEPT_ROWS].inputs)
		emit_kept(g, KEPT_ROWS, "left", g->s.rows, tile[KEPT_ROWS]);
	if (keeps[KEPT_COLS].inputs)
		emit_kept(g, KEPT_COLS, "right", g->s.cols, tile[KEPT_COLS]);
	emit_work(g, keeps);
}

void emit_product(emitter *g)
{
	const char *type = type_of_value(product_type(g->k));
	const char *const tile[] = {
		[KEPT_ROWS] = "TDL_ROWS",
		[KEPT_COLS] = arena_printf(g->p.a, "TDL_COLS(%s)", type)
	};
	kept_factor keeps[KEPT_SIDES];
	schedule_keeps(&g->s, g->k, keeps);
	emit_pack(g, "pack_rows", g->s.left, g->s.rows, tile[KEPT_ROWS]);
	emit_pack(g, "pack_cols", g->s.right, g->s.cols, tile[KEPT_COLS]);
	emit_store(g);
	OPEN("int TDL_KERNEL(tdl_args *args)");
	if (keeps[KEPT_ROWS].inputs || keeps[KEPT_COLS].inputs) {
		SAY("const tdl_kept *kept = args->kept;");
		emit_keeps(g, keeps, tile);
	}
	emit_empty(g);
	SAY("tdl_product product = { .args = args, .left = { .pack = "
	    "TDL_PART(pack_rows) },");
	SAY("\t\t\t.right = { .pack = TDL_PART(pack_cols) },");
	SAY("\t\t\t.store = TDL_PART(store) };");
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].part != LOOP_REMAINDER &&
		    g->p.nest.loops[l].part != LOOP_TURN)
			emit_bounds(g, l);
	emit_classes(g);
	int opened = open_loops(g, g->s.outer) + open_classes(g);
	emit_turn_bounds(g);
	for (int l = 0; l < g->p.nest.n; l++)
		if (g->p.nest.loops[l].part == LOOP_REMAINDER &&
		    !(g->s.outer & loop_bit(l)))
			emit_bounds(g, l);
	emit_call(g, keeps, tile);
	close_loops(g, opened);
	emit_end(g);
}

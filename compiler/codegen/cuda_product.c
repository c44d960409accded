/* CUDA for sums of products: tiles in shared memory, by tdl_sums() of
 * tdl/cuda.h. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include <inttypes.h>
#include <stdlib.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

enum { PIECE = 16 }; /* bytes copied by one instruction */

bool cuda_has_tiles(const schedule *s)
{
	for (int l = 0; l < s->nest.n; l++)
		if (s->nest.loops[l].part == LOOP_REMAINDER &&
		    !(s->outer & loop_bit(l)))
			return false;
	return true;
}

/* ---- the tile ---------------------------------------------------------- */

typedef struct tile {
	int rows, cols, a, b, depth; /* as in tdl_tile */
	bool is_long;
} tile;

/* The type of accumulators and factors. */
static const char *tile_type(const kernel *k)
{
	dtype t = k->body->type;
	if (dtype_is_float(t))
		return t == DT_F64 ? "double" : "float";
	return dtype_size(t) > 4 ? "uint64_t" : "uint32_t";
}

/* Whether tensor cores compute the sums; only sums computed in f32 may use
 * them. */
static bool is_on_cores(const emitter *g)
{
	return dtype_is_float(g->k->body->type) && g->k->body->type != DT_F64;
}

/* The type of factors on tensor cores that can represent all numbers of a type.
 * f16 can represent floats of 8 bits, except f8e8m0, which has the range of
 * f32. */
static dtype kind_of(dtype t)
{
	if (t == DT_BF16 || t == DT_F16)
		return t;
	return dtype_is_float(t) && dtype_size(t) == 1 && t != DT_F8E8M0 ?
		       DT_F16 :
		       DT_F32;
}

/* The type for a factor, from the type in which it is read or to which it was
 * last rounded.  A cast to a shorter type may leave that type's range. */
static dtype factor_type(const kexpr *e)
{
	if (e->kind == KX_CAST && dtype_is_float(e->type))
		return dtype_is_small_float(e->type) &&
				       e->type != e->args[0]->type ?
			       kind_of(e->type) :
			       factor_type(e->args[0]);
	if (e->kind != KX_READ)
		return DT_F32;
	if (e->guarded) {
		const kexpr *beyond = e->args[e->nargs - 1];
		if (beyond->kind != KX_FLOAT || beyond->f != 0)
			return DT_F32;
	}
	return kind_of(e->type);
}

/* The type for both factors. */
static dtype factors_type(const emitter *g)
{
	dtype l = factor_type(g->s.left), r = factor_type(g->s.right);
	return l == r ? l : DT_F32;
}

/* The name of the factors' type in tdl/tensor_cores.h. */
static const char *factors_of(const emitter *g)
{
	dtype t = factors_type(g);
	return t == DT_BF16 ? "bf16" : t == DT_F16 ? "f16" : "f32";
}

/* Whether a cast does not change the value. */
static bool keeps_value(const kexpr *e)
{
	dtype from = e->args[0]->type;
	return dtype_is_float(from) && dtype_is_float(e->type) &&
	       (e->type == from || dtype_size(e->type) > dtype_size(from)) &&
	       !dtype_is_small_float(e->type);
}

/* One side of the product, whose factors form a tile. */
typedef struct side {
	const char *name;  /* "row" or "col" */
	const kexpr *e;	   /* the factor */
	loop_set loops;	   /* loops of the side's elements */
	var_set vars;	   /* variables of these */
	const kexpr *read; /* the read that may be copied; NULL: none */
	bool along;	   /* stored along the depth, not across it */
} side;

/* The distance in memory of elements that are one step apart in a loop, for a
 * tensor without gaps; at most FAR_STEP. */
static int64_t memory_step(const emitter *g, const kexpr *read, int l)
{
	const kinput *in = &g->k->inputs[read->input];
	int64_t step = 0, size = 1;
	for (int d = in->ndim - 1; d >= 0; d--) {
		int64_t c = linear_of(&g->p.nest, read->args[d]).coef[l];
		if (c && (size >= FAR_STEP || llabs(c) >= FAR_STEP))
			return FAR_STEP;
		step += c * size;
		size = in->dims[d] > FAR_STEP / size ? FAR_STEP
						     : size * in->dims[d];
		size = size > 0 ? size : 1;
	}
	return step;
}

/* Whether the last of some loops goes from each element to the next in
 * memory. */
static bool lies_along(const emitter *g, const kexpr *read, loop_set loops)
{
	int l = set_last(loops);
	return l >= 0 && g->p.nest.loops[l].part == LOOP_WHOLE &&
	       memory_step(g, read, l) == 1;
}

/* The read that the factor consists of, if memory has it in the form that
 * tensor cores take; otherwise NULL. */
static const kexpr *copied_read(const emitter *g, const kexpr *e)
{
	cuda_reads f = {.g = g, .loop = -1};
	while (e->kind == KX_CAST && keeps_value(e))
		e = e->args[0];
	return e->kind == KX_READ && e->type == factors_type(g) &&
			       cuda_is_plain(&f, e)
		       ? e
		       : NULL;
}

static int64_t ceil_of(int64_t n, int64_t d)
{
	return (n + d - 1) / d;
}

/* Chooses the tile: large ones if there are enough of them for all
 * multiprocessors.  If there are few tiles and the depth is long, small ones
 * whose threads share the depth. */
static tile tile_for(const emitter *g, var_set rows, var_set cols,
		     var_set outer, var_set depth)
{
	enum { CAP = 1 << 30, ENOUGH = 256, FEW = 64, LONG = 512 };
	const kernel *k = g->k;
	int64_t m = cuda_points(k, rows, CAP), n = cuda_points(k, cols, CAP);
	int64_t o = cuda_points(k, outer, CAP), d = cuda_points(k, depth, CAP);
	bool is_long = d > LONG && dtype_is_float(k->body->type) &&
		       k->body->type != DT_F64;
	bool is_word = dtype_size(k->body->type) <= 4;
	if (is_word && m >= 96 && n >= 96 &&
	    o * ceil_of(m, 128) * ceil_of(n, 128) >= ENOUGH)
		return (tile){128, 128, 8, 8, 8, is_long};
	if (o * ceil_of(m, 64) * ceil_of(n, 64) >= FEW || d < LONG)
		return (tile){64, 64, 4, 4, 16, is_long};
	return (tile){32, 32, 4, 4, 32, is_long};
}

/* Divides variables for the launch into tiles.  Each variable gets tiles of its
 * own, together at least `of' elements. */
static void divide(cuda_text *c, var_set s, int64_t of)
{
	for (int v = c->g.k->nvars - 1; v >= 0; v--) {
		if (!(s & var_bit(v)))
			continue;
		int64_t n = c->g.k->vars[v].extent;
		int64_t own = n > 0 && n < of ? n : of;
		cuda_tile(c, v, own);
		of = of / own > 1 ? of / own : 1;
	}
}

static void emit_tile(emitter *g, const tile *t)
{
	const char *type = tile_type(g->k);
	bool is_float = is_on_cores(g);
	SAY("typedef %s<%s%s, %d, %d, %d, %d, %d> tile;",
	    is_float ? "tdl_tile_of" : "tdl_tile",
	    is_float ? arena_printf(g->p.a, "tdl_%s", factors_of(g)) : type,
	    is_float ? "_factors" : "", t->rows, t->cols, t->a, t->b, t->depth);
	SAY("__shared__ __align__(16) %s shared[tile::shared];", type);
}

/* ---- factors ----------------------------------------------------------- */

/* Whether a factor is stored along the depth, and not along its own side. */
static bool is_along_depth(const emitter *g, const kexpr *e, loop_set loops)
{
	const nest *n = &g->p.nest;
	int along = set_last(g->s.depth), across = set_last(loops);
	if (along < 0 || step_of(n, e, along) >= FAR_STEP)
		return false;
	return across < 0 || step_of(n, e, across) >= FAR_STEP ||
	       step_of(n, e, across) == 0;
}

static side side_of(const emitter *g, const char *name, const kexpr *e,
		    loop_set loops)
{
	side s = {.name = name,
		  .e = e,
		  .loops = loops,
		  .vars = vars_of_loops(&g->p.nest, loops),
		  .along = is_along_depth(g, e, loops)};
	const kexpr *read = is_on_cores(g) ? copied_read(g, e) : NULL;
	if (read && lies_along(g, read, g->s.depth)) {
		s.read = read;
		s.along = true;
	} else if (read && lies_along(g, read, loops)) {
		s.read = read;
		s.along = false;
	}
	return s;
}

static void decode_factor(emitter *g, const side *s)
{
	cuda_decode(g, s->vars, "at");
	cuda_decode(g, vars_of_loops(&g->p.nest, g->s.depth), "depth_at");
}

/* Emits a function that gives the factor at a place in the tile's side and in
 * the depth. */
static void emit_factor(emitter *g, const char *name, const side *s,
			bool depth_first)
{
	const char *type = tile_type(g->k);
	const char *first = depth_first ? "depth_at" : "at";
	const char *second = depth_first ? "at" : "depth_at";
	bool cast = !dtype_is_float(s->e->type);
	OPEN("const auto %s = [&](TDL_INT %s, TDL_INT %s) -> %s", name, first,
	     second, type);
	SAY("at += %s_0;", s->name);
	SAY("if (at >= %ss || depth_at >= depths)", s->name);
	SAY("\treturn 0;");
	decode_factor(g, s);
	if (cast)
		SAY("return (%s)(%s);", type, print_expr(&g->p, s->e));
	else
		SAY("return %s;", print_expr(&g->p, s->e));
	g->t.depth--;
	SAY("};");
}

/* Emits a function that gives the address of a factor. */
static void emit_place(emitter *g, const char *name, const side *s)
{
	OPEN("const auto %s_at = [&](TDL_INT at, TDL_INT depth_at) -> const "
	     "void *", name);
	SAY("at += %s_0;", s->name);
	SAY("if (at >= %ss || depth_at >= depths)", s->name);
	SAY("\treturn nullptr;");
	decode_factor(g, s);
	SAY("return &%s;", print_element_at(&g->p, s->read));
	g->t.depth--;
	SAY("};");
}

/* Emits a loop's addition to `pieces'. */
static void emit_loop(emitter *g, const side *s, int l, bool inside)
{
	const loop *p = &g->p.nest.loops[l];
	int64_t coef[MAX_NDIM];
	int ndim = kx_ndim(s->read);
	for (int d = 0; d < ndim; d++)
		coef[d] = linear_of(&g->p.nest, s->read->args[d]).coef[l];
	const char *step =
		print_step(g, g->p.input[s->read->input], coef, ndim);
	if (p->part == LOOP_WHOLE) {
		SAY("pieces.%s(%s_n, %s);", inside ? "inside" : "around",
		    p->name, step);
		return;
	}
	if (inside)
		SAY("pieces.close();");
	SAY("pieces.around(2, %s);", step);
}

/* Emits the test whether the factors of a side are stored in pieces that can be
 * copied. */
static void emit_pieces(emitter *g, const side *s)
{
	loop_set all = all_loops(&g->p.nest);
	loop_set inside = s->along ? g->s.depth : s->loops;
	int n = PIECE / (int)dtype_size(s->read->type);
	text_block(&g->t);
	SAY("tdl_pieces<%d> pieces;", n);
	for (int l = set_last(inside); l >= 0; l = set_last(inside)) {
		emit_loop(g, s, l, true);
		inside &= ~loop_bit(l);
		all &= ~loop_bit(l);
	}
	for (int l = 0; l < g->p.nest.n; l++)
		if (all & loops_of(&g->p.nest, s->read) & loop_bit(l))
			emit_loop(g, s, l, false);
	cuda_first(g, vars_of_loops(&g->p.nest, all_loops(&g->p.nest)));
	SAY("fits = fits && pieces.lie_at(&%s);",
	    print_element_at(&g->p, s->read));
	CLOSE();
}

/* Emits the sums.  Factors that are copied have a place. */
static void emit_sums(emitter *g, const tile *t, const side *left,
		      const side *right)
{
	bool copies = left->read || right->read;
	emit_factor(g, "left", left, false);
	emit_factor(g, "right", right, true);
	if (left->read)
		emit_place(g, "left", left);
	if (right->read)
		emit_place(g, "right", right);
	SAY("%s sum[tile::a][tile::b];", tile_type(g->k));
	SAY("tile::sums<%s, %s, %s>(sum, shared, depths, left, right%s%s%s);",
	    t->is_long ? "true" : "false", left->along ? "true" : "false",
	    right->along ? "true" : "false", copies ? ", fits" : "",
	    !copies	 ? ""
	    : left->read ? ", left_at"
			 : ", tdl_nowhere()",
	    right->read ? ", right_at" : "");
}

/* ---- the result -------------------------------------------------------- */

static void emit_tile_store(emitter *g, var_set rows, var_set cols)
{
	dtype type = g->k->body->type;
	dtype from = type == DT_F64	     ? DT_F64
		     : dtype_is_float(type) ? DT_F32
					     : DT_I64;
	SAY("#pragma unroll");
	OPEN("for (int row = 0; row < tile::a; row++)");
	SAY("TDL_INT row_at = row_0 + tile::row(row);");
	SAY("if (!tile::has_result() || row_at >= rows)");
	SAY("\tbreak;");
	SAY("const auto total = sum[row];");
	cuda_decode(g, rows, "row_at");
	SAY("#pragma unroll");
	OPEN("for (int col = 0; col < tile::b; col++)");
	SAY("TDL_INT col_at = col_0 + tile::col(col);");
	SAY("if (col_at >= cols)");
	SAY("\tbreak;");
	SAY("const %s value = total[col];", tile_type(g->k));
	cuda_decode(g, cols, "col_at");
	SAY("%s = %s;", print_result(&g->p),
	    print_element(&g->p, "value", from, g->k->type));
	CLOSE();
	CLOSE();
}

void cuda_product(cuda_text *c)
{
	emitter *g = &c->g;
	const nest *n = &g->p.nest;
	const schedule *s = &g->s;
	var_set rows = vars_of_loops(n, s->rows);
	var_set cols = vars_of_loops(n, s->cols);
	var_set outer = vars_of_loops(n, s->outer);
	side left = side_of(g, "row", s->left, s->rows);
	side right = side_of(g, "col", s->right, s->cols);
	tile t = tile_for(g, rows, cols, outer, all_reduced(g->k));
	divide(c, outer, 1);
	divide(c, rows, t.rows);
	divide(c, cols, t.cols);
	cuda_head(c, g->k->body, CUDA_THREADS, 0);
	emit_tile(g, &t);
	SAY("const TDL_INT rows = %s, cols = %s;", cuda_count(g, rows),
	    cuda_count(g, cols));
	SAY("const TDL_INT depths = %s;", cuda_count(g, all_reduced(g->k)));
	SAY("const TDL_INT row_tiles = tdl_ceil_div(rows, (TDL_INT)%d);",
	    t.rows);
	SAY("const TDL_INT col_tiles = tdl_ceil_div(cols, (TDL_INT)%d);",
	    t.cols);
	if (left.read || right.read)
		SAY("bool fits = true;");
	if (left.read)
		emit_pieces(g, &left);
	if (right.read)
		emit_pieces(g, &right);
	cuda_items(g, arena_printf(g->p.a, "%s * row_tiles * col_tiles",
				   cuda_count(g, outer)));
	SAY("TDL_INT outer_at = item;");
	SAY("const TDL_INT col_0 = tdl_digit(outer_at, col_tiles) * %d;",
	    t.cols);
	SAY("const TDL_INT row_0 = tdl_digit(outer_at, row_tiles) * %d;",
	    t.rows);
	cuda_decode(g, outer, "outer_at");
	emit_sums(g, &t, &left, &right);
	emit_tile_store(g, rows, cols);
	cuda_end(g);
}

/* CUDA for kernels that reduce nothing: vectors along memory, and squares
 * through shared memory if an input is stored across the result. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

enum { SQUARE = 32, MAX_STAGED = 4 };

static void store_body(emitter *g)
{
	SAY("%s = %s;", print_result(&g->p),
	    print_stored(&g->p, g->k->body, g->k->type));
}

/* ---- vectors ----------------------------------------------------------- */

static void emit_vectors(emitter *g, const cuda_reads *f, int n, var_set out)
{
	OPEN("for (TDL_INT item = blockIdx.x; vectors && item < items; item += "
	     "gridDim.x)");
	SAY("TDL_INT at = (item * %d + threadIdx.x) * %d;", CUDA_THREADS, n);
	SAY("if (at >= elements)");
	SAY("\tcontinue;");
	SAY("%s all;", cuda_vector_type(g, g->k->type, n));
	cuda_open_vector(g, f, n, out, true);
	SAY("all.at[unit] = %s;", print_stored(&g->p, g->k->body, g->k->type));
	cuda_close_vector(g);
	SAY("tdl_store(result, all);");
	CLOSE();
	SAY("if (vectors)");
	SAY("\treturn;");
}

/* ---- squares ----------------------------------------------------------- */

/* Whether memory is read in order along the outer loop of a square, and not
 * along the innermost loop. */
static bool is_across(const cuda_reads *f, const kexpr *e)
{
	const emitter *g = f->g;
	int64_t step = step_of(&g->p.nest, e, g->s.across);
	return f->n < MAX_STAGED && cuda_is_plain(f, e) && step > 0 &&
	       step < FAR_STEP &&
	       step_of(&g->p.nest, e, g->s.inner) >= FAR_STEP;
}

static void declare_tiles(emitter *g, const cuda_reads *f)
{
	for (int i = 0; i < f->n; i++)
		SAY("__shared__ %s tile%d[%d][%d];",
		    type_of_element(f->reads[i]->type), i, SQUARE, SQUARE + 1);
}

/* Opens one of the two loops over a square: `row' runs along one variable, the
 * lanes of a warp along the other. */
static void open_square(emitter *g, const char *slow, const char *fast)
{
	SAY("#pragma unroll");
	OPEN("for (int row = threadIdx.x / %d; row < %d; row += %d)", SQUARE,
	     SQUARE, CUDA_THREADS / SQUARE);
	SAY("const TDL_INT %s = %s_0 + row, %s = %s_0 + lane;", slow, slow,
	    fast, fast);
	OPEN("if (%s < %s_lo + %s_n && %s < %s_lo + %s_n)", slow, slow, slow,
	     fast, fast, fast);
}

static void emit_squares(cuda_text *c, const cuda_reads *f, var_set out)
{
	emitter *g = &c->g;
	const char *x = loop_name(g, g->s.across);
	const char *y = loop_name(g, g->s.inner);
	int across = g->p.nest.loops[g->s.across].var;
	int inner = g->p.nest.loops[g->s.inner].var;
	var_set outer = out & ~var_bit(across) & ~var_bit(inner);
	for (int v = 0; v < g->k->nout; v++)
		if (out & var_bit(v))
			cuda_tile(c, v, v == across || v == inner ? SQUARE : 1);
	declare_tiles(g, f);
	SAY("const int lane = threadIdx.x %% %d;", SQUARE);
	SAY("const TDL_INT rows = tdl_ceil_div(%s_n, (TDL_INT)%d);", x, SQUARE);
	SAY("const TDL_INT cols = tdl_ceil_div(%s_n, (TDL_INT)%d);", y, SQUARE);
	cuda_items(g, arena_printf(g->p.a, "%s * rows * cols",
				   cuda_count(g, outer)));
	SAY("TDL_INT at = item;");
	SAY("const TDL_INT %s_0 = %s_lo + tdl_digit(at, cols) * %d;", y, y,
	    SQUARE);
	SAY("const TDL_INT %s_0 = %s_lo + tdl_digit(at, rows) * %d;", x, x,
	    SQUARE);
	cuda_decode(g, outer, "at");
	open_square(g, y, x);
	for (int i = 0; i < f->n; i++)
		SAY("tile%d[row][lane] = %s;", i,
		    print_element_at(&g->p, f->reads[i]));
	CLOSE();
	CLOSE();
	SAY("__syncthreads();");
	for (int i = 0; i < f->n; i++)
		vec_push(g->p.a, &g->p.loaded,
			 ((named){f->reads[i], arena_printf(
						       g->p.a,
						       "tile%d[lane][row]",
						       i)}));
	open_square(g, x, y);
	store_body(g);
	CLOSE();
	CLOSE();
	SAY("__syncthreads();");
	g->p.loaded.n = 0;
	cuda_end(g);
}

/* ---- maps -------------------------------------------------------------- */

static void emit_rows(cuda_text *c, var_set out)
{
	emitter *g = &c->g;
	cuda_reads f = {.g = g, .loop = -1};
	cuda_merge(c, false, g->k->body, true);
	if (g->s.inner >= 0 &&
	    g->p.nest.loops[g->s.inner].var == g->k->nout - 1)
		f.loop = g->s.inner;
	int n = cuda_vector_length(&f, g->k->body, dtype_size(g->k->type));
	int per_item = CUDA_THREADS * n;
	cuda_tile(c, -1, per_item);
	SAY("const TDL_INT elements = %s;", cuda_count(g, out));
	SAY("const TDL_INT items = tdl_ceil_div(elements, (TDL_INT)%d);",
	    per_item);
	if (n > 1) {
		cuda_check_vectors(g, &f, n, out, true);
		emit_vectors(g, &f, n, out);
	}
	OPEN("for (TDL_INT item = blockIdx.x; item < items; item += "
	     "gridDim.x)");
	if (n > 1)
		OPEN("for (int unit = 0; unit < %d; unit++)", n);
	SAY("TDL_INT at = item * %d + threadIdx.x%s;", per_item,
	    n > 1 ? arena_printf(g->p.a, " + unit * %d", CUDA_THREADS) : "");
	SAY("if (at >= elements)");
	SAY("\tbreak;");
	cuda_decode(g, out, "at");
	store_body(g);
	if (n > 1)
		CLOSE();
	cuda_end(g);
}

void cuda_map(cuda_text *c)
{
	emitter *g = &c->g;
	var_set out = cuda_vars(g, false);
	cuda_reads f = {.g = g, .loop = g->s.across, .wanted = is_across};
	cuda_head(c, g->k->body, CUDA_THREADS, out);
	if (g->s.across >= 0)
		cuda_find_reads(&f, g->k->body);
	if (f.n)
		emit_squares(c, &f, out);
	else
		emit_rows(c, out);
}

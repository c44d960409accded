/* CUDA of what reduces nothing: vectors along memory, squares through shared
 * memory where an input lies across the result. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include <inttypes.h>

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

enum { VECTOR = 16, SQUARE = 32, MAX_STAGED = 4, MAX_VECTORS = 8 };

static void store_body(emitter *g)
{
	SAY("%s = %s;", print_result(&g->p),
	    print_stored(&g->p, g->k->body, g->k->type));
}

/* ---- reads that are always made ---------------------------------------- */

/* Which reads to look for. */
typedef struct finder {
	const emitter *g;
	bool (*wanted)(const emitter *g, const kexpr *read);
	int n, most;
	const kexpr *reads[MAX_VECTORS];
} finder;

static void note_read(finder *f, const kexpr *e)
{
	for (int i = 0; i < f->n; i++)
		if (kx_equal(f->reads[i], e))
			return;
	if (f->n < f->most && f->wanted(f->g, e))
		f->reads[f->n++] = e;
}

/* Reads outside of conditions: they are inside their inputs. */
static void find_reads(finder *f, const kexpr *e)
{
	bool is_lazy = e->kind == KX_SELECT ||
		       (e->kind == KX_FN &&
			(e->fn == FN_AND || e->fn == FN_OR));
	if (e->kind == KX_READ) {
		note_read(f, e);
		return;
	}
	for (int i = 0; i < (is_lazy ? 1 : e->nargs); i++)
		find_reads(f, e->args[i]);
}

static bool is_plain(const emitter *g, const kexpr *e)
{
	for (int d = 0; d < kx_ndim(e); d++)
		if (needs_check(&g->p, e, d) ||
		    !linear_of(&g->p.nest, e->args[d]).affine)
			return false;
	return true;
}

/* How far a read goes in memory along a loop: 0 nowhere, 1 to the next
 * element. */
static int64_t stride_along(const emitter *g, const kexpr *e, int l)
{
	return step_of(&g->p.nest, e, l);
}

/* ---- vectors ----------------------------------------------------------- */

static bool is_along_memory(const emitter *g, const kexpr *e)
{
	int last = kx_ndim(e) - 1, inner = g->s.inner;
	return last >= 0 && is_plain(g, e) && stride_along(g, e, inner) == 1 &&
	       linear_of(&g->p.nest, e->args[last]).coef[inner] == 1;
}

/* What has to be a multiple of the vector's length: how far outer loops go. */
static void check_steps(emitter *g, const char *name, int ndim, int n,
			const linear *x)
{
	int64_t coef[MAX_NDIM];
	for (int l = 0; l < g->p.nest.n; l++) {
		const loop *p = &g->p.nest.loops[l];
		if (l == g->s.inner)
			continue;
		for (int d = 0; d < ndim; d++)
			coef[d] = x[d].coef[l];
		const char *step = print_step(g, name, coef, ndim);
		if (*step == '0')
			continue;
		if (p->part == LOOP_WHOLE)
			SAY("vectors = vectors && (%s_n == 1 || (%s) %% %d == "
			    "0);", p->name, step, n);
		else
			SAY("vectors = vectors && (%s) %% %d == 0;", step, n);
	}
}

static void check_read(emitter *g, const kexpr *e, int n)
{
	linear x[MAX_NDIM];
	for (int d = 0; d < kx_ndim(e); d++)
		x[d] = linear_of(&g->p.nest, e->args[d]);
	SAY("vectors = vectors && tdl_fits(&%s, %d);",
	    print_element_at(&g->p, e), n);
	check_steps(g, g->p.input[e->input], kx_ndim(e), n, x);
}

static void check_result(emitter *g, int n)
{
	linear x[MAX_NDIM];
	for (int v = 0; v < g->k->nout; v++) {
		int l = g->p.nest.first[v];
		x[v] = (linear){.affine = true};
		if (l < 0)
			continue;
		x[v].coef[l] = g->p.nest.loops[l].divisor;
		if (g->p.nest.loops[l].part == LOOP_QUOTIENT)
			x[v].coef[l + 1] = 1;
	}
	SAY("vectors = vectors && tdl_fits(&%s, %d);", print_result(&g->p), n);
	check_steps(g, g->p.out, g->k->nout, n, x);
}

/* How many elements a vector has: 16 bytes of the largest type; 1 for none. */
static int vector_length(emitter *g, const finder *f)
{
	size_t size = dtype_size(g->k->type);
	if (g->s.inner < 0 || g->p.nest.loops[g->s.inner].part != LOOP_WHOLE ||
	    g->p.nest.loops[g->s.inner].var != g->k->nout - 1)
		return 1;
	for (int i = 0; i < f->n; i++)
		if (dtype_size(f->reads[i]->type) > size)
			size = dtype_size(f->reads[i]->type);
	return VECTOR / (int)size;
}

/* Whether rows consist of whole vectors that begin where vectors may lie. */
static void emit_checks(emitter *g, const finder *f, int n, var_set out)
{
	SAY("bool vectors = %s_n %% %d == 0;", loop_name(g, g->s.inner), n);
	text_block(&g->t);
	cuda_first(g, out);
	for (int i = 0; i < f->n; i++)
		check_read(g, f->reads[i], n);
	check_result(g, n);
	CLOSE();
}

static const char *vector_type(emitter *g, dtype t, int n)
{
	return arena_printf(g->p.a, "tdl_vector<%s, %d>", type_of_element(t),
			    n);
}

/* The vector at point `at` of the result's part. */
static void emit_vector(emitter *g, const finder *f, int n, var_set out)
{
	const char *x = loop_name(g, g->s.inner);
	int last = g->p.nest.loops[g->s.inner].var;
	SAY("const TDL_INT first = %s_lo + tdl_digit(at, %s_n);", x, x);
	cuda_decode(g, out & ~var_bit(last), "at");
	text_block(&g->t);
	SAY("const TDL_INT %s = first;", x);
	SAY("result = &%s;", print_result(&g->p));
	for (int i = 0; i < f->n; i++)
		SAY("part%d = tdl_load<%d>(&%s);", i, n,
		    print_element_at(&g->p, f->reads[i]));
	CLOSE();
	for (int i = 0; i < f->n; i++)
		vec_push(g->p.a, &g->p.loaded,
			 ((named){f->reads[i],
				  arena_printf(g->p.a, "part%d.at[unit]", i)}));
	SAY("#pragma unroll");
	OPEN("for (int unit = 0; unit < %d; unit++)", n);
	SAY("const TDL_INT %s = first + unit;", x);
	SAY("all.at[unit] = %s;", print_stored(&g->p, g->k->body, g->k->type));
	CLOSE();
	SAY("tdl_store(result, all);");
	g->p.loaded.n = 0;
}

static void emit_vectors(emitter *g, const finder *f, int n, var_set out)
{
	OPEN("for (TDL_INT item = blockIdx.x; vectors && item < items; item += "
	     "gridDim.x)");
	SAY("TDL_INT at = (item * %d + threadIdx.x) * %d;", CUDA_THREADS, n);
	SAY("if (at >= elements)");
	SAY("\tcontinue;");
	SAY("%s *result;", type_of_element(g->k->type));
	SAY("%s all;", vector_type(g, g->k->type, n));
	for (int i = 0; i < f->n; i++)
		SAY("%s part%d;", vector_type(g, f->reads[i]->type, n), i);
	emit_vector(g, f, n, out);
	CLOSE();
	SAY("if (vectors)");
	SAY("\treturn;");
}

/* ---- squares ----------------------------------------------------------- */

/* Whether memory is read in order along the loop across, and not along the
 * innermost one. */
static bool is_across(const emitter *g, const kexpr *e)
{
	int64_t step = stride_along(g, e, g->s.across);
	return is_plain(g, e) && step > 0 && step < FAR_STEP &&
	       stride_along(g, e, g->s.inner) >= FAR_STEP;
}

static void declare_tiles(emitter *g, const finder *f)
{
	for (int i = 0; i < f->n; i++)
		SAY("__shared__ %s tile%d[%d][%d];",
		    type_of_element(f->reads[i]->type), i, SQUARE, SQUARE + 1);
}

/* One of the two loops over a square: `row` along one variable, the lanes of a
 * warp along the other. */
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

static void emit_squares(cuda_text *c, const finder *f, var_set out)
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
			 ((named){f->reads[i],
				  arena_printf(g->p.a, "tile%d[lane][row]", i)}));
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
	finder f = {.g = g, .wanted = is_along_memory, .most = MAX_VECTORS};
	cuda_merge(c, false, g->k->body, true);
	if (g->s.inner >= 0)
		find_reads(&f, g->k->body);
	int n = vector_length(g, &f);
	int per_item = CUDA_THREADS * n;
	cuda_tile(c, -1, per_item);
	SAY("const TDL_INT elements = %s;", cuda_count(g, out));
	SAY("const TDL_INT items = tdl_ceil_div(elements, (TDL_INT)%d);",
	    per_item);
	if (n > 1) {
		emit_checks(g, &f, n, out);
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
	finder f = {.g = g, .wanted = is_across, .most = MAX_STAGED};
	cuda_head(c, g->k->body, CUDA_THREADS);
	if (g->s.across >= 0)
		find_reads(&f, g->k->body);
	if (f.n)
		emit_squares(c, &f, out);
	else
		emit_rows(c, out);
}

/* Generates CUDA for kernels: declarations, points, items. */
#include "config.h"

#include "compiler/codegen/cuda.h"

#include <inttypes.h>

#include "compiler/codegen/codegen.h"

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* ---- variables --------------------------------------------------------- */

var_set vars_of_loops(const nest *n, loop_set s)
{
	var_set vars = 0;
	for (int l = 0; l < n->n; l++)
		if (s & loop_bit(l))
			vars |= var_bit(n->loops[l].var);
	return vars;
}

var_set cuda_vars(const emitter *g, bool reduced)
{
	return vars_of_loops(&g->p.nest, loops_that(g, reduced));
}

var_set all_reduced(const kernel *k)
{
	var_set s = 0;
	for (int v = 0; v < k->nvars; v++)
		if (k->vars[v].kind == KVAR_REDUCE)
			s |= var_bit(v);
	return s;
}

int64_t cuda_points(const kernel *k, var_set s, int64_t cap)
{
	int64_t n = 1;
	for (int v = 0; v < k->nvars && n; v++)
		if (s & var_bit(v))
			n = k->vars[v].extent > cap / n
				    ? cap
				    : n * k->vars[v].extent;
	return n;
}

/* ---- declarations ------------------------------------------------------ */

static uint32_t inputs_of(const kexpr *e)
{
	uint32_t s = e->kind == KX_READ ? (uint32_t)1 << e->input : 0;
	for (int i = 0; i < e->nargs; i++)
		s |= inputs_of(e->args[i]);
	return s;
}

static var_set vars_of(const kexpr *e)
{
	var_set s = e->kind == KX_VAR ? var_bit(e->var) : 0;
	for (int i = 0; i < e->nargs; i++)
		s |= vars_of(e->args[i]);
	return s;
}

/* Qualifies a pointer to memory that no other pointer leads to. */
static const char *if_apart(bool in_place)
{
	return in_place ? "" : "__restrict__ ";
}

static void declare_inputs(emitter *g, const kexpr *e)
{
	uint32_t used = inputs_of(e);
	for (int i = 0; i < g->k->ninputs; i++) {
		const kinput *in = &g->k->inputs[i];
		const char *type = type_of_element(in->type);
		if (!(used >> i & 1))
			continue;
		SAY("const %s *%s%s = (const %s *)TDL_IN(%d);", type,
		    if_apart(kernel_in_place(g->k, i)), g->p.input[i], type, i);
		for (int d = 0; d < in->ndim - 1; d++)
			SAY("const TDL_INT %s_%d = TDL_IN_STRIDE(%d, %d);",
			    g->p.input[i], d, i, d);
	}
}

static void declare_result(emitter *g)
{
	const char *type = type_of_element(g->k->type);
	SAY("%s *%s%s = (%s *)TDL_OUT;", type, if_apart(any_in_place(g->k)),
	    g->p.out, type);
	for (int d = 0; d < g->k->nout - 1; d++)
		SAY("const TDL_INT %s_%d = TDL_OUT_STRIDE(%d);", g->p.out, d,
		    d);
}

static void declare_bounds(emitter *g, const kexpr *e, var_set merges)
{
	var_set used = vars_of(e) | position_var(g->k);
	for (int v = 0; v < g->k->nvars; v++) {
		const char *x = g->p.var[v];
		if (g->k->vars[v].kind == KVAR_DERIVED)
			continue;
		if (g->p.nest.first[v] >= 0) {
			SAY("const TDL_INT %s_lo = TDL_LO(%d);", x, v);
			SAY("%sTDL_INT %s_n = TDL_COUNT(%d);",
			    merges & var_bit(v) ? "" : "const ", x, v);
		} else if (used & var_bit(v)) {
			SAY("const TDL_INT %s = 0;", x);
		}
	}
}

void cuda_head(cuda_text *c, const kexpr *e, int threads, var_set merges)
{
	emitter *g = &c->g;
	c->launch.threads = threads;
	OPEN("%s void TDL_KERNEL(const tdl_params p)",
	     threads > CUDA_THREADS
		     ? arena_printf(g->p.a, "TDL_GLOBAL_OF(%d)", threads)
		     : "TDL_GLOBAL");
	declare_inputs(g, e);
	declare_result(g);
	declare_bounds(g, e, merges);
}

void cuda_merge(cuda_text *c, bool reduced, const kexpr *e, bool result)
{
	emit_merge(&c->g, loops_that(&c->g, reduced), e, result);
}

const char *cuda_count(emitter *g, var_set s)
{
	const char *n = NULL;
	for (int v = 0; v < g->k->nvars; v++) {
		if (!(s & var_bit(v)))
			continue;
		const char *one = g->p.nest.first[v] >= 0
					  ? arena_printf(g->p.a, "%s_n",
							 g->p.var[v])
					  : arena_printf(g->p.a,
							 "TDL_COUNT(%d)", v);
		n = n ? arena_printf(g->p.a, "%s * %s", n, one) : one;
	}
	return n ? n : "1";
}

void cuda_parts(emitter *g, int v)
{
	const loop *p = &g->p.nest.loops[g->p.nest.first[v]];
	if (g->p.nest.first[v] < 0 || p->part != LOOP_QUOTIENT)
		return;
	SAY("const TDL_INT %s = %s / %" PRId64 ";", p[0].name, g->p.var[v],
	    p->divisor);
	SAY("const TDL_INT %s = %s %% %" PRId64 ";", p[1].name, g->p.var[v],
	    p->divisor);
}

void cuda_decode(emitter *g, var_set s, const char *at)
{
	for (int v = g->k->nvars - 1; v >= 0; v--) {
		const char *x = g->p.var[v];
		if (!(s & var_bit(v)) || g->p.nest.first[v] < 0)
			continue;
		if (s & (var_bit(v) - 1))
			SAY("const TDL_INT %s = %s_lo + tdl_digit(%s, %s_n);",
			    x, x, at, x);
		else
			SAY("const TDL_INT %s = %s_lo + %s;", x, x, at);
		cuda_parts(g, v);
	}
}

void cuda_first(emitter *g, var_set s)
{
	for (int v = 0; v < g->k->nvars; v++) {
		if (!(s & var_bit(v)))
			continue;
		SAY("const TDL_INT %s = %s_lo;", g->p.var[v], g->p.var[v]);
		cuda_parts(g, v);
	}
}

void cuda_loop(emitter *g, int v)
{
	const char *x = g->p.var[v];
	OPEN("for (TDL_INT %s = %s_lo; %s < %s_lo + %s_n; %s++)", x, x, x, x,
	     x, x);
	cuda_parts(g, v);
}

int cuda_loops(emitter *g, var_set s)
{
	int n = 0;
	for (int v = 0; v < g->k->nvars; v++)
		if (s & var_bit(v) && g->p.nest.first[v] >= 0) {
			cuda_loop(g, v);
			n++;
		}
	return n;
}

/* ---- items ------------------------------------------------------------- */

void cuda_tile(cuda_text *c, int var, int64_t of)
{
	c->tiles[c->launch.ntiles++] = (plan_tile){var, of};
}

void cuda_items(emitter *g, const char *items)
{
	SAY("const TDL_INT items = %s;", items);
	OPEN("for (TDL_INT item = blockIdx.x; item < items; item += "
	     "gridDim.x)");
}

void cuda_elements(emitter *g, const char *elements)
{
	SAY("const TDL_INT elements = %s;", elements);
	cuda_items(g, arena_printf(g->p.a,
				   "tdl_ceil_div(elements, (TDL_INT)%d)",
				   CUDA_THREADS));
	SAY("TDL_INT at = item * %d + threadIdx.x;", CUDA_THREADS);
	SAY("if (at >= elements)");
	SAY("\tbreak;");
}

void cuda_end(emitter *g)
{
	CLOSE();
	CLOSE();
}

/* ---- the stage --------------------------------------------------------- */

/* A product without tiles is treated like any other reduction. */
static schedule schedule_for_cuda(const kernel *k)
{
	schedule s = schedule_of(k);
	if (s.kind != SCHEDULE_PRODUCT || cuda_has_tiles(&s))
		return s;
	return (schedule){.kind = SCHEDULE_SINGLE,
			  .nest = nest_of(k, 0),
			  .term = k->body,
			  .across = -1};
}

char *codegen_cuda(arena *a, const kernel *k, plan_launch *launch)
{
	static void (*const emit[])(cuda_text *) = {
		[SCHEDULE_MAP] = cuda_map,
		[SCHEDULE_STRIP] = cuda_reduce,
		[SCHEDULE_SINGLE] = cuda_reduce,
		[SCHEDULE_PRODUCT] = cuda_product,
		[SCHEDULE_SCATTER] = cuda_scatter,
		[SCHEDULE_SCAN] = cuda_scan,
	};
	*launch = (plan_launch){0};
	if (k->opaque)
		return NULL;
	arena *work = arena_new();
	cuda_text c = {.g = {.t = {.a = work}, .k = k}};
	c.g.s = schedule_for_cuda(k);
	printer_init(&c.g.p, work, &c.g.s.nest, true);
	emit_comment(&c.g);
	emit[c.g.s.kind](&c);
	char *s = arena_strdup(a, cuda_tidy(work, text_end(&c.g.t)));
	*launch = c.launch;
	launch->tiles = ARENA_COPY(a, c.tiles, c.launch.ntiles);
	arena_free(work);
	return s;
}

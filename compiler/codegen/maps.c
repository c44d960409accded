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
	OPEN("for (int64_t %s = %s_0; %s < %s_1; %s++)", x, x, x, x, x);
	emit_run(g, inner, stretch(g, inner, 0), stretch(g, inner, 1),
		 g->k->body, store_body, NULL);
	close_loops(g, n + 3);
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

static void emit_reshaped(emitter *g, loop_set all)
{
	const char *when = NULL;
	name_reshaped(g, g->k->body, &when);
	if (!when)
		return;
	OPEN("if (%s)", when);
	int n = open_loops(g, set_without(all, g->s.inner));
	emit_inner_bounds(g);
	emit_run(g, g->s.inner, inner_bound(g, "lo"), inner_bound(g, "hi"),
		 g->k->body, store_body, NULL);
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
	emit_run(g, g->s.inner, inner_bound(g, "lo"), inner_bound(g, "hi"),
		 g->k->body, store_body, NULL);
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

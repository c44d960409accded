/* Factors of products that lie in memory: where, so that tdl/product.h reads or
 * copies them itself. */
#include "config.h"

#include "compiler/codegen/emit.h"

#define SAY(...)  text_line(&g->t, __VA_ARGS__)
#define OPEN(...) text_open(&g->t, __VA_ARGS__)
#define CLOSE()	  text_close(&g->t)

/* Whether e is an element of a tensor of type t, at an index that needs no
 * check and moves evenly with the loops of s and of the depth. */
static bool lies_in_memory(const emitter *g, const kexpr *e, loop_set s,
			   dtype t)
{
	const nest *n = &g->p.nest;
	int across = set_last(s), depth = set_last(g->s.depth);
	if (e->kind != KX_READ || across < 0 || depth < 0 ||
	    g->k->inputs[e->input].type != t)
		return false;
	for (int d = 0; d < kx_ndim(e); d++)
		if (!linear_of(n, e->args[d]).affine ||
		    needs_check(&g->p, e, d))
			return false;
	for (loop_set all = s | g->s.depth; all; all &= all - 1)
		if (n->loops[set_first(all)].part != LOOP_WHOLE)
			return false;
	return true;
}

/* All loops of s but the last one have one value; NULL where there is none. */
static const char *print_is_row(emitter *g, loop_set s, const char *before)
{
	for (s = set_without(s, set_last(s)); s; s &= s - 1) {
		const char *x = loop_name(g, set_first(s));
		before = arena_printf(g->p.a, "%s%s%s_hi - %s_lo == 1",
				      before ? before : "",
				      before ? " && " : "", x, x);
	}
	return before;
}

/* The distance of elements that are one apart in loop l. */
static const char *print_distance(emitter *g, const kexpr *e, int l)
{
	int64_t coef[MAX_NDIM];
	for (int d = 0; d < kx_ndim(e); d++)
		coef[d] = linear_of(&g->p.nest, e->args[d]).coef[l];
	return print_step(g, g->p.input[e->input], coef, kx_ndim(e));
}

/* The loop of s from one image of a batch to the next, each of which may be a
 * row, whose elements lie beside each other; -1. */
static int loop_of_images(const emitter *g, const kexpr *e, loop_set s)
{
	int last = set_last(s), first = s ? set_first(s) : -1;
	return first != last && step_of(&g->p.nest, e, last) == 1 ? first : -1;
}

/* Where there are several images, how long they are and how far apart. */
static void say_images(emitter *g, const char *name, const kexpr *e,
		       int images, int last)
{
	const char *x = loop_name(g, images), *y = loop_name(g, last);
	OPEN("if (%s_hi - %s_lo > 1)", x, x);
	SAY("product.%s.run = %s_hi - %s_lo;", name, y, y);
	SAY("product.%s.far = %s;", name, print_distance(g, e, images));
	CLOSE();
}

void emit_in_memory(emitter *g, const char *name, const kexpr *e, loop_set s,
		dtype t)
{
	loop_set all = s | g->s.depth;
	int images = loop_of_images(g, e, s), last = set_last(s);
	const char *when;
	if (!lies_in_memory(g, e, s, t))
		return;
	text_block(&g->t);
	emit_inputs(g, e);
	emit_constants(g, e);
	emit_bounds_of(g, all);
	emit_merge(g, g->s.depth, e, false);
	emit_merge(g, s, e, false);
	for (int l = 0; l < g->p.nest.n; l++)
		if (all & loop_bit(l))
			SAY("const int64_t %s = %s_lo;", loop_name(g, l),
			    loop_name(g, l));
	when = print_is_row(g, set_without(s, images), NULL);
	when = print_is_row(g, g->s.depth, when);
	OPEN("if (%s)", when ? when : "true");
	SAY("product.%s.at = &%s;", name, print_expr(&g->p, e));
	SAY("product.%s.depth = %s;", name,
	    print_distance(g, e, set_last(g->s.depth)));
	SAY("product.%s.step = %s;", name, print_distance(g, e, last));
	if (images >= 0)
		say_images(g, name, e, images, last);
	CLOSE();
	CLOSE();
}

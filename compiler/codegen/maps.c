/* The schedules that reduce nothing. */
#include "config.h"

#include "compiler/codegen/emit.h"

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

/* Two loops in squares, so that the elements of a cache line are used while it
 * is in the cache, along either loop. */
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

static void emit_rows(emitter *g, loop_set all)
{
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

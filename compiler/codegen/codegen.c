#include "config.h"

#include "compiler/codegen/codegen.h"

#include "compiler/codegen/emit.h"

void emit_comment(emitter *g)
{
	char *s = arena_printf(g->p.a, "%s: %s", g->k->name,
			       kernel_text(g->p.a, g->k));
	for (char *c = s; *c; c++)
		if ((c[0] == '*' && c[1] == '/') || *c == '\n')
			*c = ' ';
	text_line(&g->t, "/* %s */", s);
}

void emit_schedule(emitter *g)
{
	static void (*const emit[])(emitter *) = {
		[SCHEDULE_MAP] = emit_map,
		[SCHEDULE_STRIP] = emit_strip,
		[SCHEDULE_SINGLE] = emit_single,
		[SCHEDULE_PRODUCT] = emit_product,
		[SCHEDULE_SCATTER] = emit_scatter,
		[SCHEDULE_SCAN] = emit_scan,
	};
	emit[g->s.kind](g);
}

char *emit_kernel(arena *a, emitter *g)
{
	g->s = schedule_on_cpu(g->k);
	printer_init(&g->p, g->t.a, &g->s.nest, false);
	if (g->own)
		g->p.input[g->own->input] = g->p.out;
	emit_comment(g);
	char *comment = text_end(&g->t);
	g->t = (text){ .a = g->t.a };
	if (!emit_by_class(g))
		emit_schedule(g);
	return arena_printf(a, "%s%s%s%s", comment, print_numbers(&g->p, true),
			    text_end(&g->t), print_numbers(&g->p, false));
}

char *codegen_c(arena *a, const kernel *k)
{
	if (k->opaque)
		return NULL;
	arena *work = arena_new();
	emitter g = { .t = { .a = work }, .k = k };
	char *s = emit_kernel(a, &g);
	arena_free(work);
	return s;
}

void codegen_keep(plan *p, int64_t room)
{
	arena *work = arena_new();
	kept_factor *all = ARENA_ARRAY(work, kept_factor,
				       p->nkernels * KEPT_SIDES);
	for (int i = 0; i < p->nkernels; i++) {
		const kernel *k = p->kernels[i].kernel;
		if (k->opaque)
			continue;
		schedule s = schedule_on_cpu(k);
		schedule_keeps(&s, k, all + i * KEPT_SIDES);
	}
	p->kept_bytes = kept_plan_bytes(p, all, room);
	arena_free(work);
}

void codegen_sources(arena *a, plan_kernel *k)
{
	k->c = codegen_c(a, k->kernel);
	k->cuda = codegen_cuda(a, k->kernel, &k->launch);
}

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

char *codegen_c(arena *a, const kernel *k)
{
	static void (*const emit[])(emitter *) = {
		[SCHEDULE_MAP] = emit_map,
		[SCHEDULE_STRIP] = emit_strip,
		[SCHEDULE_SINGLE] = emit_single,
		[SCHEDULE_PRODUCT] = emit_product,
		[SCHEDULE_SCATTER] = emit_scatter,
		[SCHEDULE_SCAN] = emit_scan,
	};
	arena *work = arena_new();
	emitter g = {.t = {.a = work}, .k = k};
	char *s, *comment;
	if (k->opaque) {
		arena_free(work);
		return NULL;
	}
	g.s = schedule_of(k);
	schedule_fill(&g.s);
	schedule_turn(&g.s);
	printer_init(&g.p, work, &g.s.nest, false);
	emit_comment(&g);
	comment = text_end(&g.t);
	g.t = (text){ .a = work };
	emit[g.s.kind](&g);
	s = arena_printf(a, "%s%s%s%s", comment, print_numbers(&g.p, true),
			 text_end(&g.t), print_numbers(&g.p, false));
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
		schedule s = schedule_of(k);
		schedule_fill(&s);
		schedule_turn(&s);
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

#include "config.h"

#include "tests/unit/plan_of_seed.h"

#include <check.h>

#include "compiler/lower/lower.h"
#include "tests/unit/random_graph.h"

void seed_sources(arena *a, plan_kernel *pk)
{
	static const plan_tile tiles[] = { { -1, 7 }, { 0, 1 } };
	const kernel *k = pk->kernel;
	pk->c = arena_printf(a, "/* %s */\n\tint x = '\\n';\n", k->name);
	if (k->opaque)
		return;
	pk->cuda = arena_printf(a, "// %s\n", k->name);
	pk->launch = (plan_launch){ 32, 16, k->nout > 0 ? 2 : 1, tiles };
}

plan *plan_of_seed(arena *a, int seed)
{
	const lower_options o = { .algorithm = "random",
				  .codegen = seed % 2 ? seed_sources : NULL };
	rng r = rng_new((uint64_t)seed);
	graph *g = seed % 3 ? random_graph(a, &r, 1 + seed % 9)
			    : random_training(a, &r, 1 + seed % 9);
	assignment as = random_assignment(a, &r, g);
	plan *p = lower_plan(a, g, &as, &o, diag_sink_new(a));
	ck_assert_ptr_nonnull(p);
	return p;
}

plan *parse_plan(arena *a, const char *text, size_t len, diag_sink **s)
{
	*s = diag_sink_new(a);
	return plan_parse(a, *s, "x.plan", text, len);
}

#include "config.h"

#include "tests/fuzz/graph.h"

#include "compiler/codegen/codegen.h"
#include "compiler/lower/lower.h"
#include "compiler/planners/search.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/run.h"

enum { DEVICES = 2, MAX_NODES = 100, MAX_TENSORS = 400 };

/* The plan as its file brings it back. */
static plan *written_and_read(arena *a, const plan *p)
{
	size_t n;
	diag_sink *s = diag_sink_new(a);
	const char *path = "/proc/self/fd/fuzz.plan";
	const char *text = plan_text(a, p, path, &n);
	plan *q = plan_parse(a, s, path, text, n);
	for (int w = 0; q && w < mesh_workers(&q->mesh); w++)
		plan_check_worker(q, w, s, path);
	if (diag_errors(s))
		diag_print(s, stderr, false);
	FUZZ_CHECK(q && !diag_errors(s));
	return q;
}

void fuzz_plan(arena *a, diag_sink *s, const graph *g)
{
	const lower_options lower = { .algorithm = "tofu",
				      .codegen = codegen_sources,
				      .checksums = true };
	if (g->nnodes > MAX_NODES || g->ntensors > MAX_TENSORS ||
	    !graph_is_countable(g, DEVICES))
		return;
	search_result *r = search_plan(a, g, DEVICES, lower.algorithm);
	plan *p = lower_plan(a, g, &r->assignment, &lower, s);
	FUZZ_CHECK(!p == (diag_errors(s) > 0));
	if (!p)
		return;
	p = written_and_read(a, p);
	if (run_is_small(p))
		run_both(p);
}

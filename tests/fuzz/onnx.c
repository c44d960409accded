/* Fuzz target: ONNX models.  Import, shapes, a plan for two devices, its file;
 * and small ones are run, on two workers and on one. */
#include "config.h"

#include "compiler/codegen/codegen.h"
#include "compiler/lower/lower.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/run.h"

enum { DEVICES = 2, MAX_NODES = 100, MAX_TENSORS = 400 };

/* Symbolic sizes that models have, given as -D would. */
static const char *names[] = { "N", "batch", "batch_size", "unk__0" };
static const int64_t sizes[] = { 2, 3, 4, 5 };
enum { NSIZES = sizeof(sizes) / sizeof(*sizes) };

static graph *import(arena *a, diag_sink *s, const char *path)
{
	static arena *shared;
	static tdl_modules *library;
	bool used[NSIZES] = { 0 };
	const model_options o = { .nsizes = NSIZES, .size_names = names,
				  .sizes = sizes, .size_used = used };
	if (!library) {
		shared = arena_new();
		library = fuzz_library(shared);
	}
	return onnx_import(a, library, s, path, &o);
}

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

static void plan_graph(arena *a, diag_sink *s, const graph *g)
{
	const lower_options lower = { .algorithm = "tofu",
				      .codegen = codegen_c,
				      .checksums = true };
	if (g->nnodes > MAX_NODES || g->ntensors > MAX_TENSORS ||
	    graph_traffic(g) > INT64_MAX / 4 / DEVICES)
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	graph *g = import(a, s, fuzz_file(data, size));
	FUZZ_CHECK(!g == (diag_errors(s) > 0));
	if (g)
		plan_graph(a, s, g);
	fuzz_print(s);
	arena_free(a);
	return 0;
}

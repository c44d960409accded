/* Fuzz target: models in TDL.  The graph of each, as it is and as a step of its
 * training, and a plan for two devices; small ones are run, on two workers and
 * on one. */
#include "config.h"

#include <string.h>

#include "base/file.h"
#include "compiler/model/model.h"
#include "compiler/train/train.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graph.h"

enum { MAX_STEPS = 20000 };

/* The part of the library that models of tests call; all of it would take most
 * of the time. */
static const char *const library[] = {
	"conv.tdl", "elementwise.tdl", "linear.tdl", "loss.tdl", "norm.tdl",
	"optimizer.tdl", "reduce.tdl", "shape.tdl",
};
enum { NFILES = sizeof(library) / sizeof(*library) };

static tdl_modules *load(arena *a, diag_sink *s, const char *text, size_t size)
{
	const char *dir = fuzz_opdefs(), *files[NFILES];
	for (int i = 0; i < NFILES; i++)
		files[i] = path_join(a, dir, library[i]);
	tdl_modules *m = dsl_new(a, s, &dir, 1);
	dsl_set_library(m, files, NFILES);
	bool good = dsl_load_text(m, "fuzz.tdl", text, size);
	FUZZ_CHECK(good == !diag_errors(s));
	return good ? m : NULL;
}

static void build(const char *text, size_t size, int which, bool train)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	tdl_modules *m = load(a, s, text, size);
	const train_options training = { .optimizer = "sgd,momentum=0.9" };
	const model_options o = { .train = train ? &training : NULL,
				  .steps = MAX_STEPS };
	graph *g = m && which < strmap_count(m->models)
			   ? model_graph(a, m, s,
					 strmap_value(m->models, which), &o)
			   : NULL;
	FUZZ_CHECK(!m || which >= strmap_count(m->models) ||
		   !g == (diag_errors(s) > 0));
	if (g)
		fuzz_plan(a, s, g);
	fuzz_print(s);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	const char *text = arena_strndup(a, (const char *)data, size);
	for (int which = 0; which < 2; which++) {
		build(text, size, which, false);
		build(text, size, which, true);
	}
	arena_free(a);
	return 0;
}

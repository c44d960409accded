/* Fuzz target: ONNX models.  Import, shapes, a plan for two devices, its file;
 * small models are run, on two workers and on one.  The same is done for a step
 * of their training. */
#include "config.h"

#include "compiler/onnx/onnx.h"
#include "compiler/train/train.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/graph.h"

/* Symbolic sizes that models have, given as -D would. */
static const char *names[] = { "N", "batch", "batch_size", "unk__0" };
static const int64_t sizes[] = { 2, 3, 4, 5 };
enum { NSIZES = sizeof(sizes) / sizeof(*sizes) };

static graph *import(arena *a, diag_sink *s, const char *path,
		     const train_options *train)
{
	static arena *shared;
	static tdl_modules *library;
	bool used[NSIZES] = { 0 };
	const model_options o = { .nsizes = NSIZES, .size_names = names,
				  .sizes = sizes, .size_used = used,
				  .train = train };
	if (!library) {
		shared = arena_new();
		library = fuzz_library(shared);
	}
	return onnx_import(a, library, s, path, &o);
}

static bool plan_model(const char *path, const train_options *train)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	graph *g = import(a, s, path, train);
	FUZZ_CHECK(!g == (diag_errors(s) > 0));
	if (g)
		fuzz_plan(a, s, g);
	fuzz_print(s);
	arena_free(a);
	return g != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const train_options train = { .loss = "mse", .optimizer = "adamw",
				      .clip_norm = 1, .recompute = "sqrt" };
	const char *path = fuzz_file(data, size);
	if (plan_model(path, NULL))
		plan_model(path, &train);
	return 0;
}

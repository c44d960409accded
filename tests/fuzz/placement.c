/* Fuzz target: placement files, of a graph of three operators. */
#include "config.h"

#include "compiler/placement/placement_file.h"
#include "tests/fuzz/fuzz.h"

enum { DEVICES = 2, CORES = 1 };

static const cost_graph *three(arena *a)
{
	diag_sink *s = diag_sink_new(a);
	cost_builder *b = cost_builder_new(a, s, "three");
	for (int i = 0; i < 3; i++) {
		const char *id = arena_printf(a, "%d", i);
		cost_op op = { .id = id, .name = id, .ms = 1, .core_ms = 1,
			       .colour = -1, .mirror = -1 };
		cost_builder_result(b, cost_builder_op(b, &op), 1, 1);
	}
	cost_builder_edge(b, 0, 1);
	cost_builder_edge(b, 0, 2);
	cost_graph *g = cost_builder_finish(b, COST_FORMAT_DNN);
	FUZZ_CHECK(g);
	g->integer_ids = true;
	return g;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	const cost_graph *g = three(a);
	const int *place = placement_read(a, s, fuzz_file(data, size), g,
					  DEVICES, CORES);
	fuzz_print(s);
	FUZZ_CHECK(!place == (diag_errors(s) > 0));
	for (int v = 0; v < g->nops && place; v++)
		FUZZ_CHECK(place[v] >= 0 && place[v] < DEVICES + CORES);
	arena_free(a);
	return 0;
}

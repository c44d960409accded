/* Fuzz target: cost graphs, the algorithms that place them, and the files of
 * what these find. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "compiler/placement/figures.h"
#include "compiler/placement/layers.h"
#include "compiler/placement/placement_file.h"
#include "compiler/placement/task.h"
#include "tests/fuzz/fuzz.h"

enum { MAX_OPS = 60, DEVICES = 3 };

/* A placement survives its file. */
static void check_file(arena *a, const cost_graph *g, const int *place)
{
	diag_sink *s = diag_sink_new(a);
	json_t *j = placement_json(g, place, DEVICES);
	char *text = json_dumps(j, 0);
	FUZZ_CHECK(text);
	const char *path = fuzz_file((const uint8_t *)text, strlen(text));
	const int *again = placement_read(a, s, path, g, DEVICES, 0);
	FUZZ_CHECK(again);
	for (int v = 0; v < g->nops; v++)
		FUZZ_CHECK(again[v] == place[v]);
	free(text);
	json_decref(j);
}

/* No placement is below the bound; what is placed keeps the limit of resident
 * bytes.  best takes too long. */
static void check_algorithms(arena *a, const machine *m, const cost_graph *file)
{
	const place_task *t = place_task_new(a, m, false, (deadline){ 0 });
	int64_t bound = place_bound(m).greatest;
	for (const place_algorithm *p = place_algorithms; p->name; p++) {
		const int *place = p->run == place_best ? NULL : p->run(a, t);
		if (!place)
			continue;
		verdict v = judge_run(t->j, place, INT64_MAX);
		FUZZ_CHECK(v.makespan >= bound);
		for (int d = 0; d < DEVICES; d++)
			FUZZ_CHECK(v.resident[d] <= m->limit[d]);
		if (file)
			check_file(a, file, place);
	}
}

static void check_graph(arena *a, const cost_graph *file)
{
	diag_sink *s = diag_sink_new(a);
	const cost_graph *g = cost_graph_tie_training(a, s, file);
	if (!g || g->nops > MAX_OPS)
		return;
	int64_t all = 0;
	for (int v = 0; v < g->nops; v++)
		all += g->ops[v].resident_nbytes / DEVICES;
	for (int limited = 0; limited < 2; limited++) {
		machine_request r = { .ndevices = DEVICES, .bandwidth = 1e9,
				      .latency = 1e-6, .factor = 4,
				      .memory = limited ? all + 1 : 0 };
		const machine *m = machine_new(a, s, g, &r);
		FUZZ_CHECK(!m == (diag_errors(s) > 0));
		if (!m)
			return;
		check_algorithms(a, m, g == file && !limited ? file : NULL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena *a = arena_new();
	diag_sink *s = diag_sink_new(a);
	const char *path = fuzz_file(data, size);
	const cost_graph *g = cost_graph_read(a, s, path);
	fuzz_print(s);
	FUZZ_CHECK(!g == (diag_errors(s) > 0));
	diag_sink *of_layers = diag_sink_new(a);
	json_t *table = layers_load(a, of_layers, path);
	const layer_table *l = table ? layers_read(a, of_layers, path, table)
				     : NULL;
	fuzz_print(of_layers);
	FUZZ_CHECK(!l == (diag_errors(of_layers) > 0));
	json_decref(table);
	if (g)
		check_graph(a, g);
	arena_free(a);
	return 0;
}

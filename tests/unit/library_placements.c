#include "config.h"

#include "tests/unit/library_placements.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

static const char given[] =
	"{\"format\": \"tdl-placement\", \"version\": 1, \"devices\": 2,"
	" \"placement\": [{\"id\": 0, \"device\": 0}, {\"id\": 1,"
	" \"device\": 0}, {\"id\": 2, \"device\": 1}]}\n";

static const char profile[] =
	"node1 -- A -- forward_compute_time=4.0, backward_compute_time=7.0, "
	"activation_size=6000.0, parameter_size=100.0\n"
	"node2 -- B -- forward_compute_time=1.0, backward_compute_time=1.5, "
	"activation_size=500.0, parameter_size=900.0\n"
	"\tnode1 -- node2\n";

#define LAYER "{\"params\": 9, \"flops\": 1, \"act\": 7, \"rep\": 5, " \
	      "\"edge\": 2, \"ar\": 3}"
static const char layers[] =
	"{\"format\": \"tdl-layers\", \"version\": 1, \"layers\": [" LAYER ", "
	LAYER "], \"machine\": {\"devices\": 2, \"node\": 2, \"flops\": 1, "
	"\"intra\": 1, \"inter\": 1, \"memory\": 400}, \"batch\": 2}\n";

static const char degrees[] =
	"{\"maxDevices\": 2, \"maxMemoryPerDevice\": 6e7, \"bandwidth\": 1e9, "
	"\"mbsInBatch\": 2, \"nodes\": [{\"id\": 1, \"name\": \"a\", "
	"\"TMPCs\": {\"1\": [{\"id\": \"v\", \"timePerSample\": 4.0, "
	"\"parameterSize\": 10.0, \"memoryUsageA\": 6.0, \"memoryUsageB\": "
	"4.0, \"syncTimeFw\": {}, \"syncTimeBw\": {}}]}}], \"edges\": []}\n";

const library_file library_costs[] = {
	{ "given.json", given }, { "graph.txt", profile },
	{ "layers.json", layers }, { "degrees.json", degrees }, { 0 }
};

static const char *file(const library_world *w, char *to, const char *name)
{
	snprintf(to, 100, "%s/%s", w->folder, name);
	return to;
}

void library_put_trace(const library_world *w)
{
	char path[100];
	FILE *f = fopen(file(w, path, "a.trace"), "w");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "{\"traceEvents\": [{\"ph\": \"X\", \"pid\": 0, "
		   "\"ts\": 0, \"dur\": 1, \"args\": {\"instruction\": "
		   "0}}], \"otherData\": {\"model\": \"tiny\", \"devices\": "
		   "4, \"seconds\": 1, \"measured\": \"%016" PRIx64 "\"}}",
		hash_bytes(HASH_SEED, w->text, strlen(w->text)));
	ck_assert_int_eq(fclose(f), 0);
}

/* Whether it is a text that begins so; it is freed. */
static bool begins(char *text, const char *with)
{
	bool good = text && *text && (!*with || *text == *with);
	tdl_text_free(text);
	return good;
}

/* Searches, and asks for the result in both forms. */
static bool search(library_world *w, const char *name,
		   const tdl_option *options)
{
	char path[100];
	tdl_placement *p = tdl_placement_search(w->c, file(w, path, name),
						options);
	bool good = p && begins(tdl_placement_report(p), "{");
	if (good) {
		tdl_context_set_style(w->c, TDL_TEXT);
		good = begins(tdl_placement_report(p), "");
		tdl_context_set_style(w->c, 0);
	}
	tdl_placement_free(p);
	return good;
}

static const tdl_option on_two[] = {
	{ "devices", "2" }, { "algorithm", "heft" }, { NULL, NULL }
};

tdl_placement *library_placed(library_world *w)
{
	char path[100];
	return tdl_placement_search(w->c, file(w, path, "tiny.tdl"), on_two);
}

bool placement_whole(library_world *w)
{
	return search(w, "tiny.tdl", on_two);
}

bool placement_stages(library_world *w)
{
	const tdl_option o[] = { { "devices", "2" }, { "algorithm", "mcap" },
				 { "frontier", NULL }, { NULL, NULL } };
	return search(w, "graph.txt", o);
}

bool placement_chunks(library_world *w)
{
	const tdl_option o[] = { { "devices", "1" }, { "algorithm", "mcap" },
				 { "schedule", "interleaved:2" },
				 { NULL, NULL } };
	return search(w, "tiny.tdl", o);
}

bool placement_load(library_world *w)
{
	const tdl_option o[] = { { "devices", "2" }, { "algorithm", "load" },
				 { NULL, NULL } };
	return search(w, "tiny.tdl", o);
}

bool placement_pipedream(library_world *w)
{
	const tdl_option o[] = { { "devices", "2" },
				 { "algorithm", "pipedream" },
				 { "link", "1" }, { NULL, NULL } };
	return search(w, "graph.txt", o);
}

static const tdl_option capture[] = { { "algorithm", "capture" },
				      { NULL, NULL } };

bool placement_capture(library_world *w)
{
	return search(w, "layers.json", capture);
}

bool placement_piper(library_world *w)
{
	return search(w, "degrees.json", capture);
}

bool placement_report(library_world *w)
{
	return begins(tdl_placement_report(w->placed), "{");
}

bool placement_text(library_world *w)
{
	return begins(tdl_placement_text(w->placed), "{");
}

bool placement_chart(library_world *w)
{
	return begins(tdl_placement_chart(w->placed, "svg"), "<") &&
	       begins(tdl_placement_chart(w->placed, "text"), "");
}

bool placement_compare(library_world *w)
{
	const tdl_option o[] = { { "devices", "2" }, { NULL, NULL } };
	char path[100];
	return begins(tdl_placement_compare(w->c, file(w, path, "tiny.tdl"),
					    o), "{");
}

bool placement_score(library_world *w)
{
	char path[100], placement[100];
	const tdl_option o[] = {
		{ "devices", "2" },
		{ "placement", file(w, placement, "given.json") },
		{ NULL, NULL }
	};
	return begins(tdl_placement_score(w->c, file(w, path, "tiny.tdl"), o),
		      "{");
}

bool library_profile(library_world *w)
{
	static const tdl_option how[] = { { "kernels", "interpreter" },
					  { "steps", "1" }, { NULL, NULL } };
	char at[100];
	snprintf(at, sizeof(at), "%s/a.profile", w->folder);
	char *text = tdl_model_profile(w->model, at, how);
	bool good = text && *text == '{';
	tdl_text_free(text);
	return good;
}

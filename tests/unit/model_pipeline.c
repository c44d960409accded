#include "config.h"

#include "tests/unit/model_pipeline.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "libtdl/plan_input.h"

const model_case model_cases[] = {
	{ "gpt2", "batch=8 tokens=12 vocabulary=50 layers=4 width=24 heads=3",
	  "adamw", NULL, 1 },
	{ "unet", "batch=8 image=16 width=8 depth=1 attention_at=8 groups=4",
	  "sgd", NULL, 0 },
	{ "moe", "batch=8 tokens=8 vocabulary=40 layers=4 width=16 heads=4 "
	  "kv_heads=2 wide=20 experts=4 chosen=2 room=6", "adam", NULL, 0 },
	{ "vit", "batch=8 image=16 patch=4 layers=4 width=16 heads=4 "
	  "classes=10", "sgd", "f16", 0 },
	{ "llama", "batch=8 tokens=8 vocabulary=40 layers=4 width=16 heads=4 "
	  "kv_heads=2 wide=24", "adamw", "bf16", 0.5 },
	{ NULL, NULL, NULL, NULL, 0 },
};

static cli_words words_of(arena *a, const char *text)
{
	cli_words w = { 0 };
	char *rest = arena_strdup(a, text);
	for (char *word; (word = strsep(&rest, " "));)
		vec_push(a, &w, word);
	return w;
}

static void set_training(const model_case *c, train_request *r)
{
	r->train = true;
	r->optimizer = c->optimizer;
	if (c->clip_norm > 0)
		r->clip_norm = c->clip_norm;
	for (int i = 0; c->precision && train_precisions[i]; i++)
		if (!strcmp(train_precisions[i], c->precision))
			r->precision = i;
}

graph *model_step(arena *a, const model_case *c)
{
	const char *srcdir = getenv("srcdir"), *opdefs = getenv("TDL_OPDEFS");
	srcdir = srcdir ? srcdir : ".";
	job d = { .program = { .name = "test" }, .arena = a,
		  .sink = diag_sink_new(a),
		  .opdefs = opdefs ? opdefs
				   : arena_printf(a, "%s/opdefs", srcdir) };
	plan_model m = PLAN_MODEL;
	cli_status status = CLI_OK;
	m.defines = words_of(a, c->sizes);
	set_training(c, &m.train);
	graph *g = plan_read_model(&d, arena_printf(a, "%s/examples/models/%s"
						    ".tdl", srcdir, c->file),
				   &m, &status);
	if (!g)
		diag_print(d.sink, stderr, false);
	ck_assert_ptr_nonnull(g);
	return g;
}

graph *model_in_turns(arena *a, const model_case *c, int turns)
{
	const turns_options o = { .turns = turns, .statistics = true };
	diag_sink *s = diag_sink_new(a);
	graph *g = graph_in_turns(a, model_step(a, c), &o, s);
	if (!g)
		diag_print(s, stderr, false);
	ck_assert_ptr_nonnull(g);
	return g;
}

stage_division model_division(arena *a, const graph *g, int nstages,
			      int nchunks)
{
	const bool *is_layer = stage_layers(a, g);
	int *parts = ARENA_ARRAY(a, int, g->nnodes);
	double all = 0, sum = 0;
	for (node_id n = 0; n < g->nnodes; n++)
		all += is_layer[n] ? (double)kernel_points(g->nodes[n].kernel)
				   : 0;
	for (node_id n = 0; n < g->nnodes; n++) {
		parts[n] = (int)(sum / (all + 1) * nstages * nchunks);
		sum += is_layer[n] ? (double)kernel_points(g->nodes[n].kernel)
				   : 0;
	}
	return stage_division_new(a, g, nstages, nchunks, parts);
}

static assignment layouts_of(arena *a, rng *r, const graph *g)
{
	static const char *const planners[] = { "tofu",
						"data-parallel" };
	int k = r ? 1 + rng_below(r, 4) : 1;
	const search_result *found =
		search_plan(a, g, k, planners[r ? rng_below(r, 2) : 0]);
	ck_assert_msg(!found->error, "%s", found->error);
	return found->assignment;
}

plan_pipeline *model_pipeline(arena *a, const graph *g,
			      const stage_division *d, pipeline_schedule kind,
			      rng *r)
{
	const char *why = stage_division_refused(a, g, d);
	ck_assert_msg(!why, "%s", why);
	const stage_homes h = stage_homes_of(a, g, d);
	lower_stage *stages = ARENA_ARRAY(a, lower_stage, d->nstages);
	int *tensors = ARENA_ARRAY(a, int, g->ntensors);
	for (int i = 0; i < d->nstages; i++) {
		stages[i].g = stage_graph(a, &h, i, tensors);
		stages[i].as = layouts_of(a, r, stages[i].g);
	}
	const lower_options o = { .algorithm = "test" };
	const pipeline schedule = { .kind = kind, .ndevices = d->nstages,
				    .chunks = d->nchunks,
				    .micro_batches = g->turns->turns };
	diag_sink *s = diag_sink_new(a);
	plan_pipeline *p = lower_pipeline(a, &h, stages, &schedule, &o, s);
	if (!p)
		diag_print(s, stderr, false);
	ck_assert_ptr_nonnull(p);
	return p;
}

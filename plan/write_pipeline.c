/* The writer of plans with stages. */
#include "config.h"

#include "plan/pipeline.h"
#include "plan/write.h"

static json_t *of_segments(const plan_stage *s)
{
	static const char *const passes[] = {
		[PASS_FORWARD] = "F",
		[PASS_BACKWARD] = "B",
		[PASS_WEIGHT] = "W",
	};
	json_t *all = json_array();
	for (int i = 0; i < s->nsegments; i++) {
		const plan_segment *x = &s->segments[i];
		json_array_append_new(all, json_pack("{s:s,s:i,s:i}", "pass",
						     passes[x->pass], "chunk",
						     x->chunk, "end", x->end));
	}
	return all;
}

static json_t *of_order(const plan_stage *s)
{
	json_t *all = json_array();
	for (int i = 0; i < s->nruns; i++) {
		const plan_tasks *x = &s->runs[i];
		json_array_append_new(all, json_pack("{s:i,s:o}", "times",
						     x->times, "segments",
						     write_ints(x->tasks,
								x->ntasks)));
	}
	return all;
}

static json_t *of_stage(const void *of, int i)
{
	const plan *p = &((const plan_pipeline *)of)->stages[i];
	json_t *j = json_object();
	json_object_set_new(j, "mesh", write_ints(p->mesh.size, p->mesh.naxes));
	json_object_set_new(j, "arena_bytes", json_integer(p->arena_bytes));
	if (p->copies_bytes > 0)
		json_object_set_new(j, "copies_bytes",
				    json_integer(p->copies_bytes));
	if (p->kept_bytes > 0)
		json_object_set_new(j, "kept_bytes",
				    json_integer(p->kept_bytes));
	json_object_set_new(j, "communication_bytes",
			    json_integer(p->communication_bytes));
	json_object_set_new(j, "inputs", write_ints(p->inputs, p->ninputs));
	json_object_set_new(j, "outputs", write_ints(p->outputs, p->noutputs));
	if (p->training)
		json_object_set_new(j, "training", write_training(p));
	if (p->length > 0)
		json_object_set_new(j, "growth", write_growth(p));
	if (p->nfolds > 0)
		json_object_set_new(j, "folds", write_folds(p));
	json_object_set_new(j, "tensors", json_integer(p->ntensors));
	json_object_set_new(j, "nodes", json_integer(p->nnodes));
	json_object_set_new(j, "buffers", json_integer(p->nbuffers));
	json_object_set_new(j, "instructions", json_integer(p->ninstrs));
	json_object_set_new(j, "begin", json_integer(p->loop.begin));
	json_object_set_new(j, "segments", of_segments(p->stage));
	json_object_set_new(j, "order", of_order(p->stage));
	return j;
}

static json_t *of_channel(const void *of, int i)
{
	const plan_channel *c = &((const plan_pipeline *)of)->channels[i];
	return json_pack("{s:i,s:i,s:i,s:i}", "from", c->from, "source",
			 c->source, "to", c->to, "target", c->target);
}

static json_t *of_schedule(const plan_pipeline *p)
{
	const plan_loop *o = &p->stages[0].loop;
	json_t *j = json_object();
	json_object_set_new(j, "name", json_of_text(p->schedule));
	json_object_set_new(j, "micro_batches", json_integer(o->turns));
	json_object_set_new(j, "batch", json_integer(o->batch));
	if (o->statistics)
		json_object_set_new(j, "statistics", json_true());
	return j;
}

static void put_pipeline(writer *w, const void *of)
{
	const plan_pipeline *p = of;
	write_begin(w, PLAN_PIPELINE_VERSION);
	write_member(w, "model", json_of_text(p->model));
	write_member(w, "algorithm", json_of_text(p->algorithm));
	write_member(w, "communication_bytes",
		     json_integer(p->communication_bytes));
	write_member(w, "inputs", write_texts(p->inputs, p->ninputs));
	write_member(w, "outputs", write_texts(p->outputs, p->noutputs));
	if (p->nfixed > 0)
		write_member(w, "fixed", write_texts(p->fixed, p->nfixed));
	write_predicted(w, &p->predicted);
	write_member(w, "schedule", of_schedule(p));
	write_rows(w, "stages", p->nstages, of_stage, p);
	write_rows(w, "channels", p->nchannels, of_channel, p);
	write_tables(w, p->stages, p->nstages);
}

char *pipeline_text(arena *a, const plan_pipeline *p, const char *path,
		    size_t *len)
{
	return pipeline_is_plan(p) ? plan_text(a, &p->stages[0], path, len)
				   : write_text(a, p, path, put_pipeline, len);
}

bool pipeline_write(const plan_pipeline *p, const char *path)
{
	return pipeline_is_plan(p) ? plan_write(&p->stages[0], path)
				   : write_atomically(path, p, put_pipeline);
}

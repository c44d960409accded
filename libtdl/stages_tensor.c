/* A tensor in a plan of several stages: where it is computed, stored, sent and
 * read. */
#include "config.h"

#include "base/spelling.h"
#include "base/text.h"
#include "base/units.h"
#include "layout/layout_text.h"
#include "libtdl/plan_reasons.h"
#include "libtdl/plan_view.h"
#include "libtdl/stages_view.h"

bool stages_find_tensor(const stages_view *v, const char *name,
			stages_tensor *x)
{
	bool found = false;
	*x = (stages_tensor){ name, ARENA_ARRAY(v->arena, int,
						v->p->nstages) };
	for (int s = 0; s < v->p->nstages; s++) {
		x->in[s] = pipeline_tensor(&v->p->stages[s], name);
		found = found || x->in[s] >= 0;
	}
	return found;
}

const char *stages_tensor_hint(const stages_view *v, const char *name)
{
	spelling s = { .given = name };
	for (int i = 0; i < v->p->nstages; i++)
		for (int t = 0; t < v->p->stages[i].ntensors; t++)
			spelling_try(&s, v->p->stages[i].tensors[t].name);
	return spelling_hint(&s, v->arena);
}

/* The node that computes a tensor in a stage; -1 if it does not. */
static int maker_of(const plan *q, int t)
{
	int n = q->nnodes - 1;
	while (n >= 0 && q->nodes[n].output != t)
		n--;
	return n;
}

static bool reads(const plan *q, int nth, int t)
{
	const plan_node *n = &q->nodes[nth];
	const kernel *k = q->kernels[n->kernel].kernel;
	for (int i = 0; i < k->ninputs; i++)
		if (n->inputs[i] == t)
			return true;
	return false;
}

/* The channel by which a stage receives a tensor; -1 if there is none. */
static int channel_to(const stages_view *v, int s, int t)
{
	int c = v->p->nchannels - 1;
	while (c >= 0 && (v->p->channels[c].to != s ||
			  v->p->channels[c].target != t))
		c--;
	return c;
}

static const char *layout_text(arena *a, const plan *q, int t)
{
	const char *text = q->mesh.naxes ? "" : "whole";
	for (int i = 0; i < q->mesh.naxes; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "",
				    layout_axis_text(a, q->tensors[t]
							     .cuts.dim[i]));
	return text;
}

/* The tensor of a stage that is a recomputed t; NULL if there is none. */
static const char *again_of(const stages_view *v, int s, int t)
{
	const plan *q = &v->p->stages[s];
	int made = maker_of(q, t);
	for (int n = 0; made >= 0 && n < q->nnodes; n++)
		if (stages_computes_again(q, n) == made)
			return q->tensors[q->nodes[n].output].name;
	return NULL;
}

/* ---- text -------------------------------------------------------------- */

enum { COLUMN = 17 };

static void print_item(FILE *to, const char *what, const char *text)
{
	fprintf(to, "  %-*s", COLUMN - 2, what);
	text_wrap(to, text, COLUMN, COLUMN);
}

static const char *origin_text(const stages_view *v, int s, int t)
{
	const plan *q = &v->p->stages[s];
	int n = maker_of(q, t), c = channel_to(v, s, t);
	arena *a = v->arena;
	if (n >= 0)
		return arena_printf(a, "made by %s (%s)", q->nodes[n].name,
				    q->nodes[n].op);
	if (c >= 0)
		return arena_printf(a, "received from stage %d %s, %s a step",
				    v->p->channels[c].from,
				    pipeline_in_turns(v->p, c)
					    ? "by each micro-batch" : "once",
				    units_bytes((double)pipeline_channel_bytes(
							v->p, c)).text);
	return arena_printf(a, "%s", plan_role_name(&q->tensors[t]));
}

static const char *readers_text(const stages_view *v, int s, int t)
{
	const plan *q = &v->p->stages[s];
	const char *text = "";
	for (int n = 0; n < q->nnodes; n++)
		if (reads(q, n, t))
			text = arena_printf(v->arena, "%s%s%s", text,
					    *text ? ", " : "",
					    q->nodes[n].name);
	return text;
}

/* Where a tensor is stored on the devices of a stage. */
static const char *place_text(const stages_view *v, int s, int t)
{
	const plan *q = &v->p->stages[s];
	arena *a = v->arena;
	if (q->tensors[t].buffer < 0)
		return arena_printf(a, "lies on no device%s",
				    plan_reasons_folded(a, q, t));
	return arena_printf(a, "lies %s: %s on a device", layout_text(a, q, t),
			    units_bytes((double)plan_kept_bytes(q, t)).text);
}

void stages_tensor_text(FILE *to, const stages_view *v, const stages_tensor *x)
{
	arena *a = v->arena;
	fprintf(to, "%s in %s on %d devices in %d stages, planned by %s\n",
		x->name, v->p->model, pipeline_first(v->p, v->p->nstages),
		v->p->nstages, v->p->algorithm);
	for (int s = 0; s < v->p->nstages; s++) {
		int t = x->in[s];
		if (t < 0)
			continue;
		const char *readers = readers_text(v, s, t);
		print_item(to, arena_printf(a, "stage %d", s),
			   origin_text(v, s, t));
		print_item(to, "", place_text(v, s, t));
		if (*readers)
			print_item(to, "", arena_printf(a, "read by %s",
							readers));
		if (again_of(v, s, t))
			print_item(to, "", arena_printf(
				a, "computed again before the backward pass, "
				"as '%s'", again_of(v, s, t)));
		print_item(to, "", arena_printf(
			a, "the stage works %s of each step, of %s",
			arena_strdup(a, units_seconds(v->step->stages[s]
						.busy_seconds).text),
			units_seconds(v->step->seconds).text));
	}
}

/* ---- json -------------------------------------------------------------- */

/* null if no device of the stage has the tensor. */
static json_t *cuts_json(arena *a, const plan *q, int t)
{
	json_t *all = q->tensors[t].buffer < 0 ? json_null() : json_array();
	for (int i = 0; json_is_array(all) && i < q->mesh.naxes; i++)
		json_array_append_new(
			all, json_string(layout_axis_text(
				a, q->tensors[t].cuts.dim[i])));
	return all;
}

static json_t *stage_json(const stages_view *v, int s, int t)
{
	const plan *q = &v->p->stages[s];
	int n = maker_of(q, t), c = channel_to(v, s, t);
	json_t *readers = json_array();
	for (int i = 0; i < q->nnodes; i++)
		if (reads(q, i, t))
			json_array_append_new(readers,
					      json_string(q->nodes[i].name));
	return json_pack(
		"{s:i,s:s?,s:o,s:o,s:o,s:I,s:o,s:s?,s:f}", "stage", s,
		"made_by",
		n < 0 ? NULL : q->nodes[n].name, "received_from",
		c < 0 ? json_null() : json_integer(v->p->channels[c].from),
		"received_bytes", c < 0 ? json_null() :
		json_integer(pipeline_channel_bytes(v->p, c)), "layout",
		cuts_json(v->arena, q, t), "bytes_per_device",
		(json_int_t)plan_kept_bytes(q, t), "read_by", readers,
		"again", again_of(v, s, t), "seconds",
		v->step->stages[s].busy_seconds);
}

json_t *stages_tensor_json(const stages_view *v, const stages_tensor *x)
{
	json_t *all = json_array();
	for (int s = 0; s < v->p->nstages; s++)
		if (x->in[s] >= 0)
			json_array_append_new(all, stage_json(v, s, x->in[s]));
	return json_pack("{s:s,s:s,s:i,s:s,s:f,s:s,s:o}", "model", v->p->model,
			 "algorithm", v->p->algorithm, "devices",
			 pipeline_first(v->p, v->p->nstages), "tensor", x->name,
			 "predicted_seconds", v->step->seconds,
			 "predicted_for", v->machine->name, "stages", all);
}

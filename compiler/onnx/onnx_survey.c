/* An import that continues after unsupported nodes and reports them.
 *
 * Each node is evaluated with its own sink; an error in it is the reason why
 * the node is not supported.  Results of such a node become inputs of the graph
 * if the model declares their shapes.  Otherwise the tensors that depend on
 * them are unknown. */
#include "config.h"

#include "compiler/onnx/onnx_import.h"

#include <string.h>

#include "compiler/graph/builder.h"

static const char *text(const char *s)
{
	return s ? s : "";
}

/* The index in the survey of a node's kind. */
static int kind_of(importer *im, const Onnx__NodeProto *n)
{
	model_survey *s = im->options->survey;
	const char *domain = text(n->domain);
	bool own = !*domain || !strcmp(domain, "ai.onnx");
	const char *op = arena_printf(im->arena, "%s%s%s", own ? "" : domain,
				      own ? "" : " ", n->op_type);
	if (!im->kinds)
		im->kinds = strmap_new(im->tmp);
	int *index = strmap_get(im->kinds, op);
	if (!index) {
		index = ARENA_NEW(im->tmp, int);
		survey_kind kind = { .op = graph_presentable(im->arena, op) };
		*index = s->kinds.n;
		vec_push(im->arena, &s->kinds, kind);
		strmap_put(im->kinds, op, index);
	}
	return *index;
}

onnx_before onnx_survey_begin(importer *im, const Onnx__NodeProto *n)
{
	onnx_before before = { im->sink, im->b->origin, 0 };
	if (!im->options->survey)
		return before;
	before.kind = kind_of(im, n);
	im->options->survey->kinds.at[before.kind].nodes++;
	im->sink = im->b->sink = diag_sink_new(im->tmp);
	im->b->origin = im->options->survey->kinds.at[before.kind].op;
	return before;
}

/* Adds the bytes of a tensor.  The sum stays below 2^62. */
static void add_bytes(importer *im, mvalue v, int64_t *sum)
{
	if (v.kind == MV_TENSOR && v.i != NONE && *sum < (int64_t)1 << 61)
		*sum += tensor_nbytes(graph_type(im->b, (tensor_id)v.i));
}

static const Onnx__ValueInfoProto *declared(const importer *im,
					    const char *name)
{
	const Onnx__GraphProto *g = im->model->graph;
	for (size_t i = 0; i < g->n_value_info; i++)
		if (!strcmp(text(g->value_info[i]->name), name))
			return g->value_info[i];
	for (size_t i = 0; i < g->n_output; i++)
		if (!strcmp(text(g->output[i]->name), name))
			return g->output[i];
	return NULL;
}

/* Makes inputs of the graph in place of the results.  Returns false if a shape
 * is not known. */
static bool stand_in(importer *im, const onnx_frame *f, const onnx_call *c)
{
	const Onnx__NodeProto *n = c->node;
	bool all = true;
	for (size_t i = 0; i < n->n_output; i++) {
		tensor_type type;
		const Onnx__ValueInfoProto *v =
			f->depth == 0 && *n->output[i]
				? declared(im, n->output[i])
				: NULL;
		c->results[i] = (onnx_value){ .v.kind = MV_BAD };
		if (v && onnx_declared_type(im, v, c->place, &type))
			c->results[i].v = mv_tensor(graph_add_input(
				im->b, n->output[i], &type));
		else
			all &= !*n->output[i];
	}
	return all;
}

static void list_unsupported(importer *im, const onnx_call *c,
			     const survey_kind *kind, int nerrors)
{
	const char *why = diag_message(im->sink, nerrors);
	survey_node x = { graph_presentable(im->arena, c->name), kind->op,
			  why ? graph_presentable(im->arena, why)
			      : "a node inside is not supported" };
	for (size_t i = 0; i < c->node->n_input; i++) {
		mvalue v = c->inputs[i];
		add_bytes(im, v, &x.input_bytes);
		if (v.kind == MV_TENSOR && v.i != NONE)
			vec_push(im->tmp, &im->roots, (tensor_id)v.i);
	}
	for (size_t i = 0; i < c->node->n_output; i++)
		add_bytes(im, c->results[i].v, &x.output_bytes);
	vec_push(im->arena, &im->options->survey->unsupported, x);
}

bool onnx_survey_end(importer *im, onnx_frame *f, const onnx_call *c,
		     onnx_before before, int nerrors, bool ok)
{
	survey_kind *kind = &im->options->survey->kinds.at[before.kind];
	bool said = diag_errors(im->sink) > nerrors;
	bool usable = nerrors == 0;
	for (size_t i = 0; i < c->node->n_input; i++)
		usable &= c->inputs[i].kind != MV_BAD;
	bool known = ok || stand_in(im, f, c);
	if (!ok && (said || usable)) {
		kind->unsupported++;
		list_unsupported(im, c, kind, nerrors);
	} else if (!ok) {
		kind->unknown++;
	}
	im->sink = im->b->sink = before.sink;
	im->b->origin = before.origin;
	for (size_t i = 0; i < c->node->n_output; i++)
		if (*c->node->output[i])
			onnx_bind(im, f, c->node->output[i], c->results[i],
				  c->place);
	return known;
}

void onnx_survey_keep(importer *im)
{
	for (int i = 0; i < im->roots.n; i++) {
		const tensor *t = graph_tensor(im->b, im->roots.at[i]);
		if (t->kind != TENSOR_RESULT || t->output)
			continue;
		graph_set_output(im->b, im->roots.at[i],
				 t->name ? t->name
					 : arena_printf(im->tmp, "read_%d", i));
	}
}

/* Graphs inside nodes, and the model's own functions.  They are evaluated each
 * time they are used. */
#include "config.h"

#include "compiler/onnx/onnx_import.h"

#include <string.h>

static bool fail(importer *im, const onnx_call *c, diag_id id,
		 const char *message)
{
	diag_error_in(im->sink, id, c->place, "%s", message);
	return false;
}

static bool too_deep(importer *im, const onnx_frame *f, const onnx_call *c)
{
	if (f->depth < ONNX_MAX_CALLS)
		return false;
	fail(im, c, DIAG_UNSUPPORTED,
	     "functions and graphs are nested too deeply");
	return true;
}

/* The value of an output of an inner graph; NULL, with an error, if it has
 * none. */
static const onnx_value *output_of(importer *im, const onnx_frame *inner,
				   const onnx_call *c, const char *name)
{
	const onnx_value *v = name ? onnx_find(inner, name) : NULL;
	if (!v)
		diag_error_in(im->sink, DIAG_ONNX_NAME, c->place,
			      "the output '%s' is defined nowhere",
			      name ? name : "");
	return v && v->v.kind != MV_BAD ? v : NULL;
}

/* ---- graphs ------------------------------------------------------------ */

/* Binds a graph's inputs to values. */
static bool bind_inputs(importer *im, onnx_frame *inner, const onnx_call *c,
			const Onnx__GraphProto *g, const mvalue *inputs, int n)
{
	if ((size_t)n != g->n_input)
		return fail(im, c, DIAG_ONNX_NODE,
			    "a graph of the node has another number of inputs "
			    "than it is given");
	for (int i = 0; i < n; i++) {
		const char *name = g->input[i]->name;
		onnx_value v = { .v = inputs[i] };
		if (name && *name && !onnx_bind(im, inner, name, v, c->place))
			return false;
	}
	return true;
}

bool onnx_run_graph(void *context, const void *inner_graph,
		    const mvalue *inputs, int ninputs,
		    const mvalue **outputs, int *noutputs)
{
	onnx_context *x = context;
	importer *im = x->im;
	const Onnx__GraphProto *g = inner_graph;
	if (too_deep(im, x->frame, x->call))
		return false;
	onnx_frame inner = *x->frame;
	inner.outer = inner.caller = x->frame;
	inner.function = NULL;
	inner.depth++;
	inner.prefix = arena_printf(im->tmp, "%s/%d/", x->call->name,
				    x->nruns++);
	inner.values = strmap_new(im->tmp);
	im->depth++;
	bool ok = bind_inputs(im, &inner, x->call, g, inputs, ninputs) &&
		  onnx_initializers(im, &inner, g) &&
		  onnx_nodes(im, &inner, g->node, g->n_node);
	im->depth--;
	if (!ok || onnx_exhausted(im))
		return false;
	mvalue *values = ARENA_ARRAY(im->tmp, mvalue, g->n_output + 1);
	for (size_t i = 0; i < g->n_output; i++) {
		const onnx_value *v =
			output_of(im, &inner, x->call, g->output[i]->name);
		if (!v)
			return false;
		values[i] = v->v;
	}
	*outputs = values;
	*noutputs = (int)g->n_output;
	return true;
}

/* ---- functions --------------------------------------------------------- */

static bool calls_itself(importer *im, const onnx_frame *f, const onnx_call *c,
			 const Onnx__FunctionProto *callee)
{
	for (; f; f = f->caller)
		if (f->function == callee)
			return !fail(im, c, DIAG_RECURSION,
				     "the function calls itself, directly or "
				     "through others");
	return false;
}

/* Sets the attributes of a call, with defaults for those it leaves out. */
static void call_attrs(importer *im, const onnx_frame *f, const onnx_call *c,
		       const Onnx__FunctionProto *callee, onnx_frame *inner)
{
	const Onnx__NodeProto *n = c->node;
	size_t most = n->n_attribute + callee->n_attribute_proto;
	inner->nattrs = 0;
	inner->attrs = ARENA_ARRAY(im->tmp, Onnx__AttributeProto *, most + 1);
	for (size_t i = 0; i < n->n_attribute; i++) {
		const Onnx__AttributeProto *a =
			onnx_resolve(f, n->attribute[i]);
		if (!a)
			continue;
		Onnx__AttributeProto *copy = ARENA_COPY(im->tmp, a, 1);
		copy->name = n->attribute[i]->name;
		inner->attrs[inner->nattrs++] = copy;
	}
	for (size_t i = 0; i < callee->n_attribute_proto; i++)
		inner->attrs[inner->nattrs++] = callee->attribute_proto[i];
}

static void set_opsets(importer *im, const Onnx__FunctionProto *callee,
		       onnx_frame *inner)
{
	onnx_opset *o =
		ARENA_ARRAY(im->tmp, onnx_opset, callee->n_opset_import + 1);
	for (size_t i = 0; i < callee->n_opset_import; i++) {
		const Onnx__OperatorSetIdProto *id = callee->opset_import[i];
		const char *d = id->domain ? id->domain : "";
		o[i].domain = strcmp(d, "ai.onnx") ? d : "";
		o[i].version = (int)id->version;
	}
	inner->opsets = o;
	inner->nopsets = (int)callee->n_opset_import;
}

static bool take_results(importer *im, const onnx_frame *inner,
			 const onnx_call *c, const Onnx__FunctionProto *callee)
{
	if (c->node->n_output > callee->n_output)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has more outputs than its function");
	for (size_t i = 0; i < c->node->n_output; i++) {
		const onnx_value *v =
			output_of(im, inner, c, callee->output[i]);
		if (!v)
			return false;
		c->results[i] = *v;
		if (v->v.kind == MV_TENSOR)
			graph_name(im->b, (tensor_id)v->v.i,
				   c->node->output[i]);
	}
	return true;
}

bool onnx_inline(importer *im, onnx_frame *f, const onnx_call *c,
		 const Onnx__FunctionProto *callee)
{
	if (too_deep(im, f, c) || calls_itself(im, f, c, callee))
		return false;
	if (c->node->n_input > callee->n_input)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has more inputs than its function");
	onnx_frame inner = { .caller = f, .function = callee,
			     .depth = f->depth + 1,
			     .prefix = arena_printf(im->tmp, "%s/", c->name),
			     .values = strmap_new(im->tmp) };
	set_opsets(im, callee, &inner);
	call_attrs(im, f, c, callee, &inner);
	for (size_t i = 0; i < callee->n_input; i++) {
		onnx_value v = { .v = i < c->node->n_input ? c->inputs[i]
							   : mv_tensor(NONE) };
		if (!onnx_bind(im, &inner, callee->input[i], v, c->place))
			return false;
	}
	im->depth++;
	bool ok = onnx_nodes(im, &inner, callee->node, callee->n_node);
	im->depth--;
	return ok && !onnx_exhausted(im) &&
	       take_results(im, &inner, c, callee);
}

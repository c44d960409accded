/* Nodes that shape the graph itself and so are known by name: constants, what
 * asks for shapes, control flow, calls of the model's own functions. */
#include "config.h"

#include "compiler/graph/onnx_import.h"

#include <string.h>

static bool fail(importer *im, const onnx_call *c, diag_id id,
		 const char *message)
{
	diag_error_in(im->sink, id, c->place, "%s", message);
	return false;
}

/* Number of inputs and outputs, and that none of the inputs is left out. */
static bool has_arity(importer *im, const onnx_call *c, size_t ninputs)
{
	if (c->node->n_input != ninputs)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has a wrong number of inputs");
	for (size_t i = 0; i < ninputs; i++)
		if (c->inputs[i] == NONE)
			return fail(im, c, DIAG_ONNX_NODE,
				    "an input of the node is missing");
	if (c->node->n_output != 1)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has a wrong number of outputs");
	return true;
}

static bool give(importer *im, const onnx_call *c, const tensor_type *t,
		 const constant *k)
{
	c->results[0].id =
		graph_add_constant(im->b, c->node->output[0], t, k);
	return true;
}

static bool give_ints(importer *im, const onnx_call *c, const int64_t *v,
		      int n, bool scalar)
{
	tensor_type t = { .type = DT_I64, .ndim = !scalar, .dims = { n } };
	constant k = { .data = ARENA_COPY(im->arena, v, n + 1) };
	return give(im, c, &t, &k);
}

/* ---- Shape, Size ------------------------------------------------------- */

/* start and end of Shape, opset 15: clamped, negative from the end. */
static int64_t bound(const onnx_frame *f, const onnx_call *c,
		     const char *name, int64_t otherwise, int64_t n)
{
	const Onnx__AttributeProto *a = onnx_attr(f, c->node, name);
	int64_t v = a && a->has_i ? a->i : otherwise;
	if (v < 0)
		v = v < -n ? 0 : v + n;
	return v > n ? n : v;
}

static bool builtin_shape(importer *im, onnx_frame *f, const onnx_call *c)
{
	if (!has_arity(im, c, 1))
		return false;
	const tensor_type *t = graph_type(im->b, c->inputs[0]);
	int64_t dims[MAX_NDIM + 1] = { 0 };
	int64_t first = bound(f, c, "start", 0, t->ndim);
	int64_t last = bound(f, c, "end", t->ndim, t->ndim);
	int n = last > first ? (int)(last - first) : 0;
	memcpy(dims, t->dims + first, (size_t)n * sizeof(*dims));
	return give_ints(im, c, dims, n, false);
}

static bool builtin_size(importer *im, onnx_frame *f, const onnx_call *c)
{
	(void)f;
	if (!has_arity(im, c, 1))
		return false;
	int64_t v[2] = { tensor_nelem(graph_type(im->b, c->inputs[0])) };
	return give_ints(im, c, v, 1, true);
}

/* ---- Constant, ConstantOfShape ----------------------------------------- */

static bool give_floats(importer *im, const onnx_call *c, const float *v,
			size_t n, bool scalar)
{
	tensor_type t = { .type = DT_F32, .ndim = !scalar,
			  .dims = { (int64_t)n } };
	float *data = ARENA_ARRAY(im->arena, float, n + 1);
	if (n)
		memcpy(data, v, n * sizeof(*v));
	return give(im, c, &t, &(constant){ .data = data });
}

static bool builtin_constant(importer *im, onnx_frame *f, const onnx_call *c)
{
	const Onnx__AttributeProto *a;
	tensor_type t;
	constant k;
	if (!has_arity(im, c, 0))
		return false;
	if ((a = onnx_attr(f, c->node, "value")) && a->t)
		return onnx_tensor(im, a->t, c->place, &t, &k) &&
		       give(im, c, &t, &k);
	if ((a = onnx_attr(f, c->node, "value_int"))) {
		int64_t v[2] = { a->i };
		return give_ints(im, c, v, 1, true);
	}
	if ((a = onnx_attr(f, c->node, "value_float")))
		return give_floats(im, c, &a->f, 1, true);
	if ((a = onnx_attr(f, c->node, "value_floats")))
		return give_floats(im, c, a->floats, a->n_floats, false);
	if ((a = onnx_attr(f, c->node, "value_ints"))) {
		int64_t *v = ARENA_ARRAY(im->tmp, int64_t, a->n_ints + 1);
		if (a->n_ints)
			memcpy(v, a->ints, a->n_ints * sizeof(*v));
		return give_ints(im, c, v, (int)a->n_ints, false);
	}
	return fail(im, c, DIAG_ONNX_TYPE,
		    "the node has no value of a kind that tdlc has");
}

/* The element of ConstantOfShape, f32 zero if it is not given. */
static bool fill_value(importer *im, onnx_frame *f, const onnx_call *c,
		       dtype *type, constant *k)
{
	const Onnx__AttributeProto *a = onnx_attr(f, c->node, "value");
	tensor_type t = { .type = DT_F32 };
	*k = (constant){ .data = arena_alloc(im->arena, 16) };
	if (a && a->t && !onnx_tensor(im, a->t, c->place, &t, k))
		return false;
	if (tensor_nelem(&t) != 1 || !k->data)
		return fail(im, c, DIAG_ONNX_DATA,
			    "the attribute 'value' is not one element");
	k->fill = true;
	*type = t.type;
	return true;
}

static bool builtin_constant_of_shape(importer *im, onnx_frame *f,
				      const onnx_call *c)
{
	dtype type = DT_F32;
	constant k;
	tensor_type t;
	if (!has_arity(im, c, 1))
		return false;
	const tensor_type *s = graph_type(im->b, c->inputs[0]);
	if (s->type != DT_I64 || s->ndim != 1)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the shape has to be a list of int64");
	const int64_t *dims = graph_constant_data(im->b, c->inputs[0], 1 << 20);
	if (!dims)
		return fail(im, c, DIAG_NOT_CONSTANT,
			    "the shape has to be known when planning");
	return fill_value(im, f, c, &type, &k) &&
	       onnx_dims(im, dims, (size_t)s->dims[0], type, c->place, &t) &&
	       give(im, c, &t, &k);
}

/* ---- control flow ------------------------------------------------------ */

static bool too_deep(importer *im, const onnx_frame *f, const onnx_call *c)
{
	if (f->depth < ONNX_MAX_CALLS)
		return false;
	fail(im, c, DIAG_UNSUPPORTED,
	     "functions and branches are nested too deeply");
	return true;
}

/* Takes an inner frame's values of the given names as the results. */
static bool take_results(importer *im, const onnx_frame *inner,
			 const onnx_call *c, const char *const *names,
			 size_t n)
{
	if (c->node->n_output > n)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has more outputs than what it calls");
	for (size_t i = 0; i < c->node->n_output; i++) {
		const onnx_value *v =
			names[i] ? onnx_find(inner, names[i]) : NULL;
		if (!v) {
			diag_error_in(im->sink, DIAG_ONNX_NAME, c->place,
				      "the output '%s' is defined nowhere",
				      names[i] ? names[i] : "");
			return false;
		}
		c->results[i] = *v;
		if (v->id != NONE)
			graph_name(im->b, v->id, c->node->output[i]);
	}
	return true;
}

static bool builtin_if(importer *im, onnx_frame *f, const onnx_call *c)
{
	if (c->node->n_input != 1 || c->inputs[0] == NONE)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has a wrong number of inputs");
	if (graph_type(im->b, c->inputs[0])->type != DT_BOOL)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the condition is not of type bool");
	const bool *cond = graph_constant_data(im->b, c->inputs[0], 1);
	if (!cond)
		return fail(im, c, DIAG_UNSUPPORTED,
			    "the condition is not known when planning");
	const Onnx__AttributeProto *a = onnx_attr(
		f, c->node, *cond ? "then_branch" : "else_branch");
	if (!a || !a->g)
		return fail(im, c, DIAG_ONNX_NODE, "a branch is missing");
	if (too_deep(im, f, c))
		return false;
	onnx_frame inner = *f;
	inner.outer = f;
	inner.depth++;
	inner.prefix = arena_printf(im->tmp, "%s/", c->name);
	inner.values = strmap_new(im->tmp);
	if (!onnx_initializers(im, &inner, a->g) ||
	    !onnx_nodes(im, &inner, a->g->node, a->g->n_node))
		return false;
	const char **names =
		ARENA_ARRAY(im->tmp, const char *, a->g->n_output + 1);
	for (size_t i = 0; i < a->g->n_output; i++)
		names[i] = a->g->output[i]->name;
	return take_results(im, &inner, c, names, a->g->n_output);
}

static bool builtin_loop(importer *im, onnx_frame *f, const onnx_call *c)
{
	(void)f;
	return fail(im, c, DIAG_UNSUPPORTED,
		    "loops over tensors are not supported; export the model "
		    "with its loops unrolled");
}

/* ---- functions --------------------------------------------------------- */

/* The attributes of a call, and the defaults of those that it leaves out. */
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

bool onnx_inline(importer *im, onnx_frame *f, const onnx_call *c,
		 const Onnx__FunctionProto *callee)
{
	if (too_deep(im, f, c))
		return false;
	if (c->node->n_input > callee->n_input)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has more inputs than its function");
	onnx_frame inner = { .depth = f->depth + 1,
			     .prefix = arena_printf(im->tmp, "%s/", c->name),
			     .values = strmap_new(im->tmp) };
	set_opsets(im, callee, &inner);
	call_attrs(im, f, c, callee, &inner);
	for (size_t i = 0; i < callee->n_input; i++) {
		tensor_id id = i < c->node->n_input ? c->inputs[i] : NONE;
		onnx_value v = { .id = id, .absent = id == NONE };
		if (!onnx_bind(im, &inner, callee->input[i], v, c->place))
			return false;
	}
	return onnx_nodes(im, &inner, callee->node, callee->n_node) &&
	       take_results(im, &inner, c, (const char *const *)callee->output,
			    callee->n_output);
}

onnx_builtin onnx_find_builtin(const char *op_type)
{
	static const struct {
		const char *name;
		onnx_builtin run;
	} table[] = {
		{ "Constant", builtin_constant },
		{ "ConstantOfShape", builtin_constant_of_shape },
		{ "If", builtin_if },
		{ "Loop", builtin_loop },
		{ "Scan", builtin_loop },
		{ "SequenceMap", builtin_loop },
		{ "Shape", builtin_shape },
		{ "Size", builtin_size },
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, op_type))
			return table[i].run;
	return NULL;
}

/* Nodes known by name: constants, and queries of shapes. */
#include "config.h"

#include "compiler/onnx/onnx_import.h"

#include <string.h>

static bool fail(importer *im, const onnx_call *c, diag_id id,
		 const char *message)
{
	diag_error_in(im->sink, id, c->place, "%s", message);
	return false;
}

/* Checks the number of inputs and outputs, and that no input is left out. */
static bool has_arity(importer *im, const onnx_call *c, size_t ninputs)
{
	if (c->node->n_input != ninputs)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has a wrong number of inputs");
	for (size_t i = 0; i < ninputs; i++)
		if (c->inputs[i].kind != MV_TENSOR)
			return fail(im, c, DIAG_ONNX_NODE,
				    "an input of the node is missing");
	if (c->node->n_output != 1)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the node has a wrong number of outputs");
	return true;
}

static tensor_id input(const onnx_call *c)
{
	return (tensor_id)c->inputs[0].i;
}

static bool give(importer *im, const onnx_call *c, const tensor_type *t,
		 const constant *k)
{
	if (k->data && !k->fill)
		onnx_charge(im, (size_t)tensor_nbytes(t));
	c->results[0].v = mv_tensor(
		graph_add_constant(im->b, c->node->output[0], t, k));
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

/* Attributes start and end of Shape, opset 15: clamped; negative ones count
 * from the end. */
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
	const tensor_type *t = graph_type(im->b, input(c));
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
	int64_t v[2] = { tensor_nelem(graph_type(im->b, input(c))) };
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

/* The element of ConstantOfShape; f32 zero by default. */
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
	const tensor_type *s = graph_type(im->b, input(c));
	if (s->type != DT_I64 || s->ndim != 1)
		return fail(im, c, DIAG_ONNX_NODE,
			    "the shape has to be a list of int64");
	const int64_t *dims = graph_constant_data(im->b, input(c), 1 << 20);
	if (!dims)
		return fail(im, c, DIAG_NOT_CONSTANT,
			    "the shape has to be known when planning");
	return fill_value(im, f, c, &type, &k) &&
	       onnx_dims(im, dims, (size_t)s->dims[0], type, c->place, &t) &&
	       give(im, c, &t, &k);
}

onnx_builtin onnx_find_builtin(const char *op_type)
{
	static const struct {
		const char *name;
		onnx_builtin run;
	} table[] = {
		{ "Constant", builtin_constant },
		{ "ConstantOfShape", builtin_constant_of_shape },
		{ "Shape", builtin_shape },
		{ "Size", builtin_size },
	};
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (!strcmp(table[i].name, op_type))
			return table[i].run;
	return NULL;
}

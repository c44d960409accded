/* Declarations in a model: inputs, parameters, states, outputs. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checked.h"
#include "compiler/graph/builder.h"
#include "compiler/model/eval_expr.h"
#include "kernel/eval.h"

/* ---- types -------------------------------------------------------------- */

static bool element_type(evaluator *ev, const ast_stmt *s, dtype *t)
{
	*t = DT_F32;
	if (s->type.kind == TYPE_SHARED)
		return true;
	const mvalue *v = mapping_find(ev, s->type.name);
	*t = !v ? s->type.exact
	     : v->kind == MV_TYPE ? (dtype)v->i
				  : DT_NONE;
	if (*t == DT_NONE)
		mapping_error(ev, DIAG_UNKNOWN_TYPE, s->type.at,
			      "'%s' is not an element type", s->type.name);
	return *t != DT_NONE;
}

static bool add_extent(evaluator *ev, range at, const mvalue *v,
		       tensor_type *t)
{
	if (v->kind == MV_INT && v->i >= 0 && v->i <= GRAPH_MAX_BYTES &&
	    t->ndim < MAX_NDIM) {
		t->dims[t->ndim++] = v->i;
		return true;
	}
	if (v->kind != MV_INT)
		mapping_error(ev, DIAG_BAD_EXTENT, at,
			      "the size of a dimension is expected, not %s",
			      mv_kind_name(v->kind));
	else if (t->ndim == MAX_NDIM)
		mapping_error(ev, DIAG_TOO_MANY_DIMENSIONS, at,
			      "a tensor has at most %d dimensions", MAX_NDIM);
	else
		mapping_error(ev, DIAG_BAD_EXTENT, at,
			      "a dimension cannot have size %" PRId64, v->i);
	return false;
}

/* Evaluates the dimensions; a list stands for several. */
static bool extents(evaluator *ev, const ast_stmt *s, tensor_type *t)
{
	for (int i = 0; i < s->nvalues; i++) {
		range at = s->values[i]->at;
		mvalue v = mapping_eval(ev, s->values[i]);
		if (v.kind == MV_BAD)
			return false;
		int n = v.kind == MV_LIST ? v.n : 1;
		for (int j = 0; j < n; j++)
			if (!add_extent(ev, at,
					v.kind == MV_LIST ? &v.items[j] : &v,
					t))
				return false;
	}
	return true;
}

/* Replaces the declared shape of an input by the one given with --shape. */
static bool replace_shape(evaluator *ev, const ast_stmt *s, const char *name,
			  tensor_type *t)
{
	const model_options *o = ev->options;
	for (int i = 0; i < o->nshapes; i++) {
		if (strcmp(o->shape_names[i], name))
			continue;
		o->shape_used[i] = true;
		if (o->shapes[i].ndim != t->ndim) {
			mapping_error(ev, DIAG_SHAPE_OPTION, s->at,
				      "%s gives %d dimension%s, the model "
				      "declares %d",
				      diag_option(ev->sink, "shape"),
				      o->shapes[i].ndim,
				      o->shapes[i].ndim == 1 ? "" : "s",
				      t->ndim);
			return false;
		}
		memcpy(t->dims, o->shapes[i].dims, sizeof(t->dims));
	}
	return true;
}

static bool declared_type(evaluator *ev, const ast_stmt *s, const char *name,
			  tensor_type *t)
{
	*t = (tensor_type){ .ndim = 0 };
	if (!element_type(ev, s, &t->type) || !extents(ev, s, t) ||
	    (s->kind == STMT_INPUT && !replace_shape(ev, s, name, t)))
		return false;
	if (tensor_type_ok(t))
		return true;
	mapping_error(ev, DIAG_BAD_EXTENT, s->at,
		      "'%s' would have more than 2^50 bytes", name);
	return false;
}

/* ---- values ------------------------------------------------------------- */

/* Stores a number in data.  Returns false if the type does not have it. */
static bool put_number(const mvalue *v, dtype t, void *data, int64_t i)
{
	if (v->kind == MV_INT && !dtype_is_float(t))
		elem_set_i64(t, data, i, v->i);
	else if (v->kind == MV_BOOL && t == DT_BOOL)
		elem_set_i64(t, data, i, v->i);
	else if (mv_is_number(v) && dtype_is_float(t))
		elem_set_f64(t, data, i, mv_double(v));
	else
		return false;
	return true;
}

/* The constant that a value means for a tensor: one number for all elements, a
 * list of elements, or a distribution. */
static bool constant_of(evaluator *ev, const ast_stmt *s, const mvalue *v,
			const tensor_type *t, constant *c)
{
	bool is_list = v->kind == MV_LIST;
	int64_t n = is_list ? v->n : 1;
	*c = (constant){ .fill = !is_list };
	if (v->kind == MV_INIT && dtype_is_float(t->type)) {
		*c = *v->init;
		return true;
	}
	if (is_list && n != tensor_nelem(t)) {
		mapping_error(ev, DIAG_BAD_VALUE, s->value->at,
			      "%" PRId64 " values for %" PRId64 " element%s", n,
			      tensor_nelem(t), tensor_nelem(t) == 1 ? "" : "s");
		return false;
	}
	void *data = graph_alloc(ev->b, (size_t)n * dtype_size(t->type) + 1);
	c->data = data;
	for (int64_t i = 0; i < n; i++) {
		const mvalue *x = is_list ? &v->items[i] : v;
		if (put_number(x, t->type, data, i))
			continue;
		mapping_error(ev, DIAG_BAD_VALUE, s->value->at,
			      "%s cannot be the value of a tensor of type %s",
			      mv_kind_name(x->kind), dtype_name(t->type));
		return false;
	}
	return true;
}

/* The default initial value.  Vectors are 0.  Other tensors are drawn uniformly
 * as proposed by Glorot and Bengio (AISTATS'10), so that forward values and
 * backward gradients keep their variance. */
static constant usual_value(evaluator *ev, const tensor_type *t)
{
	int64_t rest = 1;
	if (t->ndim < 2 || !dtype_is_float(t->type) || tensor_nelem(t) == 0) {
		void *zero = graph_alloc(ev->b, 16);
		return (constant){ .data = memset(zero, 0, 16), .fill = true };
	}
	for (int d = 2; d < t->ndim; d++)
		rest *= t->dims[d];
	double limit = sqrt(6 / (((double)t->dims[0] + (double)t->dims[1]) *
				 (double)rest));
	return (constant){ .init = INIT_UNIFORM, .lo = -limit, .hi = limit };
}

static bool initial_value(evaluator *ev, const ast_stmt *s, const char *name,
			  const tensor_type *t, constant *c)
{
	mvalue v = { .kind = MV_NULL };
	if (s->value) {
		v = mapping_eval(ev, s->value);
		if (v.kind == MV_BAD)
			return false;
	}
	if (v.kind == MV_NULL)
		*c = usual_value(ev, t);
	else if (!constant_of(ev, s, &v, t, c))
		return false;
	if (c->init != INIT_NONE)
		c->key = graph_key(name, ev->options->seed);
	return true;
}

/* ---- declarations ------------------------------------------------------- */

/* A model's tensors that are fed or kept need names of their own. */
static bool declare_once(evaluator *ev, const ast_stmt *s, const char *name)
{
	const ast_stmt *first = strmap_get(ev->declared, name);
	if (!first) {
		strmap_put(ev->declared, name, (void *)(uintptr_t)s);
		return true;
	}
	mapping_error(ev, DIAG_BOUND_TWICE, s->targets[0]->at,
		      "the model declares '%s' twice", name);
	diag_note(ev->sink, first->targets[0]->at,
		  first == s ? "it did so here before"
			     : "the first declaration is here");
	return false;
}

/* The dimension of an input whose extent is just the model's argument `batch';
 * -1 if there is none.  A list before it stands for several dimensions. */
static int batch_dim(const ast_stmt *s, const tensor_type *t)
{
	for (int i = 0; i < s->nvalues && s->nvalues == t->ndim; i++)
		if (s->values[i]->kind == AST_NAME &&
		    !strcmp(s->values[i]->name, "batch"))
			return i;
	return -1;
}

/* Adds an input.  Its default is a number or a list of numbers. */
static bool add_input(evaluator *ev, const ast_stmt *s, const char *name,
		      const tensor_type *t, tensor_id *id)
{
	constant c;
	*id = graph_add_input(ev->b, name, t);
	int batch = batch_dim(s, t);
	if (batch >= 0)
		graph_set_batch(ev->b, *id, batch);
	if (!s->value)
		return true;
	mvalue v = mapping_eval(ev, s->value);
	if (v.kind == MV_NULL)
		return true;
	if (v.kind == MV_BAD)
		return false;
	if (v.kind == MV_INIT) {
		mapping_error(ev, DIAG_BAD_VALUE, s->value->at,
			      "the default value of an input is not drawn");
		return false;
	}
	if (!constant_of(ev, s, &v, t, &c))
		return false;
	graph_set_default(ev->b, *id, &c);
	return true;
}

static bool declare(evaluator *ev, const ast_stmt *s)
{
	const char *own = mapping_target(ev, s->targets[0]);
	if (!own)
		return false;
	const char *name = mapping_model_name(ev, own);
	tensor_type t;
	tensor_id id;
	constant c;
	if (!declare_once(ev, s, name) || !declared_type(ev, s, name, &t))
		return false;
	ev->steps -= MODEL_CALL_STEPS;
	if (s->kind == STMT_INPUT) {
		if (!add_input(ev, s, name, &t, &id))
			return false;
	} else {
		if (!initial_value(ev, s, name, &t, &c))
			return false;
		id = graph_add_state(ev->b, name, &t, &c);
		if (s->kind == STMT_PARAM)
			graph_set_parameter(ev->b, id);
	}
	return mapping_bind(ev, s->targets[0], own, mv_tensor(id));
}

/* ---- next, output ------------------------------------------------------- */

static bool same_type(const tensor_type *x, const tensor_type *y)
{
	return x->type == y->type && x->ndim == y->ndim &&
	       !memcmp(x->dims, y->dims, (size_t)x->ndim * sizeof(x->dims[0]));
}

/* next s = value */
static bool set_next(evaluator *ev, const ast_stmt *s)
{
	const ast_expr *target = s->targets[0];
	mvalue state = mapping_eval(ev, target);
	if (state.kind == MV_BAD)
		return false;
	const tensor *t = state.kind == MV_TENSOR
				  ? graph_tensor(ev->b, (tensor_id)state.i)
				  : NULL;
	if (!t || t->kind != TENSOR_STATE || t->parameter) {
		mapping_error(ev, DIAG_BAD_STATE, target->at,
			      "only a state has a next value, this is %s",
			      t && t->parameter ? "a parameter"
						: mv_kind_name(state.kind));
		return false;
	}
	const char *base = ev->base;
	ev->base = t->name;
	mvalue v = mapping_eval(ev, s->value);
	ev->base = base;
	if (v.kind == MV_BAD)
		return false;
	tensor_id value = (tensor_id)v.i;
	if (v.kind == MV_TENSOR &&
	    !precision_restore(ev->b, &value, t->type.type, t->name))
		return false;
	v.i = value;
	const tensor_type *next = v.kind == MV_TENSOR
					  ? graph_type(ev->b, (tensor_id)v.i)
					  : NULL;
	if (t->next == NONE && next && same_type(next, &t->type)) {
		graph_set_next(ev->b, (tensor_id)state.i, (tensor_id)v.i);
		return true;
	}
	if (t->next != NONE)
		mapping_error(ev, DIAG_BAD_STATE, s->at,
			      "the state '%s' has a next value already",
			      t->name);
	else
		mapping_error(ev, DIAG_BAD_STATE, s->value->at,
			      "the state '%s' is %s, this is %s", t->name,
			      tensor_type_text(ev->tmp, &t->type),
			      next ? tensor_type_text(ev->tmp, next)
				   : mv_kind_name(v.kind));
	return false;
}

static bool add_output(evaluator *ev, const ast_expr *target)
{
	const char *name = mapping_target(ev, target);
	mvalue v = name ? mapping_eval(ev, target) : (mvalue){ .kind = MV_BAD };
	if (v.kind == MV_BAD)
		return false;
	bool again = strmap_get(ev->outputs, name) != NULL;
	if (v.kind != MV_TENSOR || again) {
		mapping_error(ev, DIAG_BAD_OUTPUT, target->at,
			      again ? "the output '%s' is listed twice"
				    : "the output '%s' is %s, not a tensor",
			      name, mv_kind_name(v.kind));
		return false;
	}
	strmap_put(ev->outputs, name, ev);
	graph_set_output(ev->b, (tensor_id)v.i, name);
	return true;
}

bool model_statement(evaluator *ev, const ast_stmt *s)
{
	if (!ev->model) {
		mapping_error(ev, DIAG_MISPLACED, s->at,
			      "this def is for models: an entry of a node "
			      "declares nothing");
		return false;
	}
	switch (s->kind) {
	case STMT_NEXT:
		return set_next(ev, s);
	case STMT_OUTPUT:
		for (int i = 0; i < s->ntargets; i++)
			if (!add_output(ev, s->targets[i]))
				return false;
		return true;
	default:
		return declare(ev, s);
	}
}

#include "config.h"

#include "compiler/model/eval.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/model/eval_expr.h"
#include "kernel/eval.h"

/* Adds an error about the node itself, not about the entry. */
#define node_error(ev, id, ...) \
	(mapping_refuse_node(ev, id, NOWHERE, __VA_ARGS__), false)

/* ---- inputs ------------------------------------------------------------ */

static bool class_fits(const ast_type *want, dtype t)
{
	switch (want->kind) {
	case TYPE_SHARED:
		return true;
	case TYPE_INT:
		return dtype_is_int(t) || t == DT_BOOL;
	case TYPE_FLOAT:
		return dtype_is_float(t);
	default:
		return want->exact == t;
	}
}

/* The elements of a `const` input as numbers. */
static bool const_input(evaluator *ev, const ast_tensor *p, mvalue *v)
{
	if (v->kind != MV_TENSOR)
		return node_error(ev, DIAG_ONNX_NODE,
				  "the input '%s' is not a tensor", p->name);
	tensor_id id = (tensor_id)v->i;
	const tensor_type *t = graph_type(ev->b, id);
	int64_t n = tensor_nelem(t);
	if (!class_fits(&p->type, t->type))
		return node_error(ev, DIAG_ONNX_NODE,
				  "the input '%s' is of type %s, not %s",
				  p->name, dtype_name(t->type), p->type.name);
	if (p->is_list ? t->ndim > 1 : n != 1)
		return node_error(ev, DIAG_ONNX_NODE,
				  "the input '%s' has to be %s", p->name,
				  p->is_list ? "a list" : "one element");
	if (n > MAPPING_MAX_LIST)
		return node_error(ev, DIAG_ONNX_NODE,
				  "the input '%s' has more than %d elements",
				  p->name, MAPPING_MAX_LIST);
	int nerrors = diag_errors(ev->sink);
	const void *data = graph_constant_data(ev->b, id,
					       8 * (int64_t)MAPPING_MAX_LIST);
	if (!data && diag_errors(ev->sink) > nerrors)
		return false;
	if (!data)
		return node_error(ev, DIAG_NOT_CONSTANT,
				  "the input '%s' has to be known when "
				  "planning",
				  p->name);
	mvalue *items = ARENA_ARRAY(ev->tmp, mvalue, n + 1);
	for (int64_t i = 0; i < n; i++)
		items[i] = dtype_is_float(t->type)
				   ? mv_float(elem_get_f64(t->type, data, i))
			   : t->type == DT_BOOL
				   ? mv_bool(elem_get_i64(t->type, data, i))
				   : mv_int(elem_get_i64(t->type, data, i));
	*v = p->is_list ? mv_list(items, (int)n) : items[0];
	return true;
}

/* All inputs from number `first' on, as a list. */
static mvalue rest_of(evaluator *ev, int first)
{
	int n = ev->node->ninputs - first;
	n = n < 0 ? 0 : n;
	return mv_list(ev->node->inputs + (n ? first : 0), n);
}

static bool bind_inputs(evaluator *ev)
{
	const ast_onnx *e = ev->entry;
	const mapping_node *n = ev->node;
	bool variadic = e->nparams > 0 && e->params[e->nparams - 1].variadic;
	if (n->ninputs > e->nparams && !variadic)
		return node_error(ev, DIAG_ONNX_NODE,
				  "%d inputs, %s has at most %d", n->ninputs,
				  e->op_type, e->nparams);
	for (int i = 0; i < e->nparams; i++) {
		const ast_tensor *p = &e->params[i];
		mvalue v = i < n->ninputs ? n->inputs[i] : mv_tensor(NONE);
		if (p->variadic)
			v = rest_of(ev, i);
		else if (v.kind == MV_NULL && !p->optional)
			return node_error(ev, DIAG_ONNX_NODE,
					  "the input '%s' is missing", p->name);
		else if (v.kind != MV_NULL && p->constant &&
			 !const_input(ev, p, &v))
			return false;
		mapping_set(ev, p->name, v);
	}
	return true;
}

/* ---- attributes -------------------------------------------------------- */

/* Element i of an attribute's value, as the entry declares it. */
static bool attr_element(const ast_attr *a, const attr_value *v, int i,
			 mvalue *r)
{
	attr_type want = a->type == ATTR_AXIS ? ATTR_INT : a->type;
	if (want == ATTR_TYPE && v->type == ATTR_INT) {
		*r = mv_type(mapping_onnx_type(v->ints[i]));
		return r->i != DT_NONE;
	}
	if (want == ATTR_BOOL && v->type == ATTR_INT) {
		*r = mv_bool(v->ints[i] != 0);
		return true;
	}
	if (want != v->type)
		return false;
	*r = want == ATTR_INT	 ? mv_int(v->ints[i])
	     : want == ATTR_FLOAT ? mv_float(v->floats[i])
				  : mv_string(v->strings[i]);
	return true;
}

static bool attr_of_node(evaluator *ev, const ast_attr *a,
			 const mapping_attr *m, mvalue *r)
{
	const attr_value *v = m->value;
	if (a->type == ATTR_GRAPH && m->graph) {
		*r = (mvalue){ .kind = MV_GRAPH, .graph = m->graph };
		return true;
	}
	bool ok = v && v->is_list == a->is_list &&
		  (!a->is_list || a->length < 0 || a->length == v->n) &&
		  (!v->is_list || v->n <= MAPPING_MAX_LIST);
	mvalue *items = ARENA_ARRAY(ev->tmp, mvalue, ok ? v->n + 1 : 1);
	for (int i = 0; ok && i < v->n; i++)
		ok = attr_element(a, v, i, &items[i]);
	if (!ok && v && a->type == ATTR_TYPE && v->type == ATTR_INT &&
	    v->n == 1)
		return node_error(ev, DIAG_ONNX_TYPE,
				  "tdlc does not have the element type "
				  "%" PRId64, v->ints[0]);
	if (!ok)
		return node_error(ev, DIAG_ONNX_NODE,
				  "the attribute '%s' has a value of the wrong "
				  "type or length",
				  a->name);
	*r = v->is_list ? mv_list(items, v->n) : items[0];
	return true;
}

static const mapping_attr *find_attr(const mapping_node *n, const char *name)
{
	for (int i = 0; i < n->nattrs; i++)
		if (!strcmp(n->attrs[i].name, name))
			return &n->attrs[i];
	return NULL;
}

static bool bind_attrs(evaluator *ev)
{
	const ast_onnx *e = ev->entry;
	int used = 0;
	for (int i = 0; i < e->nattrs; i++) {
		const ast_attr *a = &e->attrs[i];
		const mapping_attr *m = find_attr(ev->node, a->name);
		mvalue v = { .kind = MV_NULL };
		if (m) {
			used++;
			if (!attr_of_node(ev, a, m, &v))
				return false;
		} else if (a->init) {
			v = mapping_eval(ev, a->init);
		} else if (!a->optional) {
			return node_error(ev, DIAG_ONNX_NODE,
					  "the attribute '%s' is missing",
					  a->name);
		}
		if (v.kind == MV_BAD)
			return false;
		mapping_set(ev, a->name, v);
	}
	for (int i = 0; i < ev->node->nattrs && used < ev->node->nattrs; i++) {
		const char *name = ev->node->attrs[i].name;
		if (ast_find_attr(e->attrs, e->nattrs, name) < 0)
			return node_error(ev, DIAG_ONNX_NODE,
					  "%s has no attribute '%s'",
					  e->op_type, name);
	}
	return true;
}

/* ---- results ----------------------------------------------------------- */

/* A single list stands for all the results. */
static void spread_results(outcome *out)
{
	if (out->n != 1 || out->values[0].kind != MV_LIST)
		return;
	const mvalue *items = out->values[0].items;
	out->n = out->values[0].n;
	out->values = (mvalue *)(uintptr_t)items;
}

/* A result as the model sees it: a tensor, a sequence in arena a, or
 * nothing. */
static bool take_result(evaluator *ev, arena *a, range at, mvalue v,
			mvalue *result)
{
	*result = v;
	if (v.kind == MV_TENSOR || v.kind == MV_NULL)
		return true;
	if (v.kind != MV_LIST) {
		mapping_error(ev, DIAG_MAPPING, at,
			      "a tensor is expected, not %s",
			      mv_kind_name(v.kind));
		return false;
	}
	mvalue *items = ARENA_ARRAY(a, mvalue, v.n + 1);
	for (int i = 0; i < v.n; i++) {
		items[i] = v.items[i];
		if (items[i].kind == MV_TENSOR)
			continue;
		mapping_error(ev, DIAG_MAPPING, at,
			      "a tensor is expected in a sequence, not %s",
			      mv_kind_name(items[i].kind));
		return false;
	}
	*result = mv_list(items, v.n);
	return true;
}

static bool apply(evaluator *ev, arena *a, int nwanted, mvalue *results)
{
	outcome out = { 0 };
	if (!bind_inputs(ev) || !bind_attrs(ev))
		return false;
	mflow f = mapping_statements(ev, ev->entry->body, ev->entry->nbody,
				     &out);
	if (f == FLOW_ON)
		mapping_error(ev, DIAG_MAPPING, ev->entry->name_at,
			      "the entry ends without a 'return'");
	if (f != FLOW_RETURN)
		return false;
	spread_results(&out);
	if (out.n < nwanted)
		return node_error(ev, DIAG_ONNX_NODE,
				  "%d outputs, %s has %d", nwanted,
				  ev->entry->op_type, out.n);
	for (int i = 0; i < nwanted; i++)
		if (!take_result(ev, a, out.at, out.values[i], &results[i]))
			return false;
	return true;
}

bool mapping_apply(arena *a, graph_builder *b, const tdl_modules *m,
		   diag_sink *s, const ast_onnx *entry, const mapping_node *n,
		   int nwanted, mvalue *results)
{
	evaluator ev = { .b = b, .modules = m, .sink = s, .entry = entry,
			 .node = n, .base = n->name, .tmp = arena_new(),
			 .steps = MAPPING_MAX_STEPS };
	mapping_enter(&ev, NULL, NOWHERE, "");
	bool ok = apply(&ev, a, nwanted, results);
	arena_free(ev.tmp);
	return ok;
}

#include "config.h"

#include "compiler/graph/mapping.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "compiler/graph/mapping_expr.h"
#include "plan/eval.h"

/* ---- the node's own faults --------------------------------------------- */

static bool node_error(evaluator *ev, diag_id id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static bool node_error(evaluator *ev, diag_id id, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(ev->tmp, fmt, ap);
	va_end(ap);
	ev->failed = true;
	diag_error_in(ev->sink, id, ev->node->place, "%s", text);
	return false;
}

/* ---- inputs ------------------------------------------------------------ */

static bool class_fits(const char *want, dtype t)
{
	if (!want)
		return true;
	if (!strcmp(want, "int"))
		return dtype_is_int(t) || t == DT_BOOL;
	if (!strcmp(want, "float"))
		return dtype_is_float(t);
	return dtype_parse(want) == t;
}

/* The elements of a `const` input as numbers. */
static bool const_input(evaluator *ev, const ast_tensor *p, mvalue *v)
{
	if (v->kind != MV_TENSOR)
		return node_error(ev, DIAG_ONNX_NODE,
				  "the input '%s' is no tensor", p->name);
	tensor_id id = (tensor_id)v->i;
	const tensor_type *t = graph_type(ev->b, id);
	int64_t n = tensor_nelem(t);
	if (!class_fits(p->type.name, t->type))
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

/* All the inputs from the first-th on, as a list. */
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

/* Element i of an attribute's value as what the entry declares. */
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
				  "the element type %" PRId64
				  " is none that tdlc has",
				  v->ints[0]);
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
		int j = 0;
		while (j < e->nattrs && strcmp(e->attrs[j].name, name))
			j++;
		if (j == e->nattrs)
			return node_error(ev, DIAG_ONNX_NODE,
					  "%s has no attribute '%s'",
					  e->op_type, name);
	}
	return true;
}

/* ---- statements -------------------------------------------------------- */

/* How a list of statements ended. */
typedef enum flow { FLOW_ON, FLOW_RETURN, FLOW_FAILED } flow;

typedef struct outcome {
	int n;
	mvalue *values;
	range at; /* of the return */
} outcome;

static flow run(evaluator *ev, ast_stmt *const *body, int n, outcome *out);

static flow run_assign(evaluator *ev, const ast_stmt *s)
{
	mvalue v = mapping_eval(ev, s->value);
	if (v.kind == MV_BAD)
		return FLOW_FAILED;
	if (s->ntargets == 1) {
		mapping_set(ev, s->targets[0], v);
		return FLOW_ON;
	}
	if (v.kind != MV_LIST || v.n != s->ntargets) {
		mapping_error(ev, DIAG_MAPPING, s->at,
			      "%d names for %d value%s", s->ntargets,
			      v.kind == MV_LIST ? v.n : 1,
			      v.kind == MV_LIST && v.n != 1 ? "s" : "");
		return FLOW_FAILED;
	}
	for (int i = 0; i < v.n; i++)
		mapping_set(ev, s->targets[i], v.items[i]);
	return FLOW_ON;
}

static flow run_if(evaluator *ev, const ast_stmt *s, outcome *out)
{
	mvalue c = mapping_eval(ev, s->value);
	if (c.kind == MV_BAD)
		return FLOW_FAILED;
	if (c.kind != MV_BOOL) {
		mapping_error(ev, DIAG_MAPPING, s->value->at,
			      "%s where a condition is expected",
			      mv_kind_name(c.kind));
		return FLOW_FAILED;
	}
	return c.i ? run(ev, s->body, s->nbody, out)
		   : run(ev, s->other, s->nother, out);
}

static flow run_for(evaluator *ev, const ast_stmt *s, outcome *out)
{
	mvalue n = mapping_eval(ev, s->value);
	if (n.kind == MV_BAD)
		return FLOW_FAILED;
	if (n.kind != MV_INT) {
		mapping_error(ev, DIAG_MAPPING, s->value->at,
			      "%s where an integer is expected",
			      mv_kind_name(n.kind));
		return FLOW_FAILED;
	}
	for (int64_t i = 0; i < n.i; i++) {
		if (ev->steps-- <= 0) {
			mapping_error(ev, DIAG_MAPPING, s->at,
				      "this takes too many steps");
			return FLOW_FAILED;
		}
		mapping_set(ev, s->var, mv_int(i));
		flow f = run(ev, s->body, s->nbody, out);
		if (f != FLOW_ON)
			return f;
	}
	return FLOW_ON;
}

static flow run_return(evaluator *ev, const ast_stmt *s, outcome *out)
{
	out->n = s->nvalues;
	out->values = ARENA_ARRAY(ev->tmp, mvalue, s->nvalues + 1);
	for (int i = 0; i < s->nvalues; i++) {
		out->values[i] = mapping_eval(ev, s->values[i]);
		if (out->values[i].kind == MV_BAD)
			return FLOW_FAILED;
	}
	out->at = s->at;
	return FLOW_RETURN;
}

static flow run_unsupported(evaluator *ev, const ast_stmt *s)
{
	mvalue why = mapping_eval(ev, s->value);
	if (why.kind == MV_BAD)
		return FLOW_FAILED;
	node_error(ev, DIAG_UNSUPPORTED, "%s",
		   why.kind == MV_STRING ? why.s : "not supported");
	diag_note(ev->sink, s->at, "the entry says so here");
	return FLOW_FAILED;
}

static flow run_one(evaluator *ev, const ast_stmt *s, outcome *out)
{
	switch (s->kind) {
	case STMT_ASSIGN:
		return run_assign(ev, s);
	case STMT_IF:
		return run_if(ev, s, out);
	case STMT_FOR:
		return run_for(ev, s, out);
	case STMT_RETURN:
		return run_return(ev, s, out);
	case STMT_CALL:
		return run_unsupported(ev, s);
	}
	return FLOW_FAILED;
}

static flow run(evaluator *ev, ast_stmt *const *body, int n, outcome *out)
{
	for (int i = 0; i < n; i++) {
		flow f = run_one(ev, body[i], out);
		if (f != FLOW_ON)
			return f;
	}
	return FLOW_ON;
}

mvalue mapping_run(evaluator *ev, const ast_block *def)
{
	outcome out = { 0 };
	flow f = run(ev, def->body, def->nbody, &out);
	if (f == FLOW_ON)
		mapping_error(ev, DIAG_MAPPING, def->name_at,
			      "'%s' ends without a 'return'", def->name);
	if (f != FLOW_RETURN)
		return (mvalue){ .kind = MV_BAD };
	return out.n == 1 ? out.values[0] : mv_list(out.values, out.n);
}

/* ---- results ----------------------------------------------------------- */

/* A list that stands alone is all the results. */
static void spread_results(outcome *out)
{
	if (out->n != 1 || out->values[0].kind != MV_LIST)
		return;
	const mvalue *items = out->values[0].items;
	out->n = out->values[0].n;
	out->values = (mvalue *)(uintptr_t)items;
}

/* A result as the model sees it: a tensor, a sequence in arena a, nothing. */
static bool take_result(evaluator *ev, arena *a, range at, mvalue v,
			mvalue *result)
{
	*result = v;
	if (v.kind == MV_TENSOR || v.kind == MV_NULL)
		return true;
	if (v.kind != MV_LIST) {
		mapping_error(ev, DIAG_MAPPING, at,
			      "%s where a tensor is expected",
			      mv_kind_name(v.kind));
		return false;
	}
	mvalue *items = ARENA_ARRAY(a, mvalue, v.n + 1);
	for (int i = 0; i < v.n; i++) {
		items[i] = v.items[i];
		if (items[i].kind == MV_TENSOR)
			continue;
		mapping_error(ev, DIAG_MAPPING, at,
			      "%s in a sequence, where a tensor is expected",
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
	flow f = run(ev, ev->entry->body, ev->entry->nbody, &out);
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
			 .node = n, .tmp = arena_new(),
			 .steps = MAPPING_MAX_STEPS };
	bool ok = apply(&ev, a, nwanted, results);
	arena_free(ev.tmp);
	return ok;
}

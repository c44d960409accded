#include "config.h"

#include "compiler/expand/expand.h"

#include <string.h>

#include "compiler/expand/signature.h"

enum { MAX_CALL_DEPTH = 32, MAX_STAGES = 10000 };

static expansion *expand_at(const context *caller, arena *a,
			    const tdl_modules *m, diag_sink *s,
			    const ast_op *op, const tensor_type *params,
			    const attr_value *const *attrs, call_site site,
			    const char *label);

/* ---- the signature ------------------------------------------------------ */

bool bind_attrs(context *cx, const attr_value *const *given)
{
	const ast_op *op = cx->op;
	const attr_value **attrs =
		ARENA_ARRAY(cx->tmp, const attr_value *, op->nattrs + 1);
	cx->attrs = attrs;
	for (int i = 0; i < op->nattrs; i++) {
		static const attr_value none = { .type = ATTR_INT };
		attrs[i] = &none;
	}
	for (int i = 0; i < op->nattrs; i++) {
		attrs[i] = bind_attr(cx, &op->attrs[i], given[i]);
		if (!attrs[i])
			return false;
		bind_attr_name(cx, i, (xname){ .kind = NAME_ATTR, .index = i,
					       .at = op->attrs[i].at });
	}
	return true;
}

/* Binds parameters in an order in which each pack is bound before it is
 * used. */
static bool bind_params(context *cx, const tensor_type *types)
{
	const ast_op *op = cx->op;
	bool *done = ARENA_ARRAY(cx->tmp, bool, op->nparams + 1);
	bool broadcast = false, any = true;
	for (int left = op->nparams; left > 0 || !broadcast;) {
		any = false;
		for (int i = 0; i < op->nparams; i++) {
			const ast_tensor *t = &op->params[i];
			if (done[i] || (t->broadcast && !broadcast))
				continue;
			bool ready = dims_ready(cx, t);
			if (cx->failed)
				return false;
			if (!ready)
				continue;
			done[i] = any = true;
			left--;
			if (!t->broadcast && !bind_dims(cx, t, &types[i]))
				return false;
		}
		if (!any && broadcast)
			break;
		if (!any) {
			broadcast = true;
			if (!bind_broadcast(cx, types))
				return false;
		}
	}
	for (int i = 0; i < op->nparams; i++) {
		if (!done[i]) {
			expand_error(cx, DIAG_UNBOUND_PACK, op->params[i].at,
				     "a pack of '%s' is bound by no parameter",
				     op->params[i].name);
			return false;
		}
		if (!check_sizes(cx, &op->params[i], &types[i]))
			return false;
	}
	return true;
}

static bool bind_signature(context *cx, const tensor_type *types,
			   const attr_value *const *attrs)
{
	const ast_op *op = cx->op;
	for (int i = 0; i < op->nparams; i++) {
		xvalue v = { .name = op->params[i].name, .type = types[i],
			     .rank = types[i].ndim };
		vec_push(cx->tmp, &cx->values, v);
	}
	cx->nparams = op->nparams;
	if (!bind_attrs(cx, attrs))
		return false;
	for (int i = 0; i < op->nparams; i++)
		if (!bind_type(cx, &op->params[i], types[i].type))
			return false;
	if (!bind_params(cx, types))
		return false;
	for (int i = 0; i < op->nparams; i++)
		bind_param_name(cx, i, (xname){ .kind = NAME_TENSOR, .index = i,
						.at = op->params[i].at });
	return true;
}

/* ---- calls of operators ------------------------------------------------- */

static bool call_operator(context *cx, const ast_expr *call,
			  const ast_op *callee, const char *label,
			  int *results);

/* The tensor for an argument of a call: a name, or another call. */
static int argument(context *cx, const ast_expr *e, const char *label, int i)
{
	const xname *n = find_name(cx, e->symbol);
	if (n && n->kind == NAME_TENSOR)
		return n->index;
	if (expand_broken(cx, n))
		return -1;
	const ast_op *inner = ast_op_of(e);
	if (inner && inner->nresults == 1) {
		int value;
		const char *name =
			arena_printf(cx->tmp, "%s.%s%d", label, e->name, i);
		return call_operator(cx, e, inner, name, &value) ? value : -1;
	}
	expand_error(cx, DIAG_BAD_CALL, e->at, "a tensor is expected here");
	return -1;
}

const attr_value **call_attrs(context *cx, const ast_expr *call,
			      const ast_op *callee)
{
	const attr_value **attrs =
		ARENA_ARRAY(cx->tmp, const attr_value *, callee->nattrs + 1);
	for (int i = 0; i < call->nnamed; i++) {
		const ast_named *named = &call->named[i];
		const ast_attr *attr = &callee->attrs[named->index];
		attrs[named->index] = attr_from_expr(cx, attr, named->value);
		if (!attrs[named->index])
			return NULL;
	}
	return attrs;
}

/* Adds the stages of an expansion whose parameters are args[]. */
static void splice(context *cx, const expansion *x, const int *args,
		   int *results)
{
	int first = cx->values.n;
	for (int i = 0; i < x->nstages; i++) {
		stage st = x->stages[i];
		const kernel *k = st.kernel;
		for (int j = 0; j < k->ninputs; j++)
			st.inputs[j] = st.inputs[j] < x->nparams
					       ? args[st.inputs[j]]
					       : st.inputs[j] - x->nparams +
							 first;
		vec_push(cx->tmp, &cx->stages, st);
		xvalue v = { .name = st.label, .rank = k->nout,
			     .type = { .type = k->type, .ndim = k->nout } };
		for (int d = 0; d < k->nout; d++)
			v.type.dims[d] = kernel_dim(k, d);
		vec_push(cx->tmp, &cx->values, v);
	}
	for (int i = 0; i < x->nresults; i++)
		results[i] = x->results[i] < x->nparams
				     ? args[x->results[i]]
				     : x->results[i] - x->nparams + first;
}

static bool call_operator(context *cx, const ast_expr *call,
			  const ast_op *callee, const char *label,
			  int *results)
{
	if (cx->depth >= MAX_CALL_DEPTH) {
		expand_error(cx, DIAG_BAD_CALL, call->at,
			     "operators call each other more than %d deep",
			     MAX_CALL_DEPTH);
		return false;
	}
	if (call->nargs != callee->nparams) {
		expand_error(cx, DIAG_BAD_CALL, call->at,
			     "'%s' takes %d tensor%s, not %d", callee->name,
			     callee->nparams, callee->nparams == 1 ? "" : "s",
			     call->nargs);
		return false;
	}
	int *args = ARENA_ARRAY(cx->tmp, int, call->nargs + 1);
	tensor_type *types = ARENA_ARRAY(cx->tmp, tensor_type, call->nargs + 1);
	for (int i = 0; i < call->nargs; i++) {
		args[i] = argument(cx, call->args[i], label, i);
		if (args[i] < 0)
			return false;
		types[i] = cx->values.at[args[i]].type;
	}
	const attr_value **attrs = call_attrs(cx, call, callee);
	if (!attrs)
		return false;
	expansion *x = expand_at(cx, cx->arena, cx->modules, cx->sink, callee,
				 types, attrs, (call_site){ .at = call->at },
				 label);
	if (!x) {
		cx->failed = true;
		return false;
	}
	splice(cx, x, args, results);
	return true;
}

/* ---- the body ----------------------------------------------------------- */

/* let v, i = f(x) */
static bool let_call(context *cx, const ast_let *let, const ast_op *callee,
		     int *values)
{
	if (callee->nresults == let->nnames)
		return call_operator(cx, let->value, callee, let->names[0],
				     values);
	expand_error(cx, DIAG_BAD_CALL, let->at,
		     "'%s' has %d result%s, %d %s bound here", callee->name,
		     callee->nresults, callee->nresults == 1 ? "" : "s",
		     let->nnames, let->nnames == 1 ? "is" : "are");
	return false;
}

static bool expand_let(context *cx, const ast_let *let)
{
	const ast_op *callee = ast_op_of(let->value);
	int *values = ARENA_ARRAY(cx->tmp, int, let->nnames + 1);
	if (callee) {
		if (!let_call(cx, let, callee, values))
			return false;
	} else if (let->value->kind == AST_LAMBDA && let->nnames == 1) {
		values[0] = expand_lambda(cx, let->value, NULL, 0, DT_NONE,
					  let->names[0]);
		if (values[0] < 0)
			return false;
	} else {
		val v = expand_scalar(cx, let->value);
		if (v.kind == VAL_BAD)
			return false;
		if (v.kind == VAL_EXPR || let->nnames != 1) {
			expand_error(cx, DIAG_BAD_CALL, let->value->at,
				     "a 'let' binds a lambda, the results of "
				     "an operator, or a constant");
			return false;
		}
		bind_name(cx, let->symbols[0],
			  (xname){ .kind = NAME_CONST, .v = v, .at = let->at });
		return true;
	}
	for (int i = 0; i < let->nnames; i++)
		bind_name(cx, let->symbols[i],
			  (xname){ .kind = NAME_TENSOR, .index = values[i],
				   .at = let->at });
	return true;
}

/* ---- lets without a value ---------------------------------------------- */

/* The shape of a lambda without its body.  Returns the number of dimensions, -1
 * if it is not known. */
static int lambda_shape(context *cx, const ast_expr *lambda,
			int64_t dims[MAX_NDIM])
{
	scope s = scope_push(cx);
	int vars[MAX_NVARS], n = bind_vars(cx, lambda, NULL, 0, vars);
	n = n <= MAX_NDIM ? n : -1;
	for (int i = 0; i < n; i++)
		dims[i] = cx->vars.at[vars[i]].extent;
	scope_pop(cx, &s);
	return n;
}

/* The types of a call's arguments.  Returns false if they are not known. */
static bool argument_types(context *cx, const ast_expr *call,
			   tensor_type *types)
{
	for (int i = 0; i < call->nargs; i++) {
		const xname *n = find_name(cx, call->args[i]->symbol);
		if (!n || n->kind != NAME_TENSOR)
			return false;
		types[i] = cx->values.at[n->index].type;
	}
	return true;
}

/* The types of an operator's results, found without its body.  Returns false if
 * they are not known. */
static bool result_types(context *cx, const ast_expr *call,
			 const ast_op *callee, tensor_type *results)
{
	tensor_type *types = ARENA_ARRAY(cx->tmp, tensor_type, call->nargs + 1);
	const attr_value **attrs;
	context inner = { .arena = cx->arena, .tmp = cx->tmp,
			  .modules = cx->modules, .sink = cx->sink,
			  .op = callee, .site = { .at = call->at },
			  .shared = DT_NONE };
	if (call->nargs != callee->nparams ||
	    !argument_types(cx, call, types) ||
	    !(attrs = call_attrs(cx, call, callee)))
		return false;
	begin_names(&inner);
	if (!bind_signature(&inner, types, attrs))
		return false;
	for (int i = 0; i < callee->nresults; i++) {
		const ast_tensor *r = &callee->results[i];
		if (!eval_dims(&inner, r, &results[i]))
			return false;
		results[i].type = type_said(&inner, &r->type);
	}
	return true;
}

static void break_name(context *cx, const ast_let *let, int i, broken_let b)
{
	bind_name(cx, let->symbols[i],
		  (xname){ .kind = NAME_BROKEN, .at = let->at,
			   .broken = ARENA_COPY(cx->tmp, &b, 1) });
}

static void break_call(context *cx, const ast_let *let, const ast_op *callee,
		       broken_let b)
{
	tensor_type *types =
		ARENA_ARRAY(cx->tmp, tensor_type, callee->nresults + 1);
	bool known = let->nnames == callee->nresults &&
		     result_types(cx, let->value, callee, types);
	for (int i = 0; i < let->nnames; i++) {
		if (known) {
			b.ndim = types[i].ndim;
			memcpy(b.dims, types[i].dims, sizeof(b.dims));
		}
		if (known && types[i].type != DT_NONE)
			b.type = etype_exact(types[i].type);
		break_name(cx, let, i, b);
	}
}

/* Binds the names of a let to the errors found in it.  Their types and shapes
 * are still set. */
static void break_let(context *cx, const ast_let *let, const diag_sink *why)
{
	broken_let b = { .why = why, .ndim = -1 };
	const ast_expr *e = let->value;
	const ast_op *callee = ast_op_of(e);
	cx->sink = diag_sink_beside(cx->tmp, why);
	if (callee) {
		break_call(cx, let, callee, b);
		return;
	}
	if (e->kind == AST_LAMBDA) {
		cx->around = DT_NONE;
		b.ndim = lambda_shape(cx, e, b.dims);
		dtype type = expand_type(cx, e->args[0]);
		if (type != DT_NONE)
			b.type = etype_exact(type);
	} else {
		b.type = expand_etype(cx, e);
	}
	for (int i = 0; i < let->nnames; i++)
		break_name(cx, let, i, b);
}

/* Expands a let.  Its errors are kept and reported only if the let is used. */
static void try_let(context *cx, const ast_let *let)
{
	const context before = *cx;
	diag_sink *own = diag_sink_beside(cx->tmp, cx->sink);
	cx->sink = own;
	bool ok = expand_let(cx, let);
	cx->sink = before.sink;
	if (ok && !cx->failed) {
		diag_join(cx->sink, own);
		return;
	}
	cx->values.n = before.values.n;
	cx->stages.n = before.stages.n;
	cx->reads.n = before.reads.n;
	cx->conditions.n = before.conditions.n;
	cx->nextracted = before.nextracted;
	break_let(cx, let, own);
	cx->sink = before.sink;
	cx->want = before.want;
	cx->around = before.around;
	cx->nowhere = before.nowhere;
	cx->failed = false;
}

static bool expand_results(context *cx, expansion *x)
{
	const ast_op *op = cx->op;
	x->nresults = op->nresults;
	x->results = ARENA_ARRAY(cx->arena, int, op->nresults);
	x->result_types = ARENA_ARRAY(cx->arena, tensor_type, op->nresults);
	for (int i = 0; i < op->nresults; i++) {
		const ast_tensor *r = &op->results[i];
		const char *label = op->nresults > 1 ? r->name : "";
		tensor_type t;
		if (!eval_dims(cx, r, &t))
			return false;
		t.type = type_said(cx, &r->type);
		x->results[i] = expand_lambda(cx, op->bodies[i], t.dims,
					      t.ndim, t.type, label);
		if (x->results[i] < 0)
			return false;
		x->result_types[i] = cx->values.at[x->results[i]].type;
	}
	return true;
}

static expansion *expand_in(context *cx, const tensor_type *params,
			    const attr_value *const *attrs)
{
	const ast_op *op = cx->op;
	if (!bind_signature(cx, params, attrs))
		return NULL;
	for (int i = 0; i < op->nlets; i++) {
		try_let(cx, &op->lets[i]);
		if (cx->stages.n > MAX_STAGES)
			return NULL;
	}
	expansion *x = ARENA_NEW(cx->arena, expansion);
	if (!expand_results(cx, x))
		return NULL;
	x->nparams = op->nparams;
	x->nstages = cx->stages.n;
	x->stages = ARENA_COPY(cx->arena, cx->stages.at, cx->stages.n);
	return x;
}

static expansion *expand_at(const context *caller, arena *a,
			    const tdl_modules *m, diag_sink *s,
			    const ast_op *op, const tensor_type *params,
			    const attr_value *const *attrs, call_site site,
			    const char *label)
{
	context cx = { .arena = a, .tmp = arena_new(), .modules = m,
		       .sink = s, .op = op, .site = site,
		       .shared = DT_NONE, .want = DT_NONE,
		       .depth = caller ? caller->depth + 1 : 0,
		       .top = caller ? caller->top : op->name };
	cx.label = caller && *caller->label
			   ? arena_printf(a, "%s.%s", caller->label, label)
			   : label;
	begin_names(&cx);
	expansion *x = expand_in(&cx, params, attrs);
	arena_free(cx.tmp);
	return cx.failed ? NULL : x;
}

void call_error(diag_sink *s, diag_id id, call_site site, const char *model,
		const char *fmt, ...)
{
	arena *tmp = arena_new();
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(tmp, fmt, ap);
	va_end(ap);
	if (site.at.beg)
		diag_error(s, id, site.at, "%s", text);
	else
		diag_error_in(s, id, site.place ? site.place : model, "%s",
			      text);
	arena_free(tmp);
}

expansion *expand_op(arena *a, const tdl_modules *m, diag_sink *s,
		     const ast_op *op, const tensor_type *params,
		     const attr_value *const *attrs, call_site site)
{
	return expand_at(NULL, a, m, s, op, params, attrs, site, "");
}

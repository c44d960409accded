/* Evaluates expressions, reductions and lambdas, and with these an operator. */
#include "config.h"

#include "compiler/verify/reference/frame.h"

#include <math.h>
#include <string.h>

int64_t ref_count(const ref_tensor *t)
{
	int64_t n = 1;
	for (int d = 0; d < t->ndim; d++)
		n *= t->dims[d];
	return n;
}

/* ---- operators ---------------------------------------------------------- */

static const char *text_of(ast_operator op)
{
	return op == OP_NEG ? "neg" : ast_operator_text(op);
}

static double as_double(ref_number x)
{
	return x.fraction ? x.f : (double)x.i;
}

/* A constant as a number of i64 if it is `whole', otherwise of f64. */
static ref_number in_widest(ref_number x, bool whole)
{
	if (x.doubt)
		return ref_doubt(whole ? DT_I64 : DT_F64);
	return whole ? ref_int(DT_I64, x.i)
		     : (ref_number){ .type = DT_F64, .f = as_double(x),
				     .error = x.error };
}

/* The result of a function on such numbers, as a constant. */
static ref_number as_constant(ref_number x)
{
	if (x.type == DT_BOOL)
		return x;
	x.fraction = dtype_is_float(x.type);
	x.type = DT_NONE;
	return x;
}

static ref_number of_constants(const char *name, ref_number x, ref_number y)
{
	bool whole = !x.fraction && !y.fraction;
	if (x.doubt || y.doubt)
		return ref_doubt(DT_NONE);
	if (x.text && y.text)
		return ref_bool(!strcmp(x.text, y.text) == (*name == '='));
	return as_constant(ref_apply(name, 2, in_widest(x, whole),
				     in_widest(y, whole)));
}

static ref_number apply(const char *name, ref_number x, ref_number y)
{
	if (x.type == DT_NONE && y.type == DT_NONE)
		return of_constants(name, x, y);
	dtype t = x.type != DT_NONE ? x.type : y.type;
	return ref_apply(name, 2, ref_meet(x, t), ref_meet(y, t));
}

/* The type in which operands are computed: their own.  If they have none, for a
 * test the type that constants have here, otherwise the type of the result. */
static dtype operand_type(frame *f, ast_expr *const *e, int n, bool test)
{
	dtype t = DT_NONE;
	for (int i = 0; i < n && t == DT_NONE; i++)
		t = ref_type_of(f, e[i]);
	return t != DT_NONE ? t : test ? ref_open_type(f, e, n) : f->want;
}

static ref_number binary(frame *f, const ast_expr *e)
{
	dtype t = operand_type(f, e->args, 2, e->op >= OP_LT);
	ref_number x = ref_eval_typed(f, e->args[0], t);
	return apply(text_of(e->op), x, ref_eval_typed(f, e->args[1], t));
}

static ref_number logical(frame *f, const ast_expr *e)
{
	bool or = e->op == OP_OR;
	ref_number x = ref_eval_typed(f, e->args[0], DT_BOOL);
	if (x.doubt) {
		f->w->doubtful = true;
		return ref_doubt(DT_BOOL);
	}
	return (x.i != 0) == or ? x : ref_eval_typed(f, e->args[1], DT_BOOL);
}

static ref_number unary(frame *f, const ast_expr *e)
{
	bool not = e->op == OP_NOT;
	dtype t = not ? DT_BOOL : operand_type(f, e->args, 1, false);
	ref_number x = ref_eval_typed(f, e->args[0], t);
	if (not) {
		x.i = !x.i;
		return x;
	}
	if (x.type != DT_NONE)
		return ref_apply("neg", 1, x, x);
	x.i = -x.i;
	x.f = -x.f;
	return x;
}

/* The alternative that the condition chooses, in the common type of both. */
static ref_number choice(frame *f, const ast_expr *e, ast_expr *const args[3])
{
	const ast_expr *only = ref_chosen(f, args);
	if (only)
		return ref_chosen_value(f, args, ref_eval(f, only));
	ref_number c = ref_eval_typed(f, args[0], DT_BOOL);
	dtype t = operand_type(f, (ast_expr *[]){ (ast_expr *)e }, 1,
			       f->want == DT_NONE);
	if (c.doubt) {
		f->w->doubtful = true;
		return ref_doubt(t);
	}
	return ref_eval_as(f, args[c.i ? 1 : 2], t);
}

/* ---- calls -------------------------------------------------------------- */

static ref_number conversion(frame *f, const ast_expr *e, builtin_rule rule)
{
	bool keeps = rule == RULE_SATURATE; /* it keeps the type */
	dtype t = ref_type_named(f, e->args[1]);
	dtype of = operand_type(f, e->args, 1, !keeps || f->want == DT_NONE);
	ref_number x = ref_eval_typed(f, e->args[0], of);
	if (keeps)
		return ref_saturate(ref_meet(x, of), t);
	x = ref_meet(x, DT_NONE);
	return rule == RULE_CAST ? ref_cast(x, t) : ref_bitcast(x, t);
}

/* The value of an integer of any type as an index. */
static ref_number index_value(frame *f, const ast_expr *e)
{
	dtype around = f->around;
	f->around = DT_I64;
	dtype own = ref_type_of(f, e);
	ref_number v = ref_eval_as(f, e, own == DT_NONE ? DT_I64 : own);
	f->around = around;
	return ref_cast(v, DT_I64);
}

/* The row-major position of variables among their extents. */
static ref_number position(frame *f, const ast_expr *e)
{
	int64_t at = 0;
	for (int i = 0; i < e->nargs; i++) {
		const ast_expr *item = e->args[i];
		int pack, positions[REF_MAX_NDIM], n = 1;
		const ref_name *var = NULL;
		if (item->kind == AST_PACK) {
			n = ref_positions(f, item->pack, item->at, &pack,
					  positions);
		} else {
			var = ref_find(f, item->name);
		}
		for (int j = 0; j < n; j++) {
			const ref_pack *p = var ? NULL : &f->packs.at[pack];
			int d = var ? 0 : positions[j];
			at = at * (var ? var->extent : p->extents[d]) +
			     (var ? var->v.i : p->index[d]);
		}
	}
	return ref_int(DT_I64, at);
}

static ref_number points(frame *f, const ast_expr *item)
{
	int pack, positions[REF_MAX_NDIM];
	int64_t count = 1;
	int n = ref_positions(f, item->pack, item->at, &pack, positions);
	for (int i = 0; i < n; i++)
		count *= f->packs.at[pack].extents[positions[i]];
	return ref_constant(count);
}

/* A function of one constant: a constant again, except for tests. */
static ref_number of_constant(const char *name, ref_number x)
{
	const builtin *b = builtin_find(BUILTIN_SCALAR, name);
	bool whole = !x.fraction && b->rule != RULE_FLOAT &&
		     b->rule != RULE_TEST;
	x = in_widest(x, whole);
	return as_constant(ref_apply(name, 1, x, x));
}

static ref_number function(frame *f, const ast_expr *e)
{
	if (!strcmp(e->name, "random"))
		return ref_apply("random", 2, index_value(f, e->args[0]),
				 index_value(f, e->args[1]));
	const builtin *b = builtin_find(BUILTIN_SCALAR, e->name);
	dtype t = operand_type(f, e->args, e->nargs, b->rule == RULE_TEST);
	bool open = ref_type_of(f, e) == DT_NONE;
	ref_number x = ref_eval_typed(f, e->args[0], t);
	if (e->nargs == 1)
		return x.type == DT_NONE ? of_constant(e->name, x)
					 : ref_apply(e->name, 1, x, x);
	for (int i = 1; i < e->nargs; i++) {
		ref_number y = ref_eval_typed(f, e->args[i], t);
		x = open ? apply(e->name, x, y)
			 : ref_apply(e->name, 2, ref_meet(x, t),
				     ref_meet(y, t));
	}
	return x;
}

static ref_number call(frame *f, const ast_expr *e)
{
	if (builtin_find(BUILTIN_REDUCER, e->name))
		return ref_passed(ref_reduce(f, e, f->want));
	const builtin *b = builtin_find(BUILTIN_SCALAR, e->name);
	switch (b ? b->rule : RULE_NONE) {
	case RULE_NONE:
		break;
	case RULE_CAST:
	case RULE_BITCAST:
	case RULE_SATURATE:
		return conversion(f, e, b->rule);
	case RULE_SELECT:
		return choice(f, e, e->args);
	case RULE_POSITION:
		return position(f, e);
	case RULE_POINTS:
		return points(f, e->args[0]);
	case RULE_LENGTH:
		return ref_constant(ref_find_attr(f, e->args[0]->name)->n);
	default:
		if (ref_applies(e->name))
			return function(f, e);
	}
	ref_refuse(f, e->at, "a function is not known");
	return ref_doubt(DT_NONE);
}

/* ---- reads -------------------------------------------------------------- */

/* The indices in dimensions that are left to ..unravel(position). */
static void unravel(int64_t at, const int64_t *dims, int n, int64_t *to)
{
	for (int d = n - 1; d > 0; d--) {
		int64_t extent = dims[d] > 0 ? dims[d] : 1;
		to[d] = (at % extent + extent) % extent;
		at = (at - to[d]) / extent;
	}
	if (n > 0)
		to[0] = at;
}

/* The indices of a read, one for each of `rank' dimensions.  Returns false if
 * one is in doubt. */
static bool indices(frame *f, const ast_expr *e, const int64_t *dims, int rank,
		    int64_t *to)
{
	int left = rank, at = 0;
	bool sure = true;
	for (int i = 1; i < e->nargs; i++) {
		int width = ref_width(f, e->args[i]);
		left -= width > 0 ? width : 0;
	}
	for (int i = 1; i < e->nargs && !ref_failed(f); i++) {
		const ast_expr *item = e->args[i];
		int pack, positions[REF_MAX_NDIM], n = 1;
		if (item->kind != AST_PACK) {
			ref_number v = index_value(f, item);
			sure &= !v.doubt;
			to[at] = v.i;
		} else if (item->pack->kind == PACK_CALL) {
			ref_number v = index_value(f, item->pack->sel->args[0]);
			sure &= !v.doubt;
			n = left;
			unravel(v.i, dims + at, n, to + at);
		} else {
			n = ref_positions(f, item->pack, item->at, &pack,
					  positions);
			for (int j = 0; j < n; j++)
				to[at + j] = f->packs.at[pack]
						     .index[positions[j]];
		}
		at += n;
	}
	return sure;
}

/* Converts indices over a broadcast pack to those of the tensor's own
 * dimensions. */
static void own_indices(frame *f, const ref_name *n, int64_t *index)
{
	int at = 0, pack = ref_broadcast(f, n, &at);
	if (pack < 0)
		return;
	const ref_tensor *t = n->tensor;
	int missing = ref_rank(f, n) - t->ndim;
	int own = f->packs.at[pack].rank - missing;
	for (int i = at; i < t->ndim; i++)
		index[i] = index[i + missing];
	for (int d = 0; d < own; d++)
		if (t->dims[at + d] == 1)
			index[at + d] = 0;
}

ref_number ref_read(frame *f, const ast_expr *e, const ref_name *n,
		    const ast_expr *otherwise)
{
	const ref_tensor *t = n->tensor;
	int64_t index[2 * REF_MAX_NDIM] = { 0 }, place = 0;
	if (ref_uses_fault(f, n))
		return ref_doubt(t->type);
	int rank = ref_rank(f, n);
	bool sure = e->nargs < 2 || indices(f, e, t->dims, rank, index);
	if (ref_failed(f))
		return ref_doubt(t->type);
	if (!sure) {
		f->w->doubtful = true;
		return ref_doubt(t->type);
	}
	own_indices(f, n, index);
	for (int d = 0; d < t->ndim; d++) {
		if (index[d] >= 0 && index[d] < t->dims[d]) {
			place = place * t->dims[d] + index[d];
			continue;
		}
		if (otherwise)
			return ref_eval_as(f, otherwise, t->type);
		f->w->status = REF_OUTSIDE;
		f->w->at = e->at;
		return ref_doubt(t->type);
	}
	return t->at[place];
}

static ref_number attr_element(const ref_attr *v, int64_t i)
{
	switch (v->type) {
	case ATTR_FLOAT:
		return ref_fraction(v->floats[i]);
	case ATTR_BOOL:
		return ref_bool(v->ints[i]);
	case ATTR_STRING:
		return (ref_number){ .type = DT_NONE, .text = v->strings[i] };
	default:
		return ref_constant(v->ints[i]);
	}
}

/* The value of a name, or of e with indices after it. */
static ref_number named(frame *f, const ast_expr *e, const char *name,
			const ast_expr *otherwise)
{
	const ref_name *n = ref_find(f, name);
	if (!n) {
		ref_refuse(f, e->at, "a name is not bound");
		return ref_doubt(DT_NONE);
	}
	if (n->means != MEANS_TENSOR && ref_uses_fault(f, n))
		return ref_doubt(DT_NONE);
	switch (n->means) {
	case MEANS_TENSOR: {
		const ref_name copy = *n;
		return ref_read(f, e, &copy, otherwise);
	}
	case MEANS_ATTR:
		return attr_element(n->attr,
				    e->kind == AST_INDEX
					    ? ref_eval_size(f, e->args[1])
					    : 0);
	default:
		return n->v;
	}
}

/* ---- expressions -------------------------------------------------------- */

static ref_number evaluated(frame *f, const ast_expr *e)
{
	if (--f->w->steps < 0 && !ref_failed(f))
		f->w->status = REF_TOO_LONG;
	if (ref_failed(f))
		return ref_doubt(DT_NONE);
	switch (e->kind) {
	case AST_INT:
		return ref_constant(e->i);
	case AST_FLOAT:
		return ref_fraction(e->f);
	case AST_BOOL:
		return ref_bool(e->i);
	case AST_STRING:
		return (ref_number){ .type = DT_NONE, .text = e->name };
	case AST_NAME:
		return named(f, e, e->name, NULL);
	case AST_INDEX:
		if (ref_opaque_of(f, e->args[0]))
			return ref_eval_opaque(f, e);
		return named(f, e, e->args[0]->name, NULL);
	case AST_GUARD: {
		const ast_expr *read = e->args[0];
		return named(f, read, read->args[0]->name, e->args[1]);
	}
	case AST_CALL:
		return call(f, e);
	case AST_UNARY:
		return unary(f, e);
	case AST_BINARY:
		return e->op == OP_AND || e->op == OP_OR ? logical(f, e)
							 : binary(f, e);
	case AST_IF:
		return choice(f, e, e->args);
	default:
		ref_refuse(f, e->at, "an expression is not understood");
		return ref_doubt(DT_NONE);
	}
}

ref_number ref_eval(frame *f, const ast_expr *e)
{
	ref_number x = evaluated(f, e);
	f->w->infinite |= isinf(x.f);
	return x;
}

ref_number ref_eval_typed(frame *f, const ast_expr *e, dtype type)
{
	dtype want = f->want, around = f->around;
	f->want = type;
	if (type != DT_NONE && type != DT_BOOL)
		f->around = type;
	ref_number x = ref_eval(f, e);
	f->want = want;
	f->around = around;
	return x;
}

ref_number ref_eval_as(frame *f, const ast_expr *e, dtype type)
{
	return ref_meet(ref_eval_typed(f, e, type), type);
}

int64_t ref_eval_size(frame *f, const ast_expr *e)
{
	ref_number v = ref_eval(f, e);
	return v.doubt ? 0 : v.i;
}

/* ---- operators ---------------------------------------------------------- */

/* The lambda's tensor of the given type; DT_NONE: its own.  It runs over the
 * given extents, or over those of its variables if extents is NULL. */
static ref_tensor *tensor_of(frame *f, const ast_expr *lambda,
			     const int64_t *extents, dtype type)
{
	const ast_expr *body = lambda->args[0];
	ref_tensor *t = ARENA_NEW(f->w->arena, ref_tensor);
	axis axes[REF_MAX_VARS];
	int64_t at[REF_MAX_VARS], i = 0;
	ref_scope saved;
	int n = ref_open(f, lambda, extents, axes, &saved);
	if (n < 0 || n > REF_MAX_NDIM) {
		ref_refuse(f, lambda->at, "too many dimensions");
		return t;
	}
	t->ndim = n;
	for (int d = 0; d < n; d++)
		t->dims[d] = axes[d].extent;
	t->type = type != DT_NONE ? type : ref_type_of(f, body);
	if (t->type == DT_NONE)
		t->type = ref_open_type(f, lambda->args, 1);
	bool reduces = body->kind == AST_CALL &&
		       builtin_find(BUILTIN_REDUCER, body->name);
	t->at = ARENA_ARRAY(f->w->arena, ref_number, ref_count(t) + 1);
	if (f->nfaults > 0)
		ref_demand(f, body);
	for (bool more = ref_first(f, axes, n, at); more && !ref_failed(f);
	     more = ref_next(f, axes, n, at)) {
		ref_number v = reduces ? ref_reduce(f, body, t->type)
				       : ref_eval_as(f, body, t->type);
		t->at[i++] = ref_stored(v);
	}
	ref_close(f, &saved);
	return t;
}

static void run_frame(frame *f, const ref_attr *const *attrs,
		      ref_tensor *results);

/* let a, b = f(x, k = 2): the results of the call. */
static ref_tensor *call_operator(frame *f, const ast_expr *e)
{
	const ast_op *op = strmap_get(f->w->modules->ops, e->name);
	arena *a = f->w->arena;
	ref_tensor *params = ARENA_ARRAY(a, ref_tensor, op->nparams + 1);
	const ref_attr **attrs = ARENA_ARRAY(a, const ref_attr *,
					     op->nattrs + 1);
	for (int i = 0; i < e->nargs && !ref_failed(f); i++) {
		const ast_expr *arg = e->args[i];
		if (arg->kind == AST_CALL) {
			params[i] = *call_operator(f, arg);
			continue;
		}
		const ref_name *n = ref_find(f, arg->name);
		params[i] = *n->tensor;
		ref_uses_fault(f, n);
	}
	for (int i = 0; i < e->nnamed; i++)
		for (int j = 0; j < op->nattrs; j++)
			if (op->attrs[j].name == e->named[i].name)
				attrs[j] = ref_attr_value(f, &op->attrs[j],
							  e->named[i].value);
	ref_tensor *results = ARENA_ARRAY(a, ref_tensor, op->nresults);
	frame callee = { .w = f->w, .op = op, .params = params,
			 .around = DT_NONE };
	if (!ref_failed(f))
		run_frame(&callee, attrs, results);
	return results;
}

static void bind_let(frame *f, const ast_let *let)
{
	const int nnames = f->names.n;
	const ast_expr *e = let->value;
	bool calls = e->kind == AST_CALL &&
		     strmap_get(f->w->modules->ops, e->name);
	if (!calls && e->kind != AST_LAMBDA) {
		ref_number v = ref_eval(f, e);
		ref_push(f, (ref_name){ .name = let->names[0],
					.means = MEANS_NUMBER,
					.v = v,
					.fault = ref_take_fault(f) });
		return;
	}
	const ref_tensor *t = calls ? call_operator(f, e)
				    : tensor_of(f, e, NULL, DT_NONE);
	const ref_fault *why = ref_take_fault(f);
	f->names.n = nnames;
	for (int i = 0; i < let->nnames; i++)
		ref_push(f, (ref_name){ .name = let->names[i],
					.means = MEANS_TENSOR,
					.tensor = &t[i],
					.fault = why });
}

static void run_frame(frame *f, const ref_attr *const *attrs,
		      ref_tensor *results)
{
	const ast_op *op = f->op;
	ref_bind_signature(f, attrs);
	for (int i = 0; i < op->nresults && !ref_failed(f); i++) {
		results[i].type = ref_declared(f, &op->results[i].type);
		ref_declared_dims(f, &op->results[i], &results[i]);
	}
	for (int i = 0; i < op->nlets && !ref_failed(f); i++)
		bind_let(f, &op->lets[i]);
	for (int i = 0; i < op->nresults && !ref_failed(f); i++) {
		const ast_tensor *r = &op->results[i];
		ref_tensor declared;
		ref_declared_dims(f, r, &declared);
		dtype type = ref_declared(f, &r->type);
		f->around = type == DT_BOOL ? DT_NONE : type;
		if (!ref_failed(f))
			results[i] = *tensor_of(f, op->bodies[i],
						declared.dims, type);
	}
}

ref_outcome reference_run(arena *a, const tdl_modules *m, const ast_op *op,
			  const ref_tensor *params,
			  const ref_attr *const *attrs, ref_opaque opaque,
			  int64_t steps)
{
	world w = { .arena = a, .modules = m, .opaque = opaque,
		    .steps = steps, .status = REF_DONE };
	frame f = { .w = &w, .op = op, .params = params, .around = DT_NONE };
	ref_tensor *results = ARENA_ARRAY(a, ref_tensor, op->nresults + 1);
	run_frame(&f, attrs, results);
	return (ref_outcome){ w.status, w.why, w.at, w.doubtful, w.infinite,
			      op->nresults, results };
}

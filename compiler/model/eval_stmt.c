/* Statements in the bodies of models, onnx entries and defs. */
#include "config.h"

#include "compiler/model/eval_expr.h"

static mflow assign(evaluator *ev, const ast_expr *target, const char *name,
		    mvalue v)
{
	if (!mapping_bind(ev, target, name, v))
		return FLOW_FAILED;
	if (ev->model && v.kind == MV_TENSOR)
		graph_name(ev->b, (tensor_id)v.i, mapping_model_name(ev, name));
	return FLOW_ON;
}

static mflow run_assign(evaluator *ev, const ast_stmt *s)
{
	const char *base = ev->base, *one, **names = &one;
	if (s->ntargets > 1)
		names = ARENA_ARRAY(ev->tmp, const char *, s->ntargets);
	for (int i = 0; i < s->ntargets; i++)
		if (!(names[i] = mapping_target(ev, s->targets[i])))
			return FLOW_FAILED;
	if (ev->model)
		ev->base = mapping_model_name(ev, names[0]);
	mvalue v = mapping_eval(ev, s->value);
	ev->base = base;
	if (v.kind == MV_BAD)
		return FLOW_FAILED;
	if (s->ntargets == 1)
		return assign(ev, s->targets[0], names[0], v);
	if (v.kind != MV_LIST || v.n != s->ntargets) {
		mapping_error(ev, DIAG_MAPPING, s->at,
			      "%d names for %d value%s", s->ntargets,
			      v.kind == MV_LIST ? v.n : 1,
			      v.kind == MV_LIST && v.n != 1 ? "s" : "");
		return FLOW_FAILED;
	}
	mflow f = FLOW_ON;
	for (int i = 0; i < v.n && f == FLOW_ON; i++)
		f = assign(ev, s->targets[i], names[i], v.items[i]);
	return f;
}

static mflow run_if(evaluator *ev, const ast_stmt *s, outcome *out)
{
	mvalue c = mapping_eval(ev, s->value);
	if (c.kind == MV_BAD)
		return FLOW_FAILED;
	if (c.kind != MV_BOOL) {
		mapping_error(ev, DIAG_MAPPING, s->value->at,
			      "a condition is expected, not %s",
			      mv_kind_name(c.kind));
		return FLOW_FAILED;
	}
	int branch = ev->branch;
	ev->branch = ++ev->tick;
	mflow f = c.i ? mapping_statements(ev, s->body, s->nbody, out)
		      : mapping_statements(ev, s->other, s->nother, out);
	ev->branch = branch;
	return f;
}

/* The number of iterations of a loop.  *items: the list's items, or NULL for
 * the numbers 0, 1, .. */
static bool loop_over(evaluator *ev, const ast_stmt *s, int64_t *n,
		      const mvalue **items)
{
	mvalue v = mapping_eval(ev, s->value);
	*items = NULL;
	if (v.kind == MV_BAD)
		return false;
	if (!s->each) {
		*n = v.i;
		return mapping_integer(ev, s->value->at, &v);
	}
	*n = v.n;
	*items = v.items;
	if (v.kind == MV_LIST)
		return true;
	mapping_error(ev, DIAG_MAPPING, s->value->at,
		      "a list is expected, not %s", mv_kind_name(v.kind));
	return false;
}

static mflow run_for(evaluator *ev, const ast_stmt *s, outcome *out)
{
	int64_t n;
	const mvalue *items;
	if (!loop_over(ev, s, &n, &items))
		return FLOW_FAILED;
	mflow f = FLOW_ON;
	int at = ev->loops.n;
	vec_push(ev->tmp, &ev->loops, ((mloop){ ++ev->tick, 0 }));
	for (int64_t i = 0; i < n && f == FLOW_ON; i++) {
		ev->loops.at[at].iteration = ++ev->tick;
		mapping_set(ev, s->var, items ? items[i] : mv_int(i));
		f = mapping_statements(ev, s->body, s->nbody, out);
		if (f == FLOW_ON && ev->steps-- <= 0) {
			mapping_error(ev, DIAG_MAPPING, s->at,
				      "this takes too many steps");
			f = FLOW_FAILED;
		}
	}
	ev->loops.n = at;
	return f;
}

static mflow run_return(evaluator *ev, const ast_stmt *s, outcome *out)
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

static mflow run_unsupported(evaluator *ev, const ast_stmt *s)
{
	mvalue why = mapping_eval(ev, s->value);
	if (why.kind == MV_BAD)
		return FLOW_FAILED;
	mapping_refuse_node(ev, DIAG_UNSUPPORTED, s->at, "%s",
			    why.kind == MV_STRING ? why.s : "not supported");
	return FLOW_FAILED;
}

static mflow run_one(evaluator *ev, const ast_stmt *s, outcome *out)
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
	default:
		return model_statement(ev, s) ? FLOW_ON : FLOW_FAILED;
	}
	return FLOW_FAILED;
}

mflow mapping_statements(evaluator *ev, ast_stmt *const *body, int n,
			 outcome *out)
{
	for (int i = 0; i < n; i++) {
		mflow f = run_one(ev, body[i], out);
		if (f != FLOW_ON)
			return f;
	}
	return FLOW_ON;
}

mvalue mapping_run(evaluator *ev, const ast_block *def)
{
	outcome out = { 0 };
	mflow f = mapping_statements(ev, def->body, def->nbody, &out);
	if (f == FLOW_ON)
		mapping_error(ev, DIAG_MAPPING, def->name_at,
			      "'%s' ends without a 'return'", def->name);
	if (f != FLOW_RETURN)
		return (mvalue){ .kind = MV_BAD };
	return out.n == 1 ? out.values[0] : mv_list(out.values, out.n);
}


/* Lets without a value.  Those that use them get the error. */
#include "config.h"

#include "compiler/verify/reference/frame.h"

const ref_fault *ref_take_fault(frame *f)
{
	world *w = f->w;
	if (w->status != REF_OUTSIDE && w->status != REF_REFUSED)
		return NULL;
	ref_fault *why = ARENA_NEW(w->arena, ref_fault);
	*why = (ref_fault){ w->status, w->why, w->at };
	w->status = REF_DONE;
	f->nfaults++;
	return why;
}

bool ref_uses_fault(frame *f, const ref_name *n)
{
	if (!n->fault)
		return false;
	f->w->status = n->fault->status;
	f->w->why = n->fault->why;
	f->w->at = n->fault->at;
	return true;
}

static void demand(frame *f, const ast_expr *e);

static void demand_all(frame *f, ast_expr *const *e, int n)
{
	for (int i = 0; i < n; i++)
		demand(f, e[i]);
}

/* Whether a condition is known; sets its value.  A known side of `and' or `or'
 * may decide it, on the left or on the right of an unknown one. */
static bool is_known(frame *f, const ast_expr *e, bool *value)
{
	bool a, b;
	if (ref_is_constant(f, e)) {
		*value = ref_eval(f, e).i != 0;
		return true;
	}
	if (e->kind != AST_BINARY || (e->op != OP_AND && e->op != OP_OR))
		return false;
	bool left = is_known(f, e->args[0], &a);
	bool right = is_known(f, e->args[1], &b);
	*value = e->op == OP_OR;
	if ((left && a == *value) || (right && b == *value))
		return true;
	*value = !*value;
	return left && right;
}

static void demand_chosen(frame *f, ast_expr *const args[3])
{
	bool chosen;
	demand(f, args[0]);
	if (ref_failed(f))
		return;
	if (is_known(f, args[0], &chosen))
		demand(f, args[chosen ? 1 : 2]);
	else
		demand_all(f, args + 1, 2);
}

static void demand_logical(frame *f, const ast_expr *e)
{
	bool left;
	demand(f, e->args[0]);
	if (ref_failed(f) || (is_known(f, e->args[0], &left) &&
			      left == (e->op == OP_OR)))
		return;
	demand(f, e->args[1]);
}

/* The variables hide lets of the same names. */
static void demand_in_lambda(frame *f, const ast_expr *lambda)
{
	int n = f->names.n;
	for (int i = 0; i < lambda->nvars; i++) {
		const ast_var *v = &lambda->vars[i];
		if (v->extent)
			demand(f, v->extent);
		if (v->name)
			ref_push(f, (ref_name){ .name = v->name,
						.means = MEANS_VAR });
	}
	demand(f, lambda->args[0]);
	f->names.n = n;
}

/* A let is a tensor of its own, computed whatever elements decide.  Only
 * conditions known when planning leave it out. */
static void demand(frame *f, const ast_expr *e)
{
	const ref_name *n;
	const builtin *b;
	if (ref_failed(f))
		return;
	switch (e->kind) {
	case AST_NAME:
		n = ref_find(f, e->name);
		if (n)
			ref_uses_fault(f, n);
		return;
	case AST_IF:
		demand_chosen(f, e->args);
		return;
	case AST_BINARY:
		if (e->op == OP_AND || e->op == OP_OR) {
			demand_logical(f, e);
			return;
		}
		break;
	case AST_CALL:
		b = builtin_find(BUILTIN_SCALAR, e->name);
		if (b && b->rule == RULE_SELECT) {
			demand_chosen(f, e->args);
			return;
		}
		break;
	case AST_LAMBDA:
		demand_in_lambda(f, e);
		return;
	default:
		break;
	}
	demand_all(f, e->args, e->nargs);
}

void ref_demand(frame *f, const ast_expr *e)
{
	demand(f, e);
}

#include "config.h"

#include "compiler/gradient/adjoint.h"

#include <math.h>

#include "kernel/reducers.h"

/* ---- rules ------------------------------------------------------------- */

/* The type rule of a call; RULE_NONE if it calls no function. */
static builtin_rule rule_of(const ast_expr *call)
{
	return call->calls.function ? call->calls.function->rule : RULE_NONE;
}

/* The kernel function that a call computes; -1 if there is none. */
static int function_of(const ast_expr *call)
{
	const builtin *f = call->calls.function;
	return f ? f->fn : -1;
}

/* The choice that max or min makes between its arguments. */
static fn_choice choice_of(const ast_expr *call)
{
	int f = function_of(call);
	return f < 0 ? FN_NO_CHOICE : fn_table[f].choice;
}

/* Replaces a parameter of the rule by the call's argument. */
static ast_expr *put_argument(void *arg, const ast_expr *e)
{
	const ast_expr *call = arg;
	return e->kind == AST_NAME && e->symbol ? call->args[e->symbol->index]
						: NULL;
}

/* The derivative of a call by a rule that is written in terms of its
 * arguments. */
static ast_expr *apply_rule(grad_op *g, const ast_expr *rule,
			    const ast_expr *call)
{
	return tree_map(&g->t, rule, put_argument, (ast_expr *)call);
}

/* ---- the walk ---------------------------------------------------------- */

typedef struct walk {
	grad_op *g;
	const grad_stage *stage;
	const bool *wanted;
	contributions *out;
} walk;

static void propagate(walk *w, ast_expr *e, ast_expr *adjoint,
		      ast_expr *condition);

static void give_up(walk *w, const char *fmt, const char *name)
{
	if (!w->g->because)
		w->g->because = arena_printf(w->g->t.a, fmt, name);
}

/* Whether e reads one of a set of tensors to compute with its elements. */
static bool reads_any(const grad_op *g, const ast_expr *e, const bool *set)
{
	if (e->kind == AST_INDEX && e->args[0]->kind == AST_NAME) {
		int t = grad_read_of(g, e);
		return t >= 0 && set[t];
	}
	for (int i = 0; i < e->nargs; i++)
		if (reads_any(g, e->args[i], set))
			return true;
	return false;
}

/* Whether e reads a tensor whose derivative is wanted. */
static bool is_reached(const walk *w, const ast_expr *e)
{
	return reads_any(w->g, e, w->wanted);
}

static void read_tensor(walk *w, ast_expr *e, ast_expr *adjoint,
			ast_expr *condition)
{
	contribution c = {.tensor = grad_read_of(w->g, e),
			  .stage = w->stage,
			  .n = e->nargs - 1,
			  .items = e->args + 1,
			  .condition = condition,
			  .adjoint = adjoint};
	vec_push(w->g->t.a, w->out, c);
}

static ast_expr *and_also(walk *w, ast_expr *x, ast_expr *y)
{
	return x ? tree_binary(&w->g->t, OP_AND, x, y) : y;
}

static void choose(walk *w, ast_expr *c, ast_expr *x, ast_expr *y,
		   ast_expr *adjoint, ast_expr *condition)
{
	propagate(w, x, adjoint, and_also(w, condition, c));
	propagate(w, y, adjoint,
		  and_also(w, condition, tree_not(&w->g->t, c)));
}

static void arithmetic(walk *w, ast_expr *e, ast_expr *d, ast_expr *condition)
{
	trees *t = &w->g->t;
	ast_expr *x = e->args[0], *y = e->args[1];
	switch (e->op) {
	case OP_ADD:
		propagate(w, x, d, condition);
		propagate(w, y, d, condition);
		break;
	case OP_SUB:
		propagate(w, x, d, condition);
		propagate(w, y, tree_neg(t, d), condition);
		break;
	case OP_MUL:
		propagate(w, x, tree_mul(t, d, y), condition);
		propagate(w, y, tree_mul(t, d, x), condition);
		break;
	case OP_DIV:
		propagate(w, x, tree_div(t, d, y), condition);
		propagate(w, y,
			  tree_neg(t, tree_div(t, tree_mul(t, d, x),
					       tree_mul(t, y, y))),
			  condition);
		break;
	case OP_MOD: /* x - floor(x/y)*y, where the floor is constant */
		propagate(w, x, d, condition);
		if (is_reached(w, y))
			propagate(w, y,
				  tree_mul(t, d, tree_div(t, tree_sub(t, e, x),
							  y)),
				  condition);
		break;
	default:
		break;
	}
}

/* The share of the derivative that argument i of max or min gets if it is
 * chosen.  Equal arguments share it, except constants. */
static ast_expr *share_of(walk *w, ast_expr *e, int i, ast_expr *d)
{
	trees *t = &w->g->t;
	ast_expr *n = tree_int(t, 1), *one = tree_int(t, 1);
	for (int j = 0; j < e->nargs; j++)
		if (j != i && reads_any(w->g, e->args[j], w->g->varying))
			n = tree_add(t, n,
				     tree_if(t,
					     tree_binary(t, OP_EQ, e->args[i],
							 e->args[j]),
					     one, tree_int(t, 0)));
	return tree_div(t, d, n);
}

/* The derivative of max or min goes to the chosen argument.  A constant wins a
 * tie, so max(x, 0) has no slope at 0.  Other equal arguments share the
 * derivative. */
static void extremum(walk *w, ast_expr *e, bool max, ast_expr *d,
		     ast_expr *condition)
{
	trees *t = &w->g->t;
	for (int i = 0; i < e->nargs; i++) {
		ast_expr *c = condition;
		if (!is_reached(w, e->args[i]))
			continue;
		for (int j = 0; j < e->nargs; j++) {
			bool strict = !reads_any(w->g, e->args[j],
						 w->g->varying);
			ast_operator op = max ? (strict ? OP_GT : OP_GE)
					      : (strict ? OP_LT : OP_LE);
			if (j != i)
				c = and_also(w, c,
					     tree_binary(t, op, e->args[i],
							 e->args[j]));
		}
		propagate(w, e->args[i], share_of(w, e, i, d), c);
	}
}

/* Whether the text leaves open whether a type is a float type.  The type is
 * given by an attribute, or shared by arguments, and no result and no wanted
 * input has it: derivatives are asked for only if those are floats. */
static bool is_open_type(const walk *w, etype type)
{
	const ast_op *op = w->g->op;
	bool shared = type.kind == TY_SHARED;
	bool open = shared || type.kind == TY_ATTR;
	for (int i = 0; i < op->nresults; i++)
		open &= shared ? op->results[i].type.kind != TYPE_SHARED
			       : op->results[i].type.symbol != type.symbol;
	for (int i = 0; shared && i < op->nparams; i++)
		open &= !w->wanted[i] || op->params[i].type.kind != TYPE_SHARED;
	return open;
}

/* The derivative of a conversion is converted back to the source type if both
 * types are floats.  As an integer one half would be 0. */
static void conversion(walk *w, ast_expr *e, ast_expr *d, ast_expr *condition)
{
	trees *t = &w->g->t;
	etype from = grad_type(w->g, e->args[0]);
	etype to = grad_type(w->g, e);
	if (!etype_may_be_float(to) || !etype_may_be_float(from))
		return;
	if (is_open_type(w, to))
		condition = and_also(
			w, condition,
			tree_binary(t, OP_NE,
				    grad_cast(w->g, tree_float(t, 0.5), to),
				    tree_int(t, 0)));
	propagate(w, e->args[0], grad_cast(w->g, d, from), condition);
}

/* The derivative of saturate passes where saturate changes nothing. */
static void saturation(walk *w, ast_expr *e, ast_expr *d, ast_expr *condition)
{
	ast_expr *same = tree_binary(&w->g->t, OP_EQ, e, e->args[0]);
	propagate(w, e->args[0], d, and_also(w, condition, same));
}

/* The derivative of a function with an entry in the table. */
static void value(walk *w, ast_expr *e, ast_expr *d, ast_expr *condition)
{
	int f = function_of(e);
	if (choice_of(e) != FN_NO_CHOICE) {
		extremum(w, e, choice_of(e) == FN_GREATEST, d, condition);
		return;
	}
	for (int i = 0; i < e->nargs; i++) {
		if (!is_reached(w, e->args[i]))
			continue;
		const ast_expr *rule =
			f < 0 ? NULL : dsl_derivative(w->g->modules, f, i);
		if (!rule) {
			give_up(w, "'%s' has no derivative", e->name);
			return;
		}
		propagate(w, e->args[i],
			  tree_mul(&w->g->t, d, apply_rule(w->g, rule, e)),
			  condition);
	}
}

static void function(walk *w, ast_expr *e, ast_expr *d, ast_expr *condition)
{
	switch (rule_of(e)) {
	case RULE_SELECT:
		choose(w, e->args[0], e->args[1], e->args[2], d, condition);
		break;
	case RULE_CAST:
		conversion(w, e, d, condition);
		break;
	case RULE_SATURATE:
		saturation(w, e, d, condition);
		break;
	default:
		value(w, e, d, condition);
		break;
	}
}

static void propagate(walk *w, ast_expr *e, ast_expr *adjoint,
		      ast_expr *condition)
{
	if (!is_reached(w, e) || tree_is_zero(adjoint) ||
	    (condition && condition->kind == AST_BOOL && !condition->i))
		return;
	switch (e->kind) {
	case AST_INDEX:
		if (e->args[0]->kind == AST_NAME)
			read_tensor(w, e, adjoint, condition);
		else
			give_up(w, "the opaque function '%s' has none",
				e->args[0]->name);
		break;
	case AST_GUARD:
		propagate(w, e->args[0], adjoint, condition);
		break;
	case AST_UNARY:
		propagate(w, e->args[0], tree_neg(&w->g->t, adjoint),
			  condition);
		break;
	case AST_BINARY:
		arithmetic(w, e, adjoint, condition);
		break;
	case AST_IF:
		choose(w, e->args[0], e->args[1], e->args[2], adjoint,
		       condition);
		break;
	case AST_CALL:
		function(w, e, adjoint, condition);
		break;
	default:
		break;
	}
}

/* ---- stages ------------------------------------------------------------ */

/* tensor[the stage's variables] */
static ast_expr *at_stage(grad_op *g, const grad_stage *s,
			  const ast_symbol *tensor)
{
	ast_expr **items = ARENA_ARRAY(g->t.a, ast_expr *, s->nvars + 1);
	grad_items(g, s->vars, s->nvars, items);
	return tree_index(&g->t, tree_use(&g->t, tensor), s->nvars, items);
}

/* The number of terms that the stage reduces, as an expression. */
static ast_expr *count_terms(grad_op *g, const grad_stage *s)
{
	trees *t = &g->t;
	ast_expr *n = tree_int(t, 1);
	for (int i = 0; i < s->nreduced; i++) {
		const ast_var *v = &s->reduced[i];
		ast_expr *item = v->pack ? tree_pack(t, v->pack) : NULL;
		n = tree_mul(t, n,
			     item ? tree_function(t, SCALAR_size, 1, &item)
				  : v->extent);
	}
	return n;
}

/* Adds a stage, and returns its element at its own variables. */
static ast_expr *other_stage(grad_op *g, const char *name, grad_stage other)
{
	int tensor = grad_add_stage(g, grad_fresh(g, name), other);
	g->tensors.at[tensor].smooth = false; /* it only distinguishes terms */
	return at_stage(g, &other, g->tensors.at[tensor].symbol);
}

/* Adds a stage that reduces another body over the same terms.  Returns its
 * element at the stage's own variables. */
static ast_expr *other_reduction(grad_op *g, const grad_stage *s,
				 const char *name, builtin_id by,
				 ast_expr *body)
{
	grad_stage other = *s;
	other.reducer = &builtin_table[by];
	other.body = body;
	return other_stage(g, name, other);
}

/* Whether storing e does not round: e is a number read from a tensor, or one
 * that all types can represent. */
static bool is_exact(const grad_op *g, const ast_expr *e)
{
	int first = e->kind == AST_IF; /* the condition is not stored */
	switch (e->kind) {
	case AST_INDEX:
		return grad_is_read(g, e);
	case AST_INT:
		return e->i == 0 || e->i == 1;
	case AST_FLOAT:
		return isinf(e->f);
	case AST_UNARY:
	case AST_GUARD:
	case AST_IF:
		break;
	case AST_CALL:
		first = rule_of(e) == RULE_SELECT;
		if (!first && choice_of(e) == FN_NO_CHOICE)
			return false;
		break;
	default:
		return false;
	}
	for (int i = first; i < e->nargs; i++)
		if (!is_exact(g, e->args[i]))
			return false;
	return true;
}

/* The terms of a reduction, each rounded as if stored, so that all comparisons
 * are between the same numbers.  Otherwise an expression computed twice might
 * give different numbers, or a rounded and an unrounded one. */
static ast_expr *stored_terms(grad_op *g, const grad_stage *s)
{
	if (is_exact(g, s->body))
		return s->body;
	grad_stage terms = {.nvars = s->nvars + s->nreduced, .body = s->body};
	terms.vars = ARENA_ARRAY(g->t.a, ast_var, terms.nvars + 1);
	for (int i = 0; i < terms.nvars; i++)
		terms.vars[i] = i < s->nvars ? s->vars[i]
					     : s->reduced[i - s->nvars];
	return other_stage(g, "terms", terms);
}

/* The condition that a term is among those chosen by Max or Min.  The chosen
 * terms share the derivative; *d is divided by their number. */
static ast_expr *is_chosen(grad_op *g, const grad_stage *s, ast_expr **d)
{
	trees *t = &g->t;
	ast_expr *x = stored_terms(g, s), *y;
	if (x == s->body)
		y = at_stage(g, s, g->tensors.at[s->tensor].symbol);
	else
		y = other_reduction(g, s, "best", s->reducer->id, x);
	ast_expr *chosen = tree_binary(t, OP_EQ, x, y);
	etype type = g->tensors.at[s->tensor].type;
	ast_expr *one = tree_if(t, chosen, tree_int(t, 1), tree_int(t, 0));
	if (type.kind != TY_SHARED) /* numbers alone have that */
		one = grad_cast(g, one, type);
	ast_expr *n = other_reduction(g, s, "equals", REDUCER_SUM, one);
	*d = tree_div(t, *d, n);
	return chosen;
}

/* The product of the other terms.  If the term is not 0 this is the whole
 * product divided by the term.  Otherwise it is the product of all terms that
 * are not 0, provided that no other term is 0. */
static ast_expr *other_terms(grad_op *g, const grad_stage *s)
{
	trees *t = &g->t;
	ast_expr *zero = tree_int(t, 0), *one = tree_int(t, 1);
	ast_expr *x = stored_terms(g, s);
	ast_expr *is_zero = tree_binary(t, OP_EQ, x, zero);
	ast_expr *y = at_stage(g, s, g->tensors.at[s->tensor].symbol);
	ast_expr *zeros = other_reduction(g, s, "zeros", REDUCER_SUM,
					  tree_if(t, is_zero, one, zero));
	ast_expr *rest = other_reduction(g, s, "rest", REDUCER_PROD,
					 tree_if(t, is_zero, one, x));
	return tree_if(t, tree_not(t, is_zero), tree_div(t, y, x),
		       tree_if(t, tree_binary(t, OP_EQ, zeros, one), rest,
			       zero));
}

bool grad_is_constant(const grad_stage *s)
{
	return s->reducer &&
	       s->reducer->reducer->gradient == RED_GRADIENT_CONSTANT;
}

void grad_contributions(grad_op *g, const grad_stage *s, const bool *wanted,
			contributions *out)
{
	walk w = {g, s, wanted, out};
	ast_expr *condition = NULL;
	ast_expr *d = at_stage(g, s, grad_adjoint(g, s->tensor));
	if (!is_reached(&w, s->body))
		return;
	switch (s->reducer ? s->reducer->reducer->gradient
			   : RED_GRADIENT_LINEAR) {
	case RED_GRADIENT_AVERAGE:
		d = tree_div(&g->t, d, count_terms(g, s));
		break;
	case RED_GRADIENT_PRODUCT:
		d = tree_mul(&g->t, d, other_terms(g, s));
		break;
	case RED_GRADIENT_SHARED:
		condition = is_chosen(g, s, &d);
		break;
	case RED_GRADIENT_LINEAR:
	case RED_GRADIENT_CONSTANT:
		break;
	}
	propagate(&w, s->body, d, condition);
}

#include "config.h"

#include "compiler/gradient/tree.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

/* ---- nodes ------------------------------------------------------------- */

/* Precedence of an expression's outermost operator. */
enum { BIND_IF, BIND_OR, BIND_AND, BIND_NOT, BIND_COMPARE, BIND_ADD, BIND_MUL,
       BIND_SIGN, BIND_ATOM };

static int bind_of_operator(ast_operator op)
{
	switch (op) {
	case OP_OR:
		return BIND_OR;
	case OP_AND:
		return BIND_AND;
	case OP_ADD:
	case OP_SUB:
		return BIND_ADD;
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
		return BIND_MUL;
	default:
		return BIND_COMPARE;
	}
}

static int bind_of(const ast_expr *e)
{
	switch (e->kind) {
	case AST_IF:
	case AST_LAMBDA:
		return BIND_IF;
	case AST_BINARY:
		return bind_of_operator(e->op);
	case AST_UNARY:
		return e->op == OP_NOT ? BIND_NOT : BIND_SIGN;
	default:
		return BIND_ATOM;
	}
}

static ast_expr *node(trees *t, ast_kind kind, int n, ast_expr *const *args)
{
	ast_expr *e = ARENA_NEW(t->a, ast_expr);
	e->kind = kind;
	e->at = NOWHERE;
	e->nargs = n;
	e->args = ARENA_COPY(t->a, args, n);
	e->depth = 1;
	for (int i = 0; i < n; i++)
		if (args[i]->depth >= e->depth)
			e->depth = args[i]->depth + 1;
	return e;
}

/* x as an operand of an operator of precedence `bind`. */
static ast_expr *operand(trees *t, ast_expr *x, int bind)
{
	bool needed = bind_of(x) < bind;
	if (x->parens == needed)
		return x;
	x = ARENA_COPY(t->a, x, 1);
	x->parens = needed;
	return x;
}

/* x where nothing around it binds. */
static ast_expr *alone(trees *t, ast_expr *x)
{
	return operand(t, x, BIND_IF);
}

ast_expr *tree_int(trees *t, int64_t i)
{
	ast_expr *e;
	if (i < 0) {
		ast_expr *x = tree_int(t, -i);
		e = node(t, AST_UNARY, 1, &x);
		e->op = OP_NEG;
		return e;
	}
	e = node(t, AST_INT, 0, NULL);
	e->i = i;
	return e;
}

ast_expr *tree_float(trees *t, double f)
{
	ast_expr *e = node(t, AST_FLOAT, 0, NULL);
	e->f = f;
	return e;
}

ast_expr *tree_bool(trees *t, bool value)
{
	ast_expr *e = node(t, AST_BOOL, 0, NULL);
	e->i = value;
	return e;
}

ast_expr *tree_name(trees *t, const char *name)
{
	ast_expr *e = node(t, AST_NAME, 0, NULL);
	e->name = name;
	return e;
}

ast_expr *tree_pack(trees *t, const ast_pack *p)
{
	ast_expr *e = node(t, AST_PACK, 0, NULL);
	e->pack = ARENA_COPY(t->a, p, 1);
	return e;
}

static ast_expr *list(trees *t, ast_kind kind, ast_expr *first, int n,
		      ast_expr *const *items)
{
	ast_expr **args = ARENA_ARRAY(t->a, ast_expr *, n + 1);
	int m = 0;
	if (first)
		args[m++] = first;
	for (int i = 0; i < n; i++)
		args[m++] = alone(t, items[i]);
	return node(t, kind, m, args);
}

ast_expr *tree_index(trees *t, ast_expr *base, int n, ast_expr *const *items)
{
	return list(t, AST_INDEX, base, n, items);
}

ast_expr *tree_call(trees *t, const char *name, int n, ast_expr *const *args)
{
	ast_expr *e = list(t, AST_CALL, NULL, n, args);
	e->name = intern(t->names, name);
	return e;
}

ast_expr *tree_guard(trees *t, ast_expr *read, ast_expr *value)
{
	ast_expr *args[] = {alone(t, read), alone(t, value)};
	return node(t, AST_GUARD, 2, args);
}

ast_expr *tree_lambda(trees *t, int nvars, const ast_var *vars,
		      ast_expr *body)
{
	body = alone(t, body);
	ast_expr *e = node(t, AST_LAMBDA, 1, &body);
	e->nvars = nvars;
	e->vars = ARENA_COPY(t->a, vars, nvars);
	return e;
}

/* An operator as it is written; the right operand binds tighter. */
static ast_expr *plain(trees *t, ast_operator op, ast_expr *x, ast_expr *y)
{
	int bind = bind_of_operator(op);
	bool compare = bind == BIND_COMPARE;
	ast_expr *args[] = {operand(t, x, bind + compare),
			    operand(t, y, bind + 1)};
	ast_expr *e = node(t, AST_BINARY, 2, args);
	e->op = op;
	return e;
}

/* ---- looking ----------------------------------------------------------- */

bool tree_same_pack(const ast_pack *x, const ast_pack *y)
{
	if (!x || !y)
		return x == y;
	return x->kind == y->kind && x->name == y->name &&
	       (!x->sel || !y->sel ? x->sel == y->sel
				   : tree_same(x->sel, y->sel));
}

static bool same_var(const ast_var *x, const ast_var *y)
{
	return x->name == y->name && tree_same_pack(x->pack, y->pack) &&
	       (!x->extent || !y->extent ? x->extent == y->extent
					 : tree_same(x->extent, y->extent));
}

bool tree_same(const ast_expr *x, const ast_expr *y)
{
	if (x == y)
		return true;
	if (x->kind != y->kind || x->nargs != y->nargs || x->op != y->op ||
	    x->i != y->i || x->f != y->f || x->name != y->name ||
	    x->nnamed || y->nnamed || x->nvars != y->nvars ||
	    !tree_same_pack(x->pack, y->pack))
		return false;
	for (int i = 0; i < x->nvars; i++)
		if (!same_var(&x->vars[i], &y->vars[i]))
			return false;
	for (int i = 0; i < x->nargs; i++)
		if (!tree_same(x->args[i], y->args[i]))
			return false;
	return true;
}

bool tree_is_int(const ast_expr *e, int64_t i)
{
	return e->kind == AST_INT && e->i == i;
}

static bool is_number(const ast_expr *e)
{
	return e->kind == AST_INT || e->kind == AST_FLOAT;
}

static double number(const ast_expr *e)
{
	return e->kind == AST_INT ? (double)e->i : e->f;
}

bool tree_is_zero(const ast_expr *e)
{
	return is_number(e) && number(e) == 0;
}

static bool is_one(const ast_expr *e)
{
	return is_number(e) && number(e) == 1;
}

bool tree_mentions(const ast_expr *e, const char *name)
{
	if (e->kind == AST_NAME && e->name == name)
		return true;
	if (e->pack && e->pack->sel && tree_mentions(e->pack->sel, name))
		return true;
	for (int i = 0; i < e->nargs; i++)
		if (tree_mentions(e->args[i], name))
			return true;
	for (int i = 0; i < e->nvars; i++)
		if (e->vars[i].extent && tree_mentions(e->vars[i].extent, name))
			return true;
	return false;
}

/* ---- arithmetic -------------------------------------------------------- */

static bool is_op(const ast_expr *e, ast_operator op)
{
	return (e->kind == AST_BINARY || e->kind == AST_UNARY) && e->op == op;
}

ast_expr *tree_neg(trees *t, ast_expr *x)
{
	if (tree_is_zero(x))
		return x;
	if (is_op(x, OP_NEG))
		return x->args[0];
	if (is_op(x, OP_SUB))
		return tree_sub(t, x->args[1], x->args[0]);
	if (is_op(x, OP_MUL) && is_number(x->args[0]) && number(x->args[0]) < 0)
		return tree_mul(t, tree_neg(t, x->args[0]), x->args[1]);
	x = operand(t, x, BIND_MUL);
	ast_expr *e = node(t, AST_UNARY, 1, &x);
	e->op = OP_NEG;
	return e;
}

/* The product of two numbers. */
static ast_expr *fold(trees *t, const ast_expr *x, const ast_expr *y)
{
	int64_t i;
	if (x->kind == AST_INT && y->kind == AST_INT &&
	    ck_mul(x->i, y->i, &i))
		return tree_int(t, i);
	return tree_float(t, number(x) * number(y));
}

/* ---- sums -------------------------------------------------------------- */

static void add_term(trees *t, tree_terms *to, ast_expr *of, double coef)
{
	for (int i = 0; i < to->n; i++)
		if (tree_same(to->at[i].of, of)) {
			to->at[i].coef += coef;
			return;
		}
	vec_push(t->a, to, ((tree_term){coef, of}));
}

void tree_collect(trees *t, tree_terms *to, ast_expr *e, double times)
{
	if (is_number(e)) {
		add_term(t, to, tree_int(t, 1), times * number(e));
	} else if (is_op(e, OP_NEG)) {
		tree_collect(t, to, e->args[0], -times);
	} else if (is_op(e, OP_ADD) || is_op(e, OP_SUB)) {
		tree_collect(t, to, e->args[0], times);
		tree_collect(t, to, e->args[1],
			     e->op == OP_SUB ? -times : times);
	} else if (is_op(e, OP_MUL) && is_number(e->args[0])) {
		tree_collect(t, to, e->args[1], times * number(e->args[0]));
	} else {
		add_term(t, to, e, times);
	}
}

static ast_expr *numeral(trees *t, double f)
{
	return f == floor(f) && fabs(f) < 1e15 ? tree_int(t, (int64_t)f)
					       : tree_float(t, f);
}

/* The sum of the terms with this sign, as positive ones; NULL for none. */
static ast_expr *sum_of(trees *t, const tree_terms *terms, int sign)
{
	ast_expr *sum = NULL;
	for (int last = 0; last < 2; last++)
		for (int i = 0; i < terms->n; i++) {
			double coef = sign * terms->at[i].coef;
			ast_expr *of = terms->at[i].of;
			/* A constant comes last. */
			if (coef <= 0 || is_number(of) != last)
				continue;
			of = last ? numeral(t, coef)
				  : tree_mul(t, numeral(t, coef), of);
			sum = sum ? plain(t, OP_ADD, sum, of) : of;
		}
	return sum;
}

/* positive - t1 - t2 .. */
static ast_expr *subtract(trees *t, ast_expr *sum, const tree_terms *terms)
{
	for (int last = 0; last < 2; last++)
		for (int i = 0; i < terms->n; i++) {
			double coef = -terms->at[i].coef;
			ast_expr *of = terms->at[i].of;
			if (coef <= 0 || is_number(of) != last)
				continue;
			of = last ? numeral(t, coef)
				  : tree_mul(t, numeral(t, coef), of);
			sum = sum ? plain(t, OP_SUB, sum, of)
				  : tree_neg(t, of);
		}
	return sum ? sum : tree_int(t, 0);
}

/* Whether coef * q is b * (a / b), where r = a % b. */
static bool is_whole_of(const ast_expr *q, double coef, const ast_expr *r)
{
	const ast_expr *b = r->args[1];
	if (is_op(q, OP_MUL) && tree_same(q->args[1], b))
		q = q->args[0];
	else if (b->kind == AST_INT && b->i && coef == (double)b->i)
		coef = 1;
	else
		return false;
	return coef == 1 && is_op(q, OP_DIV) &&
	       tree_same(q->args[0], r->args[0]) && tree_same(q->args[1], b);
}

/* (a / b) * b + a % b is a. */
static void recompose(trees *t, tree_terms *terms)
{
	for (int i = 0; i < terms->n; i++)
		for (int j = 0; j < terms->n; j++) {
			const ast_expr *r = terms->at[j].of;
			double coef = terms->at[j].coef;
			if (!coef || !is_op(r, OP_MOD) ||
			    !is_whole_of(terms->at[i].of,
					 terms->at[i].coef / coef, r))
				continue;
			terms->at[i].coef = terms->at[j].coef = 0;
			add_term(t, terms, r->args[0], coef);
		}
}

static bool is_sum(const ast_expr *e)
{
	return is_op(e, OP_ADD) || is_op(e, OP_SUB) || is_op(e, OP_NEG);
}

/* One term more at the end, where it has no like, else all in order. */
static ast_expr *sum(trees *t, ast_expr *x, ast_expr *y, double sign)
{
	tree_terms terms = {0};
	tree_collect(t, &terms, x, 1);
	int n = terms.n;
	tree_collect(t, &terms, y, sign);
	if (terms.n == n + 1 && !is_sum(y) && !is_op(x, OP_NEG) &&
	    !is_op(y, OP_MOD) && !is_op(x, OP_MOD))
		return plain(t, sign < 0 ? OP_SUB : OP_ADD, x, y);
	recompose(t, &terms);
	return subtract(t, sum_of(t, &terms, 1), &terms);
}

ast_expr *tree_add(trees *t, ast_expr *x, ast_expr *y)
{
	/* if c then a else 0, and if not c then b else 0 */
	if (x->kind == AST_IF && y->kind == AST_IF &&
	    tree_is_zero(x->args[2]) && tree_is_zero(y->args[2]) &&
	    tree_same(tree_not(t, x->args[0]), y->args[0]))
		return tree_if(t, x->args[0], x->args[1], y->args[1]);
	if (tree_is_zero(x))
		return y;
	return tree_is_zero(y) ? x : sum(t, x, y, 1);
}

ast_expr *tree_sub(trees *t, ast_expr *x, ast_expr *y)
{
	if (tree_is_zero(x))
		return tree_neg(t, y);
	return tree_is_zero(y) ? x : sum(t, x, y, -1);
}

/* ---- products ---------------------------------------------------------- */

ast_expr *tree_mul(trees *t, ast_expr *x, ast_expr *y)
{
	if (tree_is_zero(x) || tree_is_zero(y))
		return tree_int(t, 0);
	if (is_one(x))
		return y;
	if (is_one(y))
		return x;
	if (is_number(x) && is_number(y))
		return fold(t, x, y);
	if (is_op(x, OP_NEG))
		return tree_neg(t, tree_mul(t, x->args[0], y));
	if (is_op(y, OP_NEG))
		return tree_neg(t, tree_mul(t, x, y->args[0]));
	if (is_number(y))
		return tree_mul(t, y, x);
	if (is_op(y, OP_MUL) && is_number(y->args[0]))
		return tree_mul(t, tree_mul(t, y->args[0], x), y->args[1]);
	if (is_number(x) && is_op(y, OP_MUL))
		return tree_mul(t, tree_mul(t, x, y->args[0]), y->args[1]);
	if (is_op(y, OP_MUL))
		return tree_mul(t, tree_mul(t, x, y->args[0]), y->args[1]);
	return plain(t, OP_MUL, x, y);
}

/* A quotient of floats. */
ast_expr *tree_div(trees *t, ast_expr *x, ast_expr *y)
{
	if (tree_is_zero(x) || is_one(y))
		return x;
	if (is_op(x, OP_NEG))
		return tree_neg(t, tree_div(t, x->args[0], y));
	if (is_op(y, OP_NEG))
		return tree_neg(t, tree_div(t, x, y->args[0]));
	return plain(t, OP_DIV, x, y);
}

/* ---- conditions -------------------------------------------------------- */

static bool is_bool(const ast_expr *e, bool value)
{
	return e->kind == AST_BOOL && e->i == value;
}

static ast_expr *both(trees *t, ast_expr *x, ast_expr *y)
{
	if (is_bool(x, true) || is_bool(y, false))
		return y;
	if (is_bool(y, true) || is_bool(x, false))
		return x;
	if (is_op(y, OP_AND))
		return both(t, both(t, x, y->args[0]), y->args[1]);
	return tree_same(x, y) ? x : plain(t, OP_AND, x, y);
}

static const ast_attr *find_attr(const ast_op *op, const char *name)
{
	for (int i = 0; i < op->nattrs; i++)
		if (op->attrs[i].name == name)
			return &op->attrs[i];
	return NULL;
}

/* Whether the text shows that e is a whole number: arithmetic on variables,
 * sizes and attributes. */
static bool is_whole(const trees *t, const ast_expr *e)
{
	const ast_expr *base = e->kind == AST_INDEX ? e->args[0] : e;
	const ast_attr *attr = base->kind == AST_NAME ?
			       find_attr(t->op, base->name) : NULL;
	switch (e->kind) {
	case AST_INT:
		return true;
	case AST_NAME:
		return !attr || attr->type == ATTR_INT;
	case AST_INDEX:
		return attr && attr->type == ATTR_INT;
	case AST_UNARY:
	case AST_BINARY:
		for (int i = 0; i < e->nargs; i++)
			if (!is_whole(t, e->args[i]))
				return false;
		return true;
	default:
		return false;
	}
}

/* The constant of a sum that is nothing else. */
static double sum_number(const tree_terms *terms)
{
	double x = 0;
	for (int i = 0; i < terms->n; i++)
		x += is_number(terms->at[i].of) ? terms->at[i].coef : 0;
	return x;
}

static bool holds(ast_operator op, double x)
{
	switch (op) {
	case OP_LT:
		return x < 0;
	case OP_LE:
		return x <= 0;
	case OP_GT:
		return x > 0;
	case OP_GE:
		return x >= 0;
	case OP_EQ:
		return x == 0;
	default:
		return x != 0;
	}
}

/* x op y without what is on both sides. */
static ast_expr *compare(trees *t, ast_operator op, ast_expr *x, ast_expr *y)
{
	tree_terms all = {0}, one = {0}, two = {0};
	if (!is_whole(t, x) || !is_whole(t, y))
		return plain(t, op, x, y);
	tree_collect(t, &one, x, 1);
	tree_collect(t, &two, y, 1);
	tree_collect(t, &all, x, 1);
	tree_collect(t, &all, y, -1);
	int left = 0;
	bool constant = true;
	for (int i = 0; i < all.n; i++) {
		left += all.at[i].coef != 0;
		constant &= !all.at[i].coef || is_number(all.at[i].of);
	}
	if (constant)
		return tree_bool(t, holds(op, all.n ? sum_number(&all) : 0));
	if (left >= one.n + two.n)
		return plain(t, op, x, y);
	x = sum_of(t, &all, 1);
	y = sum_of(t, &all, -1);
	return plain(t, op, x ? x : tree_int(t, 0), y ? y : tree_int(t, 0));
}

ast_expr *tree_binary(trees *t, ast_operator op, ast_expr *x, ast_expr *y)
{
	switch (op) {
	case OP_ADD:
		return tree_add(t, x, y);
	case OP_SUB:
		return tree_sub(t, x, y);
	case OP_MUL:
		return tree_mul(t, x, y);
	case OP_AND:
		return both(t, x, y);
	default:
		break;
	}
	return bind_of_operator(op) == BIND_COMPARE ? compare(t, op, x, y)
						    : plain(t, op, x, y);
}

ast_expr *tree_not(trees *t, ast_expr *x)
{
	static const ast_operator opposite[] = {
		[OP_LT] = OP_GE, [OP_LE] = OP_GT, [OP_GT] = OP_LE,
		[OP_GE] = OP_LT, [OP_EQ] = OP_NE, [OP_NE] = OP_EQ,
	};
	if (x->kind == AST_BOOL)
		return tree_bool(t, !x->i);
	if (is_op(x, OP_NOT))
		return x->args[0];
	if (x->kind == AST_BINARY && bind_of(x) == BIND_COMPARE &&
	    (x->op == OP_EQ || x->op == OP_NE ||
	     (is_whole(t, x->args[0]) && is_whole(t, x->args[1]))))
		return plain(t, opposite[x->op], x->args[0], x->args[1]);
	x = operand(t, x, BIND_NOT);
	ast_expr *e = node(t, AST_UNARY, 1, &x);
	e->op = OP_NOT;
	return e;
}

ast_expr *tree_if(trees *t, ast_expr *c, ast_expr *x, ast_expr *y)
{
	if (is_bool(c, true) || tree_same(x, y))
		return x;
	if (is_bool(c, false))
		return y;
	/* if c then (if d then x else y) else y */
	if (x->kind == AST_IF && tree_same(x->args[2], y))
		return tree_if(t, both(t, c, x->args[0]), x->args[1], y);
	ast_expr *args[] = {alone(t, c), alone(t, x), alone(t, y)};
	return node(t, AST_IF, 3, args);
}

/* ---- changing ---------------------------------------------------------- */

typedef struct mapping {
	trees *t;
	tree_change *change;
	void *arg;
} mapping;

static ast_expr *map(const mapping *m, const ast_expr *e);

static ast_pack *map_pack(const mapping *m, const ast_pack *p)
{
	ast_pack *q = ARENA_COPY(m->t->a, p, 1);
	if (q->sel)
		q->sel = map(m, q->sel);
	return q;
}

static ast_var *map_vars(const mapping *m, const ast_expr *e)
{
	ast_var *vars = ARENA_COPY(m->t->a, e->vars, e->nvars);
	for (int i = 0; i < e->nvars; i++) {
		if (vars[i].extent)
			vars[i].extent = map(m, vars[i].extent);
		if (vars[i].pack)
			vars[i].pack = map_pack(m, vars[i].pack);
	}
	return vars;
}

/* The node e with other operands, simplified. */
static ast_expr *remake(const mapping *m, const ast_expr *e, ast_expr **args)
{
	trees *t = m->t;
	ast_expr *x;
	switch (e->kind) {
	case AST_UNARY:
		return e->op == OP_NEG ? tree_neg(t, args[0])
				       : tree_not(t, args[0]);
	case AST_BINARY:
		return tree_binary(t, e->op, args[0], args[1]);
	case AST_IF:
		return tree_if(t, args[0], args[1], args[2]);
	case AST_INDEX:
		return tree_index(t, args[0], e->nargs - 1, args + 1);
	case AST_GUARD:
		return tree_guard(t, args[0], args[1]);
	case AST_CALL:
		x = tree_call(t, e->name, e->nargs, args);
		x->nnamed = e->nnamed;
		x->named = ARENA_COPY(t->a, e->named, e->nnamed);
		for (int i = 0; i < e->nnamed; i++)
			x->named[i].value = map(m, e->named[i].value);
		return x;
	case AST_LAMBDA:
		return tree_lambda(t, e->nvars, map_vars(m, e), args[0]);
	case AST_PACK:
		return tree_pack(t, map_pack(m, e->pack));
	case AST_LIST:
		return list(t, AST_LIST, NULL, e->nargs, args);
	default:
		x = ARENA_COPY(t->a, e, 1);
		x->parens = false;
		x->at = NOWHERE;
		x->symbol = NULL;
		return x;
	}
}

static ast_expr *map(const mapping *m, const ast_expr *e)
{
	ast_expr **args = ARENA_ARRAY(m->t->a, ast_expr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		args[i] = map(m, e->args[i]);
	ast_expr *x = remake(m, e, args);
	ast_expr *y = m->change ? m->change(m->arg, x) : NULL;
	return y ? y : x;
}

ast_expr *tree_map(trees *t, const ast_expr *e, tree_change *change, void *arg)
{
	mapping m = {t, change, arg};
	return map(&m, e);
}

ast_expr *tree_with(trees *t, const ast_expr *e, tree_change *change,
		    void *arg)
{
	mapping m = {t, NULL, NULL};
	ast_expr **args = ARENA_ARRAY(t->a, ast_expr *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		args[i] = change(arg, e->args[i]);
	return remake(&m, e, args);
}

typedef struct replacement {
	const char *name;
	ast_expr *by;
} replacement;

static ast_expr *replace(void *arg, const ast_expr *e)
{
	const replacement *r = arg;
	return e->kind == AST_NAME && e->name == r->name ? r->by : NULL;
}

ast_expr *tree_replace(trees *t, const ast_expr *e, const char *name,
		       ast_expr *by)
{
	replacement r = {name, by};
	return tree_map(t, e, replace, &r);
}

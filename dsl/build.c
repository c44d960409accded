/* Builds nodes of the tree.  Each constructor computes the depth of its node
 * and limits it, because later stages recurse over the tree. */
#include "config.h"

#include <string.h>

#include "dsl/parse.h"

const char *ast_operator_text(ast_operator op)
{
	static const char *const text[] = {
		[OP_NEG] = "-",	  [OP_NOT] = "not", [OP_ADD] = "+",
		[OP_SUB] = "-",	  [OP_MUL] = "*",   [OP_DIV] = "/",
		[OP_MOD] = "%",	  [OP_LT] = "<",    [OP_LE] = "<=",
		[OP_GT] = ">",	  [OP_GE] = ">=",   [OP_EQ] = "==",
		[OP_NE] = "!=",	  [OP_AND] = "and", [OP_OR] = "or",
	};
	return text[op];
}

ast_precedence ast_precedence_of_operator(ast_operator op)
{
	switch (op) {
	case OP_OR:
		return BINDS_OR;
	case OP_AND:
		return BINDS_AND;
	case OP_NOT:
		return BINDS_NOT;
	case OP_ADD:
	case OP_SUB:
		return BINDS_SUM;
	case OP_MUL:
	case OP_DIV:
	case OP_MOD:
		return BINDS_PRODUCT;
	case OP_NEG:
		return BINDS_SIGN;
	default:
		return BINDS_COMPARISON;
	}
}

ast_precedence ast_precedence_of(const ast_expr *e)
{
	switch (e->kind) {
	case AST_IF:
	case AST_LAMBDA:
		return BINDS_IF;
	case AST_UNARY:
	case AST_BINARY:
		return ast_precedence_of_operator(e->op);
	default:
		return BINDS_ATOM;
	}
}

/* ---- bounds ------------------------------------------------------------- */

static bool count_node(dsl_parser *p, range at)
{
	if (p->nnodes++ < AST_MAX_NODES)
		return true;
	dsl_too_large(p, at, AST_MAX_NODES, "expressions and statements");
	return false;
}

static bool deep(dsl_parser *p, range at, int depth)
{
	if (depth <= AST_MAX_DEPTH)
		return false;
	dsl_fault(p, DIAG_TOO_DEEP, at, "this is nested more than %d deep",
		  AST_MAX_DEPTH);
	return true;
}

static void raise(int *depth, const ast_expr *below)
{
	if (below && below->depth > *depth)
		*depth = below->depth;
}

int ast_depth(const ast_expr *e)
{
	int depth = 0;
	for (int i = 0; i < e->nargs; i++)
		raise(&depth, e->args[i]);
	for (int i = 0; i < e->nnamed; i++)
		raise(&depth, e->named[i].value);
	for (int i = 0; i < e->nvars; i++) {
		raise(&depth, e->vars[i].extent);
		if (e->vars[i].pack)
			raise(&depth, e->vars[i].pack->sel);
	}
	if (e->pack)
		raise(&depth, e->pack->sel);
	return depth + 1;
}

/* Sets the depth of a node that is otherwise complete. */
static ast_expr *finish(dsl_parser *p, ast_expr *e)
{
	if (!e)
		return NULL;
	e->depth = ast_depth(e);
	return deep(p, e->at, e->depth) ? NULL : e;
}

/* ---- expressions -------------------------------------------------------- */

ast_expr *ast_new(dsl_parser *p, ast_kind kind, range at)
{
	if (!count_node(p, at))
		return NULL;
	ast_expr *e = ARENA_NEW(p->arena, ast_expr);
	e->kind = kind;
	e->at = at;
	e->depth = 1;
	return e;
}

ast_expr *ast_int(dsl_parser *p, range at, int64_t i)
{
	ast_expr *e = ast_new(p, AST_INT, at);
	if (e)
		e->i = i;
	return e;
}

ast_expr *ast_float(dsl_parser *p, range at, double f)
{
	ast_expr *e = ast_new(p, AST_FLOAT, at);
	if (e)
		e->f = f;
	return e;
}

ast_expr *ast_bool(dsl_parser *p, range at, bool b)
{
	ast_expr *e = ast_new(p, AST_BOOL, at);
	if (e)
		e->i = b;
	return e;
}

ast_expr *ast_text(dsl_parser *p, ast_kind kind, range at, const char *s)
{
	ast_expr *e = ast_new(p, kind, at);
	if (e)
		e->name = s;
	return e;
}

ast_expr *ast_family(dsl_parser *p, range at, const family *parts,
		     const char *tail)
{
	ast_expr *e = ast_new(p, AST_FAMILY, at);
	if (!e)
		return NULL;
	e->nargs = parts->exprs.n;
	e->args = parts->exprs.at;
	e->texts = ARENA_ARRAY(p->arena, const char *, e->nargs + 1);
	for (int i = 0; i < e->nargs; i++)
		e->texts[i] = parts->texts.at[i];
	e->texts[e->nargs] = tail;
	return finish(p, e);
}

ast_expr *ast_pack_item(dsl_parser *p, range at, pack_kind kind,
			const char *name, ast_expr *sel)
{
	ast_expr *e = ast_new(p, AST_PACK, at);
	if (!e)
		return NULL;
	e->pack = ARENA_NEW(p->arena, ast_pack);
	*e->pack = (ast_pack){ .kind = kind, .name = name, .sel = sel };
	return finish(p, e);
}

/* A node with these operands. */
static ast_expr *with_args(dsl_parser *p, ast_kind kind, range at, int n,
			   ast_expr *const *args)
{
	ast_expr *e = ast_new(p, kind, at);
	if (!e)
		return NULL;
	e->nargs = n;
	e->args = ARENA_COPY(p->arena, args, n);
	return e;
}

ast_expr *ast_list(dsl_parser *p, range at, const expr_list *items)
{
	return finish(p, with_args(p, AST_LIST, at, items->n, items->at));
}

ast_expr *ast_index(dsl_parser *p, range at, ast_expr *base,
		    const expr_list *items)
{
	ast_expr *e = ast_new(p, AST_INDEX, at);
	if (!e)
		return NULL;
	e->nargs = items->n + 1;
	e->args = ARENA_ARRAY(p->arena, ast_expr *, e->nargs);
	e->args[0] = base;
	for (int i = 0; i < items->n; i++)
		e->args[i + 1] = items->at[i];
	return finish(p, e);
}

ast_expr *ast_guard(dsl_parser *p, range at, ast_expr *read, ast_expr *value)
{
	ast_expr *args[] = { read, value };
	return finish(p, with_args(p, AST_GUARD, at, 2, args));
}

ast_expr *ast_call(dsl_parser *p, range at, const char *name,
		   const call_args *args)
{
	ast_expr *e = with_args(p, AST_CALL, at, args->exprs.n, args->exprs.at);
	if (!e)
		return NULL;
	e->name = name;
	e->nnamed = args->named.n;
	e->named = args->named.at;
	e->open_named = args->open;
	return finish(p, e);
}

ast_expr *ast_unary(dsl_parser *p, range at, ast_operator op, ast_expr *x)
{
	ast_expr *e = with_args(p, AST_UNARY, at, 1, &x);
	if (e)
		e->op = op;
	return finish(p, e);
}

ast_expr *ast_binary(dsl_parser *p, range at, ast_operator op, ast_expr *x,
		     ast_expr *y)
{
	ast_expr *args[] = { x, y };
	ast_expr *e = with_args(p, AST_BINARY, at, 2, args);
	if (e)
		e->op = op;
	return finish(p, e);
}

ast_expr *ast_if(dsl_parser *p, range at, ast_expr *c, ast_expr *x,
		 ast_expr *y)
{
	ast_expr *args[] = { c, x, y };
	return finish(p, with_args(p, AST_IF, at, 3, args));
}

ast_expr *ast_lambda(dsl_parser *p, range at, const var_list *vars,
		     ast_expr *body)
{
	ast_expr *e = with_args(p, AST_LAMBDA, at, 1, &body);
	if (!e)
		return NULL;
	e->nvars = vars->n;
	e->vars = vars->at;
	return finish(p, e);
}

ast_expr *ast_pack_call(dsl_parser *p, range at, range name_at,
			const char *name, const call_args *args)
{
	ast_expr *call = ast_call(p, (range){ name_at.beg, at.end }, name,
				  args);
	return call ? ast_pack_item(p, at, PACK_CALL, NULL, call) : NULL;
}

call_args *ast_add_argument(dsl_parser *p, range at, call_args *args,
			    ast_expr *e)
{
	if (args->named.n) {
		dsl_fault(p, DIAG_SYNTAX, at,
			  "arguments without a name come first");
		return NULL;
	}
	vec_push(p->arena, &args->exprs, e);
	return args;
}

/* ---- signatures --------------------------------------------------------- */

static const char *const attr_types[] = {
	[ATTR_INT] = "int",   [ATTR_FLOAT] = "float", [ATTR_STRING] = "string",
	[ATTR_BOOL] = "bool", [ATTR_TYPE] = "type",   [ATTR_AXIS] = "axis",
	[ATTR_GRAPH] = "graph",
};

int ast_find_attr(const ast_attr *attrs, int nattrs, const char *name)
{
	for (int i = 0; name && i < nattrs; i++)
		if (attrs[i].name == name || !strcmp(attrs[i].name, name))
			return i;
	return -1;
}

const char *ast_attr_type_text(attr_type t)
{
	return attr_types[t];
}

static attr_type attr_type_of(dsl_parser *p, const written_type *w)
{
	for (int t = 0; t <= ATTR_GRAPH; t++)
		if (!strcmp(attr_types[t], w->name))
			return (attr_type)t;
	dsl_fault(p, DIAG_BAD_ATTRIBUTE, w->at,
		  "'%s' is not a type of attributes; these are int, float, "
		  "string, bool, type and axis",
		  w->name);
	return ATTR_INT;
}

ast_attr ast_attribute(dsl_parser *p, range at, const char *name,
		       const written_type *type, ast_expr *init)
{
	return (ast_attr){ .name = name,
			   .type = attr_type_of(p, type),
			   .is_list = type->is_list,
			   .optional = type->optional,
			   .length = type->length < 0 ? -1 : type->length,
			   .init = init,
			   .at = at };
}

ast_tensor ast_constant(range at, const char *name, const written_type *type)
{
	return (ast_tensor){ .name = name,
			     .optional = type->optional,
			     .constant = true,
			     .is_list = type->is_list,
			     .type = ast_type_of(type->name, type->at),
			     .at = at };
}

ast_tensor ast_parameter(range at, const char *name, const expr_list *dims,
			 ast_type type)
{
	return (ast_tensor){ .name = name, .ndims = dims->n, .dims = dims->at,
			     .type = type, .at = at };
}

ast_let ast_binding(range at, const name_list *names, ast_expr *value)
{
	return (ast_let){ .nnames = names->names.n, .names = names->names.at,
			  .names_at = names->at.at, .value = value, .at = at };
}

/* ---- statements --------------------------------------------------------- */

ast_stmt *ast_statement(dsl_parser *p, stmt_kind kind, range at)
{
	if (!count_node(p, at))
		return NULL;
	ast_stmt *s = ARENA_NEW(p->arena, ast_stmt);
	s->kind = kind;
	s->at = at;
	s->depth = 1;
	return s;
}

ast_stmt *ast_assign(dsl_parser *p, stmt_kind kind, range at,
		     const expr_list *targets, ast_expr *value)
{
	ast_stmt *s = ast_statement(p, kind, at);
	if (!s)
		return NULL;
	s->ntargets = targets->n;
	s->targets = targets->at;
	s->value = value;
	return s;
}

ast_stmt *ast_declaration(dsl_parser *p, range at, ast_expr *target,
			  const expr_list *dims, ast_type type,
			  ast_expr *init)
{
	expr_list one = { 0 };
	vec_push(p->arena, &one, target);
	ast_stmt *s = ast_assign(p, STMT_INPUT, at, &one, init);
	if (!s)
		return NULL;
	s->nvalues = dims->n;
	s->values = dims->at;
	s->type = type;
	return s;
}

static ast_stmt *nest(dsl_parser *p, ast_stmt *s)
{
	int depth = 0;
	for (int i = 0; i < s->nbody; i++)
		if (s->body[i]->depth > depth)
			depth = s->body[i]->depth;
	for (int i = 0; i < s->nother; i++)
		if (s->other[i]->depth > depth)
			depth = s->other[i]->depth;
	s->depth = depth + 1;
	return deep(p, s->at, s->depth) ? NULL : s;
}

static void set_body(ast_stmt *s, const block *body)
{
	s->nbody = body->stmts.n;
	s->body = body->stmts.at;
	s->body_at = body->at;
}

ast_stmt *ast_branch(dsl_parser *p, range at, ast_expr *cond,
		     const block *body, const block *other)
{
	ast_stmt *s = ast_statement(p, STMT_IF, at);
	if (!s)
		return NULL;
	s->value = cond;
	set_body(s, body);
	if (other) {
		s->nother = other->stmts.n;
		s->other = other->stmts.at;
		s->other_at = other->at;
	}
	return nest(p, s);
}

ast_stmt *ast_loop(dsl_parser *p, range at, ast_word var, bool each,
		   ast_expr *over, const block *body)
{
	ast_stmt *s = ast_statement(p, STMT_FOR, at);
	if (!s)
		return NULL;
	s->var = var.name;
	s->var_at = var.at;
	s->each = each;
	s->value = over;
	set_body(s, body);
	return nest(p, s);
}

ast_stmt *ast_else_if(dsl_parser *p, range at, ast_expr *cond,
		      const block *body, ast_stmt *other)
{
	block one = { .at = other->at };
	vec_push(p->arena, &one.stmts, other);
	return ast_branch(p, at, cond, body, &one);
}

ast_stmt *ast_next(dsl_parser *p, range at, ast_expr *target, ast_expr *value)
{
	expr_list one = { 0 };
	vec_push(p->arena, &one, target);
	return ast_assign(p, STMT_NEXT, at, &one, value);
}

ast_stmt *ast_return(dsl_parser *p, range at, const expr_list *values)
{
	ast_stmt *s = ast_statement(p, STMT_RETURN, at);
	if (!s)
		return NULL;
	s->nvalues = values->n;
	s->values = values->at;
	return s;
}

ast_stmt *ast_unsupported(dsl_parser *p, range at, const char *keyword,
			  ast_word why)
{
	ast_stmt *s = ast_statement(p, STMT_CALL, at);
	if (!s)
		return NULL;
	s->var = keyword;
	s->value = ast_text(p, AST_STRING, why.at, why.name);
	return s->value ? s : NULL;
}

/* ---- definitions -------------------------------------------------------- */

/* Adds a definition, unless a fault was found in it after its parts were read;
 * like one that does not parse, it is dropped then. */
static void add_def(dsl_parser *p, ast_def d)
{
	if (p->defs.n == AST_MAX_DEFS)
		dsl_too_large(p, d.at, AST_MAX_DEFS, "definitions");
	if (!p->quiet)
		vec_push(p->arena, &p->defs, d);
}

void ast_add_op(dsl_parser *p, range at, const char *doc, ast_word name,
		const tensor_list *params, const attr_list *attrs,
		const tensor_list *results, const let_list *lets,
		const expr_list *bodies)
{
	ast_op *op = ARENA_NEW(p->arena, ast_op);
	*op = (ast_op){ .name = name.name, .doc = doc, .name_at = name.at,
			.at = at,
			.nparams = params->n, .params = params->at,
			.nattrs = attrs->n, .attrs = attrs->at,
			.nresults = results->n, .results = results->at,
			.nlets = lets->n, .lets = lets->at,
			.nbodies = bodies->n, .bodies = bodies->at };
	add_def(p, (ast_def){ .kind = DEF_OP, .at = at, .op = op });
}

void ast_add_grad(dsl_parser *p, range at, const char *doc, ast_word of,
		  ast_word by, const tensor_list *params,
		  const attr_list *attrs, const tensor_list *results,
		  const let_list *lets, const expr_list *bodies)
{
	char *name = arena_printf(p->arena, "%s_grad_%s", of.name, by.name);
	ast_word word = { intern(p->names, name), of.at };
	ast_add_op(p, at, doc, word, params, attrs, results, lets, bodies);
	ast_op *op = p->defs.at[p->defs.n - 1].op;
	op->grad_of = of.name;
	op->grad_by = by.name;
	op->grad_by_at = by.at;
}

void ast_add_opaque(dsl_parser *p, range at, const char *doc, ast_word name,
		    const tensor_list *params, const attr_list *attrs,
		    const tensor_list *results, const char *symbol)
{
	ast_opaque *f = ARENA_NEW(p->arena, ast_opaque);
	*f = (ast_opaque){ .name = name.name, .doc = doc, .symbol = symbol,
			   .name_at = name.at, .at = at,
			   .nparams = params->n, .params = params->at,
			   .nattrs = attrs->n, .attrs = attrs->at,
			   .nresults = results->n, .results = results->at };
	add_def(p, (ast_def){ .kind = DEF_OPAQUE, .at = at, .opaque = f });
}

void ast_add_block(dsl_parser *p, range at, const char *doc, ast_word name,
		   const call_args *params, const block *body)
{
	ast_block *b = ARENA_NEW(p->arena, ast_block);
	*b = (ast_block){ .name = name.name, .doc = doc, .name_at = name.at,
			  .at = at,
			  .nparams = params->named.n,
			  .params = params->named.at,
			  .nbody = body->stmts.n, .body = body->stmts.at,
			  .body_at = body->at };
	add_def(p, (ast_def){ .kind = DEF_BLOCK, .at = at, .block = b });
}

void ast_add_model(dsl_parser *p, range at, const char *doc, ast_word name,
		   const call_args *params, const block *body)
{
	ast_model *m = ARENA_NEW(p->arena, ast_model);
	*m = (ast_model){ .name = name.name, .doc = doc, .name_at = name.at,
			  .at = at,
			  .nparams = params->named.n,
			  .params = params->named.at,
			  .nbody = body->stmts.n, .body = body->stmts.at,
			  .body_at = body->at };
	add_def(p, (ast_def){ .kind = DEF_MODEL, .at = at, .model = m });
}

void ast_add_onnx(dsl_parser *p, range at, const char *doc, const char *domain,
		  ast_word op_type, opset_range opsets,
		  const tensor_list *params, const attr_list *attrs,
		  const block *body)
{
	ast_onnx *e = ARENA_NEW(p->arena, ast_onnx);
	*e = (ast_onnx){ .domain = domain, .op_type = op_type.name, .doc = doc,
			 .since = opsets.since, .until = opsets.until,
			 .name_at = op_type.at, .at = at,
			 .nparams = params->n, .params = params->at,
			 .nattrs = attrs->n, .attrs = attrs->at,
			 .nbody = body->stmts.n, .body = body->stmts.at,
			 .body_at = body->at };
	add_def(p, (ast_def){ .kind = DEF_ONNX, .at = at, .onnx = e });
}

void ast_add_import(dsl_parser *p, range at, const char *path)
{
	add_def(p, (ast_def){ .kind = DEF_IMPORT, .at = at, .import = path });
}

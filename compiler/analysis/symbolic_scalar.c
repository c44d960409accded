/* Scalar expressions: their polynomials, and their reads. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

static const sval unknown = { .nfactors = -1 };
static const sval of_data = { .data = true, .varies = true, .nfactors = -1 };

sval sym_poly(const poly *p)
{
	return (sval){ .p = p };
}

/* ---- names and attributes ----------------------------------------------- */

const sname *sym_find(const build *b, const ast_symbol *s)
{
	const sname *n = s ? &b->frame->names[s->number] : NULL;
	return n && n->kind != SN_UNBOUND ? n : NULL;
}

const sattr *sym_find_attr(const frame *f, const ast_symbol *s)
{
	return s && s->kind == SYMBOL_ATTR && f->attrs ? &f->attrs[s->index]
						       : NULL;
}

/* The atom of an attribute whose value is known only with a call; made on first
 * use.  NULL if the attribute is no integer. */
static const poly *attr_atom(build *b, const ast_attr *decl, int64_t i)
{
	if (decl->type != ATTR_INT && decl->type != ATTR_AXIS)
		return NULL;
	const char *name =
		i < 0 ? decl->name
		      : arena_printf(b->arena, "%s[%lld]", decl->name,
				     (long long)i);
	int *atom = strmap_get(b->attr_atoms, name);
	if (!atom) {
		atom = ARENA_NEW(b->arena, int);
		*atom = poly_new_atom(b->space, ATOM_ATTR, name, POLY_NO_MIN);
		strmap_put(b->attr_atoms, name, atom);
	}
	return poly_of(b->arena, *atom);
}

const poly *sym_attr(build *b, frame *f, const sattr *attr, int64_t i)
{
	(void)f;
	if (!attr->value)
		return attr_atom(b, attr->decl, i);
	frame *here = b->frame;
	bool quiet = b->quiet;
	const poly *p = NULL;
	const ast_expr *v = attr->value;
	b->frame = attr->env;
	b->quiet = true;
	if (sym_find_attr(attr->env, v->symbol))
		p = sym_attr(b, attr->env, sym_find_attr(attr->env, v->symbol),
			     i);
	else if (i < 0)
		p = sym_scalar(b, v).p;
	else if (v->kind == AST_LIST && i < v->nargs)
		p = sym_scalar(b, v->args[i]).p;
	b->frame = here;
	b->quiet = quiet;
	return p;
}

static sval attr_value_of(build *b, const sattr *attr, int64_t i)
{
	sval v = unknown;
	v.p = sym_attr(b, b->frame, attr, i);
	v.nfactors = 0;
	v.attr = !v.p;
	return v;
}

void sym_touch(build *b, int var)
{
	collector *c = b->into;
	for (int i = 0; c && i < c->touched.n; i++)
		if (c->touched.at[i] == var)
			return;
	if (c && !b->quiet)
		vec_push(b->arena, &c->touched, var);
}

static sval name_value(build *b, const ast_expr *e)
{
	const sname *n = sym_find(b, e->symbol);
	if (!n)
		return unknown;
	sval v;
	switch (n->kind) {
	case SN_UNBOUND:
		break;
	case SN_POLY:
		return sym_poly(n->p);
	case SN_ATTR:
		return attr_value_of(b, &b->frame->attrs[n->index], -1);
	case SN_VAR:
		sym_touch(b, n->index);
		v = sym_poly(n->p);
		v.is.types = type_only(DT_I64);
		v.varies = true;
		v.nfactors = -1;
		return v;
	case SN_TENSOR:
		break;
	}
	ast_expr read = { .kind = AST_INDEX, .at = e->at, .nargs = 1,
			  .args = (ast_expr *[]){ (ast_expr *)e } };
	return sym_read_tensor(b, &read, n, NULL);
}

/* ---- arithmetic --------------------------------------------------------- */

sval sym_both(sval x, sval y)
{
	return (sval){ .data = x.data || y.data,
		       .attr = x.attr || y.attr,
		       .varies = x.varies || y.varies,
		       .is.types = types_meet(x.is.types, y.is.types),
		       .whole = sym_depend_any(&x.whole, &y.whole),
		       .apart = sym_depend_any(&x.apart, &y.apart),
		       .flops = x.flops + y.flops,
		       .nfactors = -1 };
}

/* Whether x may be 0 at some points even though sizes are not. */
static bool varies(const build *b, const poly *x)
{
	return poly_uses_kind(b->space, x, ATOM_VAR);
}

static const poly *poly_fn(build *b, fn f, const poly *x, const poly *y)
{
	switch (f) {
	case FN_ADD:
		return poly_add(b->arena, x, y);
	case FN_SUB:
		return poly_sub(b->arena, x, y);
	case FN_MUL:
		return poly_mul(b->arena, x, y);
	case FN_DIV:
		return varies(b, y) ? NULL : poly_div(b->space, x, y);
	case FN_MOD:
		return varies(b, y) ? NULL : poly_mod(b->space, x, y);
	case FN_MIN:
		return poly_min(b->space, x, y);
	case FN_MAX:
		return poly_max(b->space, x, y);
	default:
		return NULL;
	}
}

static const poly *poly_fn1(build *b, fn f, const poly *x)
{
	const poly *minus = poly_scale(b->arena, x, -1);
	return f == FN_NEG ? minus
	       : f == FN_ABS ? poly_max(b->space, x, minus)
			     : NULL;
}

const poly *sym_any_poly(sval x)
{
	return x.p ? x.p : x.cases;
}

/* Applies a function of two arguments.  equal: both arguments are the same
 * expression. */
static sval apply2(build *b, fn f, sval x, sval y, bool equal)
{
	sval r = sym_both(x, y);
	bool product = fn_table[f].linear == FN_LINEAR_PRODUCT;
	if (x.p && y.p)
		r.p = poly_fn(b, f, x.p, y.p);
	else if (sym_any_poly(x) && sym_any_poly(y))
		r.cases = poly_fn(b, f, sym_any_poly(x), sym_any_poly(y));
	sym_fn_facts(b, f, &r, (const sval[]){ x, y }, equal);
	if (product && x.nfactors >= 0 && y.nfactors >= 0)
		r.nfactors = x.nfactors + y.nfactors;
	if (!r.varies)
		r.nfactors = 0;
	else if (!(x.p && y.p))
		r.flops += fn_flops(f);
	return r;
}

static sval apply1(build *b, fn f, sval x)
{
	sval r = sym_both(x, unknown);
	if (x.p)
		r.p = poly_fn1(b, f, x.p);
	if (x.cases)
		r.cases = poly_fn1(b, f, x.cases);
	sym_fn_facts(b, f, &r, &x, false);
	if (!r.varies)
		r.nfactors = 0;
	else if (!x.p)
		r.flops += fn_flops(f);
	return r;
}

/* ---- calls -------------------------------------------------------------- */

static sval call_fn(build *b, const ast_expr *e, fn f)
{
	if (e->nargs == 0)
		return unknown;
	sval v = sym_scalar(b, e->args[0]);
	if (fn_nargs(f) == 1)
		return apply1(b, f, v);
	for (int i = 1; i < e->nargs; i++)
		v = apply2(b, f, v, sym_scalar(b, e->args[i]), false);
	return v;
}

/* The length of a list attribute. */
static sval length_of(build *b, const ast_expr *e)
{
	const sattr *attr = sym_find_attr(b->frame, e->args[0]->symbol);
	if (!attr)
		return unknown;
	if (attr->value && attr->value->kind == AST_LIST)
		return sym_poly(poly_int(b->arena, attr->value->nargs));
	if (attr->decl->length >= 0)
		return sym_poly(poly_int(b->arena, attr->decl->length));
	ast_attr named = *attr->decl;
	named.name = arena_printf(b->arena, "len(%s)", named.name);
	named.type = ATTR_INT;
	return sym_poly(attr_atom(b, &named, -1));
}

/* The value of size(..d); a polynomial if it is about the whole pack. */
static sval size_of(build *b, const ast_expr *e)
{
	const ast_pack *item = e->nargs == 1 ? e->args[0]->pack : NULL;
	const spack *p = item && item->kind == PACK_ALL
				 ? sym_find_pack(b, item->symbol)
				 : NULL;
	const poly *x = poly_int(b->arena, 1);
	for (int i = 0; p && i < p->dims.n; i++)
		x = poly_mul(b->arena, x, p->dims.dims[i].extent);
	sval v = unknown;
	v.attr = true;
	return p ? sym_poly(x) : v;
}

/* The element types that the second argument of a conversion names: a type, an
 * attribute or a tensor's type. */
static type_set types_said(const build *b, const ast_expr *e)
{
	const ast_type *to = e->args[1]->type;
	const sname *n = to->kind == TYPE_TENSOR ? sym_find(b, to->symbol)
						 : NULL;
	return n && n->index >= 0 ? b->tensors.at[n->index].types
				  : sym_declared_types(b, to);
}

static sval cast(build *b, const ast_expr *e)
{
	sval v = sym_scalar(b, e->args[0]);
	type_set to = types_said(b, e);
	if (v.p && to == type_only(DT_I64)) {
		v.is.types = to;
		return v;
	}
	sym_cast_facts(b, &v, to);
	v.p = NULL;
	v.read = NULL;
	v.nfactors = v.varies ? -1 : 0;
	return v;
}

/* The result of a function of one argument that is neither linear nor
 * monotone. */
static sval bent(sval x)
{
	x.whole = sym_depend_any(&x.whole, &x.whole);
	x.apart = sym_depend_any(&x.apart, &x.apart);
	x.is = facts_of_element(x.is.types);
	x.p = x.cases = NULL;
	x.read = NULL;
	x.nfactors = x.varies ? -1 : 0;
	return x;
}

static sval bitcast(build *b, const ast_expr *e)
{
	sval v = bent(sym_scalar(b, e->args[0]));
	v.is = facts_of_element(types_said(b, e));
	return v;
}

/* The position in row-major order that ravel(..) gives. */
static sval position_of(build *b, const ast_expr *e)
{
	for (int i = 0; i < e->nargs; i++)
		if (e->args[i]->kind == AST_PACK)
			sym_pack_items(b, e->args[i]->pack, NULL, NULL);
		else
			sym_scalar(b, e->args[i]);
	if (b->nindices > 0)
		sym_open(b, "it reads at a position in row-major order");
	sval v = unknown;
	v.varies = v.attr = true;
	v.is.types = type_only(DT_I64);
	return v;
}

static sval call_value(build *b, const ast_expr *e)
{
	const builtin *f = e->calls.function;
	if (f && f->reducer)
		return b->quiet ? of_data : sym_reduction(b, e);
	switch (f ? f->rule : RULE_NONE) {
	case RULE_NONE:
		return unknown;
	case RULE_SELECT:
		return sym_choose(b, e->args[0], e->args[1], e->args[2]);
	case RULE_CAST:
		return cast(b, e);
	case RULE_BITCAST:
		return bitcast(b, e);
	case RULE_SATURATE:
		return bent(sym_scalar(b, e->args[0]));
	case RULE_LENGTH:
		return length_of(b, e);
	case RULE_POINTS:
		return size_of(b, e);
	case RULE_POSITION:
		return position_of(b, e);
	default:
		return call_fn(b, e, (fn)f->fn);
	}
}

static sval indexed(build *b, const ast_expr *e, const ast_expr *otherwise)
{
	const ast_expr *base = e->args[0];
	if (ast_opaque_of(base))
		return b->quiet ? of_data : sym_opaque(b, base, e);
	const sname *n = sym_find(b, base->symbol);
	if (n && n->kind == SN_TENSOR)
		return sym_read_tensor(b, e, n, otherwise);
	if (n && n->kind == SN_ATTR && e->nargs == 2) {
		int64_t i;
		sval at = sym_scalar(b, e->args[1]);
		if (poly_is_constant(at.p, &i) && i >= 0)
			return attr_value_of(b, &b->frame->attrs[n->index],
					     i);
	}
	sval v = unknown;
	v.attr = true;
	return v;
}

/* The number of stages so far.  Every reduction and every gather counts as a
 * stage of its own, even if two are the same. */
static int nstages(const build *b)
{
	return b->stages.n + (b->into ? b->into->gathers.n : 0);
}

static bool is_square(const ast_expr *e)
{
	return e->op == OP_MUL && ast_same(e->args[0], e->args[1]);
}

static sval binary(build *b, const ast_expr *e)
{
	static const fn fns[] = {
		[OP_ADD] = FN_ADD, [OP_SUB] = FN_SUB, [OP_MUL] = FN_MUL,
		[OP_DIV] = FN_DIV, [OP_MOD] = FN_MOD, [OP_LT] = FN_LT,
		[OP_LE] = FN_LE,   [OP_GT] = FN_GT,   [OP_GE] = FN_GE,
		[OP_EQ] = FN_EQ,   [OP_NE] = FN_NE,
	};
	int before = nstages(b);
	sval x = sym_scalar(b, e->args[0]), y = sym_scalar(b, e->args[1]);
	return apply2(b, fns[e->op], x, y,
		      nstages(b) == before && is_square(e));
}

sval sym_scalar(build *b, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
		return sym_poly(poly_int(b->arena, e->i));
	case AST_FLOAT:
		return (sval){ .is = facts_of_constant(0, e->f) };
	case AST_NAME:
		return name_value(b, e);
	case AST_INDEX:
		return indexed(b, e, NULL);
	case AST_GUARD:
		if (e->args[0]->kind == AST_INDEX)
			return indexed(b, e->args[0], e->args[1]);
		return sym_scalar(b, e->args[0]);
	case AST_CALL:
		if (ast_opaque_of(e))
			return unknown;
		return call_value(b, e);
	case AST_UNARY:
		return apply1(b, e->op == OP_NEG ? FN_NEG : FN_NOT,
			      sym_scalar(b, e->args[0]));
	case AST_BINARY:
		if (e->op == OP_AND || e->op == OP_OR)
			return sym_logical(b, e);
		return binary(b, e);
	case AST_IF:
		return sym_choose(b, e->args[0], e->args[1], e->args[2]);
	case AST_BOOL:
		return (sval){ .is.types = type_only(DT_BOOL) };
	case AST_STRING:
		return (sval){ 0 };
	default:
		return unknown;
	}
}

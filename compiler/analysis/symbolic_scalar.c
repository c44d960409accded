/* Scalar expressions: the polynomials that they are, and their reads. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

#include <string.h>

static const sval unknown = { .nfactors = -1 };
static const sval of_data = { .data = true, .varies = true, .nfactors = -1 };

sval sym_poly(const poly *p)
{
	return (sval){ .p = p, .zero = poly_is_zero(p) };
}

/* ---- names and attributes ----------------------------------------------- */

const sname *sym_find(const build *b, const char *name)
{
	const frame *f = b->frame;
	for (int i = f->names.n - 1; i >= 0; i--)
		if (f->names.at[i].name == name)
			return &f->names.at[i];
	return NULL;
}

const sattr *sym_find_attr(const frame *f, const char *name)
{
	for (int i = 0; i < f->attrs.n; i++)
		if (f->attrs.at[i].decl->name == name)
			return &f->attrs.at[i];
	return NULL;
}

/* The atom of an attribute that only a call knows; made when first asked
 * for. */
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
	if (v->kind == AST_NAME && sym_find_attr(attr->env, v->name))
		p = sym_attr(b, attr->env, sym_find_attr(attr->env, v->name),
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
	v.zero = poly_is_zero(v.p);
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
	const sname *n = sym_find(b, e->name);
	if (!n)
		return unknown;
	sval v;
	switch (n->kind) {
	case SN_POLY:
		return sym_poly(n->p);
	case SN_ATTR:
		return attr_value_of(b, &b->frame->attrs.at[n->index], -1);
	case SN_VAR:
		sym_touch(b, n->index);
		v = sym_poly(n->p);
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

/* The facts on any function of two: their reads, their cost. */
static sval both(sval x, sval y)
{
	return (sval){ .data = x.data || y.data,
		       .attr = x.attr || y.attr,
		       .varies = x.varies || y.varies,
		       .type = x.type != ST_OPEN ? x.type : y.type,
		       .whole = sym_dep_any(x.whole, y.whole),
		       .apart = sym_dep_any(x.apart, y.apart),
		       .flops = x.flops + y.flops,
		       .nfactors = -1 };
}

static void add_dependence(sval *r, sval x, sval y)
{
	r->whole = sym_dep_sum(x.whole, x.zero, y.whole, y.zero);
	r->apart = sym_dep_sum(x.apart, x.zero, y.apart, y.zero);
}

/* A quotient of whole numbers is rounded. */
static void divide_dependence(sval *r, sval x, sval y)
{
	if (r->type == ST_INT)
		return;
	r->whole = sym_dep_quotient(x.whole, y.whole);
	r->apart = sym_dep_quotient(x.apart, y.apart);
}

static bool gives_bool(fn f)
{
	return fn_is_comparison(f) || f == FN_AND || f == FN_OR ||
	       f == FN_NOT || f == FN_ISNAN || f == FN_ISINF;
}

/* Whether x may be 0 at some points, where sizes are not. */
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

/* With atoms for choices, if need be. */
static const poly *any_poly(sval x)
{
	return x.p ? x.p : x.cases;
}

/* equal: both are the same expression. */
static sval apply2(build *b, fn f, sval x, sval y, bool equal)
{
	sval r = both(x, y);
	if (x.p && y.p)
		r.p = poly_fn(b, f, x.p, y.p);
	else if (any_poly(x) && any_poly(y))
		r.cases = poly_fn(b, f, any_poly(x), any_poly(y));
	switch (f) {
	case FN_ADD:
	case FN_SUB:
		add_dependence(&r, x, y);
		r.zero = x.zero && y.zero;
		break;
	case FN_MUL:
		r.whole = sym_dep_product(x.whole, y.whole);
		r.apart = sym_dep_product(x.apart, y.apart);
		r.zero = x.zero || y.zero;
		if (x.nfactors >= 0 && y.nfactors >= 0)
			r.nfactors = x.nfactors + y.nfactors;
		break;
	case FN_DIV:
		divide_dependence(&r, x, y);
		break;
	default:
		break;
	}
	sym_sign_fn(b, f, &r, &x, &y, equal);
	sym_course_fn(b, f, &r, &x, &y);
	if (gives_bool(f))
		r.type = ST_BOOL;
	if (!r.varies)
		r.nfactors = 0;
	else if (!(x.p && y.p))
		r.flops += fn_flops(f);
	return r;
}

static sval apply1(build *b, fn f, sval x)
{
	sval r = both(x, unknown);
	r.attr = x.attr;
	if (f == FN_NEG) {
		r.p = poly_scale(b->arena, x.p, -1);
		r.cases = poly_scale(b->arena, x.cases, -1);
		r.whole = x.whole;
		r.apart = x.apart;
		r.zero = x.zero;
	}
	if (f == FN_ABS && x.p)
		r.p = poly_max(b->space, x.p, poly_scale(b->arena, x.p, -1));
	if (f == FN_ABS && x.cases)
		r.cases = poly_max(b->space, x.cases,
				   poly_scale(b->arena, x.cases, -1));
	sym_sign_fn(b, f, &r, &x, &unknown, false);
	sym_course_fn(b, f, &r, &x, &unknown);
	if (gives_bool(f))
		r.type = ST_BOOL;
	if (!r.varies)
		r.nfactors = 0;
	else if (!x.p)
		r.flops += fn_flops(f);
	return r;
}

/* ---- conditions --------------------------------------------------------- */

typedef VEC(sym_path) path_list;

static void add_path(build *b, path_list *l, const poly *f, const poly *g)
{
	sym_path p = { 0, ARENA_ARRAY(b->arena, const poly *, 2) };
	if (f)
		p.facts[p.n++] = f;
	if (g)
		p.facts[p.n++] = g;
	vec_push(b->arena, l, p);
}

static path_list product(build *b, const sym_path *x, int nx,
			 const path_list *y)
{
	path_list r = { 0 };
	if ((int64_t)nx * y->n > SYM_MAX_PATHS) {
		b->vague = true;
		for (int i = 0; i < nx; i++)
			vec_push(b->arena, &r, x[i]);
		return r;
	}
	for (int i = 0; i < nx; i++) {
		for (int j = 0; j < y->n; j++) {
			const sym_path *p = &x[i], *q = &y->at[j];
			sym_path s = { p->n + q->n,
				       ARENA_ARRAY(b->arena, const poly *,
						   p->n + q->n) };
			for (int k = 0; k < s.n; k++)
				s.facts[k] = k < p->n ? p->facts[k]
						      : q->facts[k - p->n];
			vec_push(b->arena, &r, s);
		}
	}
	return r;
}

/* The facts that follow from x OP y, or from its opposite, for two integers. */
static void compare(build *b, ast_operator op, bool truth, const poly *x,
		    const poly *y, path_list *out)
{
	static const ast_operator opposite[] = {
		[OP_LT] = OP_GE, [OP_LE] = OP_GT, [OP_GT] = OP_LE,
		[OP_GE] = OP_LT, [OP_EQ] = OP_NE, [OP_NE] = OP_EQ,
	};
	arena *a = b->arena;
	const poly *above = poly_sub(a, y, x), *below = poly_sub(a, x, y);
	switch (truth ? op : opposite[op]) {
	case OP_LT:
		add_path(b, out, poly_shift(a, above, -1), NULL);
		break;
	case OP_LE:
		add_path(b, out, above, NULL);
		break;
	case OP_GT:
		add_path(b, out, poly_shift(a, below, -1), NULL);
		break;
	case OP_GE:
		add_path(b, out, below, NULL);
		break;
	case OP_EQ:
		add_path(b, out, above, below);
		break;
	default:
		add_path(b, out, poly_shift(a, above, -1), NULL);
		add_path(b, out, poly_shift(a, below, -1), NULL);
		break;
	}
}

/* A condition as alternatives of facts.  A data-dependent one gives none:
 * either way is possible. */
static path_list paths_of(build *b, const ast_expr *e, bool truth)
{
	path_list r = { 0 };
	if (e->kind == AST_UNARY && e->op == OP_NOT)
		return paths_of(b, e->args[0], !truth);
	if (e->kind == AST_BINARY && (e->op == OP_AND || e->op == OP_OR)) {
		path_list x = paths_of(b, e->args[0], truth);
		path_list y = paths_of(b, e->args[1], truth);
		if ((e->op == OP_AND) == truth)
			return product(b, x.at, x.n, &y);
		for (int i = 0; i < y.n; i++)
			vec_push(b->arena, &x, y.at[i]);
		return x;
	}
	bool quiet = b->quiet;
	b->quiet = true;
	if (e->kind == AST_BINARY && e->op >= OP_LT && e->op <= OP_NE) {
		sval x = sym_scalar(b, e->args[0]);
		sval y = sym_scalar(b, e->args[1]);
		const poly *p = any_poly(x), *q = any_poly(y);
		if (p && q)
			compare(b, e->op, truth, p, q, &r);
		b->vague |= !(p && q) && !x.data && !y.data;
	} else {
		b->vague |= !sym_scalar(b, e).data;
	}
	b->quiet = quiet;
	if (r.n == 0)
		add_path(b, &r, NULL, NULL);
	return r;
}

/* A condition as alternatives, and its reads. */
typedef struct asked {
	condition noted;
	path_list yes, no;
	bool vague;
} asked;

static void ask(build *b, const ast_expr *cond, asked *a)
{
	bool vague = b->vague;
	b->vague = false;
	b->nasked++;
	a->yes = paths_of(b, cond, true);
	a->no = paths_of(b, cond, false);
	b->nasked--;
	a->vague = b->vague;
	b->vague = vague;
}

/* Walks e where the condition holds, or does not. */
static sval under(build *b, const asked *a, bool truth, const ast_expr *e)
{
	sym_path *paths = b->paths;
	int npaths = b->npaths;
	bool vague = b->vague;
	path_list now = product(b, paths, npaths, truth ? &a->yes : &a->no);
	b->vague |= a->vague;
	b->paths = now.at;
	b->npaths = now.n;
	vec_push(b->arena, &b->conditions, a->noted);
	sval v = sym_scalar(b, e);
	b->conditions.n--;
	b->paths = paths;
	b->npaths = npaths;
	b->vague = vague;
	return v;
}

/* The choice between two integers as an atom, only in an index or in a
 * condition. */
static const poly *choice(build *b, const ast_expr *const e[3], const asked *a,
			  sval x, sval y)
{
	if (a->vague || !any_poly(x) || !any_poly(y) ||
	    b->nindices + b->nasked == 0)
		return NULL;
	const char *text[3];
	for (int i = 0; i < 3; i++)
		text[i] = dsl_expr_text(b->arena, e[i]);
	const char *name = arena_printf(b->arena, "(if %s then %s else %s)",
					text[0], text[1], text[2]);
	int atom = poly_new_atom(b->space, ATOM_VAR, name, POLY_NO_MIN);
	sym_choice c = { .atom = atom, .x = any_poly(x), .y = any_poly(y),
			 .nxs = a->yes.n, .xs = a->yes.at,
			 .nys = a->no.n, .ys = a->no.at };
	vec_push(b->arena, &b->choices, c);
	return poly_of(b->arena, atom);
}

static sval choose(build *b, const ast_expr *c, const ast_expr *x,
		   const ast_expr *y)
{
	/* Conditions are walked twice for the choices in them. */
	enum { MAX_ASKED = 3 };
	if (b->nasked > MAX_ASKED)
		return unknown;
	asked a;
	sval vc = sym_condition(b, c, &a.noted);
	ask(b, c, &a);
	if (b->into && !b->quiet)
		b->into->conditional = true;
	b->nbranches++;
	sval vx = under(b, &a, true, x), vy = under(b, &a, false, y);
	b->nbranches--;
	sval r = both(vx, vy);
	if (!vc.data)
		r.cases = choice(b, (const ast_expr *[]){ c, x, y }, &a, vx,
				 vy);
	add_dependence(&r, vx, vy);
	r.whole = sym_dep_quotient(r.whole, vc.whole);
	r.apart = sym_dep_quotient(r.apart, vc.apart);
	sym_course_choice((const ast_expr *[]){ c, x, y }, &r, &vc, &vx, &vy);
	r.zero = vx.zero && vy.zero;
	r.bearing = sym_either_bearing(b, &vx, &vy);
	r.data |= vc.data;
	r.attr |= vc.attr;
	r.varies |= vc.varies;
	r.flops = vc.flops + (vx.flops > vy.flops ? vx.flops : vy.flops);
	return r;
}

/* `a and b`, `a or b`: b is evaluated under the facts of a. */
static sval logical(build *b, const ast_expr *e)
{
	asked a;
	sval x = sym_condition(b, e->args[0], &a.noted), y;
	if (b->quiet) {
		y = sym_scalar(b, e->args[1]);
	} else {
		ask(b, e->args[0], &a);
		if (b->into)
			b->into->conditional = true;
		b->nbranches++;
		y = under(b, &a, e->op == OP_AND, e->args[1]);
		b->nbranches--;
	}
	sval r = both(x, y);
	sym_course_fn(b, e->op == OP_AND ? FN_AND : FN_OR, &r, &x, &y);
	r.type = ST_BOOL;
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
	const sattr *attr = e->nargs == 1 && e->args[0]->kind == AST_NAME
				    ? sym_find_attr(b->frame, e->args[0]->name)
				    : NULL;
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

/* size(..d): known as a polynomial where all of a pack is meant. */
static sval size_of(build *b, const ast_expr *e)
{
	const ast_pack *item = e->nargs == 1 ? e->args[0]->pack : NULL;
	const spack *p = item && item->kind == PACK_ALL
				 ? sym_find_pack(b, item->name)
				 : NULL;
	const poly *x = poly_int(b->arena, 1);
	for (int i = 0; p && i < p->dims.n; i++)
		x = poly_mul(b->arena, x, p->dims.dims[i].extent);
	sval v = unknown;
	v.attr = true;
	return p ? sym_poly(x) : v;
}

/* The type that the second argument of a conversion says: its own name, that
 * of an attribute, or that of a tensor. */
static stype type_said(const build *b, const ast_expr *e)
{
	const ast_type to = { .name = e->args[1]->name };
	const sname *n = sym_find(b, to.name);
	return n && n->kind == SN_TENSOR && n->index >= 0
		       ? b->tensors.at[n->index].type
		       : sym_declared_type(&to);
}

/* From floats to floats it is linear, as kernel/linearity.c has it; else not.
 */
static sval cast(build *b, const ast_expr *e)
{
	sval v = sym_scalar(b, e->args[0]);
	stype type = type_said(b, e);
	dtype exact = dtype_parse(e->args[1]->name);
	if (v.p && exact == DT_I64) {
		v.type = type;
		return v;
	}
	bool few_bits = exact != DT_NONE && dtype_bits(exact) < 16;
	if (v.type != ST_OPEN || type != ST_OPEN || few_bits)
		v.whole.linear = v.apart.linear = 0;
	sym_course_cast(&v, v.type, exact);
	if (v.p)
		v.bearing = (bearing){ SIGN_ANY, false };
	v.type = type;
	v.p = NULL;
	v.read = NULL;
	v.nfactors = v.varies ? -1 : 0;
	return v;
}

/* x after a function of one argument that is neither linear nor monotone. */
static sval bent(sval x)
{
	x.whole = sym_dep_any(x.whole, (dependence){ 0 });
	x.apart = sym_dep_any(x.apart, (dependence){ 0 });
	x.bearing = (bearing){ SIGN_ANY, false };
	x.p = x.cases = NULL;
	x.read = NULL;
	x.zero = false;
	x.nfactors = x.varies ? -1 : 0;
	return x;
}

static sval bitcast(build *b, const ast_expr *e)
{
	sval v = bent(sym_scalar(b, e->args[0]));
	v.type = type_said(b, e);
	return v;
}

/* A position in row-major order. */
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
	return v;
}

static sval call_value(build *b, const ast_expr *e)
{
	bool mean;
	if (sym_reducer(e, &mean) != RED_NONE)
		return b->quiet ? of_data : sym_reduction(b, e);
	const builtin *f = builtin_find(BUILTIN_SCALAR, e->name);
	switch (f ? f->rule : RULE_NONE) {
	case RULE_NONE:
		return unknown;
	case RULE_SELECT:
		return choose(b, e->args[0], e->args[1], e->args[2]);
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
		return call_fn(b, e, (fn)fn_parse(e->name));
	}
}

static sval indexed(build *b, const ast_expr *e, const ast_expr *otherwise)
{
	const ast_expr *base = e->args[0];
	if (sym_opaque_of(b, base))
		return b->quiet ? of_data : sym_opaque(b, base, e);
	const sname *n = base->kind == AST_NAME ? sym_find(b, base->name)
						: NULL;
	if (n && n->kind == SN_TENSOR)
		return sym_read_tensor(b, e, n, otherwise);
	if (n && n->kind == SN_ATTR && e->nargs == 2) {
		int64_t i;
		sval at = sym_scalar(b, e->args[1]);
		if (poly_is_constant(at.p, &i) && i >= 0)
			return attr_value_of(b, &b->frame->attrs.at[n->index],
					     i);
	}
	sval v = unknown;
	v.attr = true;
	return v;
}

/* Two reductions, and two gathers, are stages of their own though they are
 * alike. */
static int nstages(const build *b)
{
	return b->stages.n + (b->into ? b->into->gathers.n : 0);
}

static bool is_square(const build *b, const ast_expr *e)
{
	return e->op == OP_MUL &&
	       !strcmp(dsl_expr_text(b->arena, e->args[0]),
		       dsl_expr_text(b->arena, e->args[1]));
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
		      nstages(b) == before && is_square(b, e));
}

sval sym_scalar(build *b, const ast_expr *e)
{
	switch (e->kind) {
	case AST_INT:
		return sym_poly(poly_int(b->arena, e->i));
	case AST_FLOAT:
		return (sval){ .zero = e->f == 0,
			       .bearing = bearing_of(e->f) };
	case AST_NAME:
		return name_value(b, e);
	case AST_INDEX:
		return indexed(b, e, NULL);
	case AST_GUARD:
		if (e->args[0]->kind == AST_INDEX)
			return indexed(b, e->args[0], e->args[1]);
		return sym_scalar(b, e->args[0]);
	case AST_CALL:
		if (sym_opaque_of(b, e))
			return unknown;
		return call_value(b, e);
	case AST_UNARY:
		return apply1(b, e->op == OP_NEG ? FN_NEG : FN_NOT,
			      sym_scalar(b, e->args[0]));
	case AST_BINARY:
		if (e->op == OP_AND || e->op == OP_OR)
			return logical(b, e);
		return binary(b, e);
	case AST_IF:
		return choose(b, e->args[0], e->args[1], e->args[2]);
	case AST_STRING:
	case AST_BOOL:
		return (sval){ 0 };
	default:
		return unknown;
	}
}

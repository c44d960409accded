#include "config.h"

#include "compiler/analysis/symbolic.h"

#include <string.h>

#include "compiler/analysis/symbolic_build.h"

static bool call_operator(build *b, const ast_expr *call, const ast_op *callee,
			  const char *label, int *results);
static bool walk_body(build *b, int *results);

/* ---- which packs are told apart ----------------------------------------- */

/* The axes by which an operator divides its packs. */
typedef struct axes_use {
	const ast_op *op;
	const tdl_modules *modules;
	const ast_symbol *pack;
	const ast_expr *selector;
	bool many;
} axes_use;

static bool same_axes(const ast_expr *x, const ast_expr *y)
{
	if (x->kind != y->kind || x->nargs != y->nargs || x->i != y->i ||
	    x->name != y->name || x->op != y->op)
		return false;
	for (int i = 0; i < x->nargs; i++)
		if (!same_axes(x->args[i], y->args[i]))
			return false;
	return true;
}

static void use_axes(axes_use *u, const ast_expr *selector)
{
	if (u->selector && !same_axes(u->selector, selector))
		u->many = true;
	u->selector = selector;
}

static void scan_pack(axes_use *u, const ast_pack *p)
{
	if (p && p->symbol == u->pack && p->sel &&
	    (p->kind == PACK_MINUS || p->kind == PACK_AND))
		use_axes(u, p->sel);
}

static bool is_axis(const ast_op *op, const ast_expr *e)
{
	const ast_symbol *s = e->symbol;
	return s && s->kind == SYMBOL_ATTR &&
	       op->attrs[s->index].type == ATTR_AXIS;
}

static void scan_expr(axes_use *u, const ast_expr *e)
{
	scan_pack(u, e->pack);
	for (int i = 0; i < e->nvars; i++)
		scan_pack(u, e->vars[i].pack);
	/* An axis that is passed on to another operator. */
	for (int i = 0; i < e->nnamed; i++)
		if (is_axis(u->op, e->named[i].value))
			use_axes(u, e->named[i].value);
	for (int i = 0; i < e->nargs; i++)
		scan_expr(u, e->args[i]);
}

static void scan_tensors(axes_use *u, const ast_tensor *t, int n)
{
	for (int i = 0; i < n; i++)
		for (int d = 0; d < t[i].ndims; d++)
			scan_pack(u, t[i].dims[d]->pack);
}

static axes_use axes_of(const ast_op *op, const ast_symbol *pack)
{
	axes_use u = { .op = op, .pack = pack };
	scan_tensors(&u, op->params, op->nparams);
	scan_tensors(&u, op->results, op->nresults);
	for (int i = 0; i < op->nlets; i++)
		scan_expr(&u, op->lets[i].value);
	for (int i = 0; i < op->nresults; i++)
		scan_expr(&u, op->bodies[i]);
	return u;
}

/* ---- the signature ------------------------------------------------------ */

static void give_up(build *b, const char *because)
{
	b->failed = true;
	if (!b->open_because)
		b->open_because = because;
}

static sym_dim pack_dim(build *b, const char *text, range at)
{
	int atom = poly_new_atom(b->space, ATOM_SIZE, text, 1);
	return (sym_dim){ .extent = poly_of(b->arena, atom), .pack = true,
			  .text = text, .at = at };
}

static bool is_known_pack(const frame *f, const ast_symbol *s)
{
	return f->pack_of[s->number] || sym_find_attr(f, s);
}

/* Declares a pack of an operator that is not called. */
static void declare_pack(build *b, const ast_symbol *s, range at)
{
	arena *a = b->arena;
	const char *name = s->name;
	if (is_known_pack(b->frame, s))
		return;
	axes_use u = axes_of(b->frame->op, s);
	spack *p = sym_new_pack(b, s);
	if (!u.selector || u.many) {
		p->dims.n = 1;
		p->dims.dims[0] = pack_dim(b, arena_printf(a, "..%s", name),
					   at);
		return;
	}
	const char *axes = dsl_expr_text(a, u.selector);
	p->selector = u.selector;
	p->selector_in = b->frame;
	p->dims.n = 2;
	p->dims.dims[0] = pack_dim(b, arena_printf(a, "..(%s \\ %s)", name,
						   axes), at);
	p->dims.dims[1] = pack_dim(b, arena_printf(a, "..(%s & %s)", name,
						   axes), at);
}

static void bind_size(build *b, const ast_symbol *s, const poly *p)
{
	if (!sym_find(b, s))
		b->frame->names[s->number] = (sname){ .kind = SN_POLY, .p = p };
}

static void declare_sizes(build *b, const ast_expr *e)
{
	if (e->kind == AST_NAME && !sym_find(b, e->symbol)) {
		int atom = poly_new_atom(b->space, ATOM_SIZE, e->name, 1);
		bind_size(b, e->symbol, poly_of(b->arena, atom));
	}
	if (e->kind == AST_PACK) {
		if (e->pack->name && e->pack->kind == PACK_ALL)
			declare_pack(b, e->pack->symbol, e->at);
		return;
	}
	for (int i = 0; i < e->nargs; i++)
		declare_sizes(b, e->args[i]);
}

/* Adds attribute i.  Symbols of parameters come first, then those of
 * attributes. */
static void add_attr(build *b, int i, sattr attr)
{
	frame *f = b->frame;
	f->names[f->op->nparams + i] = (sname){ .kind = SN_ATTR, .index = i };
	f->attrs[i] = attr;
}

static void name_tensor(build *b, int symbol, int tensor)
{
	b->frame->names[symbol] = (sname){ .kind = SN_TENSOR, .index = tensor };
}

static void note_pack_parts(build *b, sym_tensor *t)
{
	for (int i = 0; i < b->frame->packs.n && t->ndims == 2; i++) {
		const spack *p = b->frame->packs.at[i];
		if (p->selector &&
		    poly_equal(p->dims.dims[0].extent, t->dims[0].extent) &&
		    poly_equal(p->dims.dims[1].extent, t->dims[1].extent)) {
			t->parts = p->selector;
			t->parts_in = p->selector_in;
		}
	}
}

/* The dimensions of a tensor as written in the source.  They are used if their
 * values are known only with shapes. */
static void written_dims(build *b, const ast_tensor *t, dim_list *dims)
{
	dims->n = t->ndims < SYM_MAX_DIMS ? t->ndims : SYM_MAX_DIMS;
	for (int d = 0; d < dims->n; d++) {
		const ast_expr *e = t->dims[d];
		dims->dims[d] = pack_dim(b, dsl_expr_text(b->arena, e), e->at);
		dims->dims[d].pack = e->kind == AST_PACK;
	}
}

static void declare_params(build *b)
{
	const ast_op *op = b->frame->op;
	for (int i = 0; i < op->nparams; i++) {
		const ast_tensor *t = &op->params[i];
		sym_tensor v = { .name = t->name, .stage = -1, .at = t->at,
				 .types = sym_declared_types(b, &t->type),
				 .broadcast = t->broadcast };
		dim_list dims;
		if (!sym_declared_dims(b, t, &dims)) {
			give_up(b, "the dimensions of its inputs follow from "
				   "attributes");
			written_dims(b, t, &dims);
		}
		v.ndims = dims.n;
		v.dims = ARENA_COPY(b->arena, dims.dims, dims.n);
		note_pack_parts(b, &v);
		sym_add_tensor(b, v);
	}
	for (int i = 0; i < op->nparams; i++)
		name_tensor(b, i, i);
}

/* ---- calls -------------------------------------------------------------- */

static int argument(build *b, const ast_expr *e, const char *label, int i)
{
	const sname *n = sym_find(b, e->symbol);
	if (n)
		return n->kind == SN_TENSOR ? n->index : -1;
	const ast_op *inner = ast_op_of(e);
	int result;
	if (!inner || inner->nresults != 1)
		return -1;
	const char *name = arena_printf(b->arena, "%s.%s%d", label, e->name, i);
	return call_operator(b, e, inner, name, &result) ? result : -1;
}

/* Binds the sizes before and after a pack, and the pack to the dimensions in
 * between. */
static bool bind_param(build *b, const ast_tensor *t, const sym_tensor *arg)
{
	int open = -1, npacks = 0;
	for (int d = 0; d < t->ndims; d++)
		if (t->dims[d]->kind == AST_PACK) {
			open = d;
			npacks++;
		}
	int width = arg->ndims - (t->ndims - 1);
	if (npacks > 1 || (npacks == 0 && t->ndims != arg->ndims) || width < 0)
		return false;
	for (int d = 0, at = 0; d < t->ndims; d++) {
		const ast_expr *e = t->dims[d];
		if (d != open) {
			if (arg->dims[at].pack)
				return false;
			if (e->kind == AST_NAME)
				bind_size(b, e->symbol, arg->dims[at].extent);
			at++;
			continue;
		}
		if (e->pack->kind != PACK_ALL)
			return is_known_pack(b->frame, e->pack->symbol);
		if (!is_known_pack(b->frame, e->pack->symbol)) {
			spack *p = sym_new_pack(b, e->pack->symbol);
			p->dims.n = width;
			for (int i = 0; i < width; i++)
				p->dims.dims[i] = arg->dims[at + i];
			if (width == 2 && arg->ndims == 2) {
				p->selector = arg->parts;
				p->selector_in = arg->parts_in;
			}
		}
		at += width;
	}
	return true;
}

/* Finds the place of the pack in a declared tensor and the number of the
 * argument's dimensions that belong to it.  Returns false if the tensor has no
 * pack or several. */
static bool pack_place(const ast_tensor *t, const sym_tensor *arg, int *at,
		       int *width)
{
	int npacks = 0;
	for (int d = 0; d < t->ndims; d++)
		if (t->dims[d]->kind == AST_PACK) {
			*at = d;
			npacks++;
		}
	*width = arg->ndims - (t->ndims - 1);
	return npacks == 1 && *width >= 0;
}

static bool is_one(const sym_dim *d)
{
	int64_t n;
	return !d->pack && poly_is_constant(d->extent, &n) && n == 1;
}

/* The pack into which operands are broadcast.  At each place, counted from the
 * end, it has the dimension that is not 1.  Returns false if two operands
 * differ there. */
static bool broadcast_dims(build *b, const ast_op *op, const int *args,
			   spack *p)
{
	for (int i = 0; i < op->nparams; i++) {
		const sym_tensor *t = &b->tensors.at[args[i]];
		int at = 0, width;
		if (!op->params[i].broadcast)
			continue;
		if (!pack_place(&op->params[i], t, &at, &width))
			return false;
		if (width > p->dims.n) {
			int more = width - p->dims.n;
			memmove(p->dims.dims + more, p->dims.dims,
				(size_t)p->dims.n * sizeof(sym_dim));
			for (int d = 0; d < more; d++)
				p->dims.dims[d] = t->dims[at + d];
			p->dims.n = width;
		}
		for (int d = 0; d < width; d++) {
			sym_dim *to = &p->dims.dims[p->dims.n - width + d];
			const sym_dim *x = &t->dims[at + d];
			if (is_one(to))
				*to = *x;
			if (!is_one(x) && !poly_equal(x->extent, to->extent))
				return false;
		}
		if (width == 2 && t->ndims == 2 && t->parts) {
			p->selector = t->parts;
			p->selector_in = t->parts_in;
		}
	}
	return true;
}

/* Binds the sizes around the pack of a broadcast argument. */
static bool bind_around(build *b, const ast_tensor *t, const sym_tensor *arg,
			int at, int width)
{
	for (int d = 0; d < t->ndims; d++) {
		if (d == at)
			continue;
		const sym_dim *x = &arg->dims[d < at ? d : d + width - 1];
		if (x->pack)
			return false;
		if (t->dims[d]->kind == AST_NAME)
			bind_size(b, t->dims[d]->symbol, x->extent);
	}
	return true;
}

static bool bind_broadcast(build *b, const ast_op *op, const int *args)
{
	spack *p = NULL;
	for (int i = 0; i < op->nparams; i++) {
		const ast_tensor *t = &op->params[i];
		const sym_tensor *arg = &b->tensors.at[args[i]];
		int at = 0, width;
		if (!t->broadcast)
			continue;
		if (!pack_place(t, arg, &at, &width) ||
		    !bind_around(b, t, arg, at, width))
			return false;
		if (is_known_pack(b->frame, t->dims[at]->pack->symbol))
			continue;
		p = sym_new_pack(b, t->dims[at]->pack->symbol);
		if (!broadcast_dims(b, op, args, p))
			return false;
	}
	return true;
}

static void name_broadcast(build *b, const ast_tensor *t, int symbol,
			   int tensor)
{
	const sym_tensor *arg = &b->tensors.at[tensor];
	sname n = { .kind = SN_TENSOR, .index = tensor };
	if (pack_place(t, arg, &n.pack_at, &n.width)) {
		spack *p = sym_find_pack(b, t->dims[n.pack_at]->pack->symbol);
		n.missing = p ? p->dims.n - n.width : 0;
	}
	b->frame->names[symbol] = n;
}

static bool bind_call(build *b, const ast_op *callee, const int *args)
{
	for (int i = 0; i < callee->nparams; i++)
		if (!callee->params[i].broadcast &&
		    !bind_param(b, &callee->params[i],
				&b->tensors.at[args[i]]))
			return false;
	if (!bind_broadcast(b, callee, args))
		return false;
	for (int i = 0; i < callee->nparams; i++)
		if (callee->params[i].broadcast)
			name_broadcast(b, &callee->params[i], i, args[i]);
		else
			name_tensor(b, i, args[i]);
	return true;
}

static void call_attrs(build *b, const ast_expr *call, const ast_op *callee,
		       frame *caller)
{
	for (int i = 0; i < callee->nattrs; i++) {
		const ast_attr *decl = &callee->attrs[i];
		sattr attr = { decl, decl->init, b->frame };
		for (int j = 0; j < call->nnamed; j++)
			if (call->named[j].index == i) {
				attr.value = call->named[j].value;
				attr.env = caller;
			}
		add_attr(b, i, attr);
	}
}

static bool call_operator(build *b, const ast_expr *call, const ast_op *callee,
			  const char *label, int *results)
{
	frame *caller = b->frame;
	int *args = ARENA_ARRAY(b->arena, int, call->nargs + 1);
	if (caller->depth >= SYM_MAX_CALLS || call->nargs != callee->nparams)
		return false;
	for (int i = 0; i < call->nargs; i++) {
		args[i] = argument(b, call->args[i], label, i);
		if (args[i] < 0)
			return false;
	}
	if (*caller->label)
		label = arena_printf(b->arena, "%s.%s", caller->label, label);
	frame *f = sym_new_frame(b, callee, callee->nsymbols, label);
	f->depth = caller->depth + 1;
	f->caller = caller;
	b->frame = f;
	int nextracted = b->nextracted;
	b->nextracted = 0;
	call_attrs(b, call, callee, caller);
	bool ok = bind_call(b, callee, args) && walk_body(b, results);
	b->nextracted = nextracted;
	b->frame = caller;
	return ok && !b->failed;
}

/* ---- the body ----------------------------------------------------------- */

static bool walk_let(build *b, const ast_let *let)
{
	const ast_op *callee = ast_op_of(let->value);
	int *results = ARENA_ARRAY(b->arena, int, let->nnames + 1);
	if (callee) {
		if (callee->nresults != let->nnames ||
		    !call_operator(b, let->value, callee, let->names[0],
				   results))
			return false;
	} else if (let->value->kind == AST_LAMBDA) {
		results[0] = sym_lambda(b, let->value, NULL, NULL,
					let->names[0]);
		if (results[0] < 0)
			return false;
	} else {
		bind_size(b, let->symbols[0], sym_scalar(b, let->value).p);
		return true;
	}
	for (int i = 0; i < let->nnames; i++)
		name_tensor(b, let->symbols[i]->number, results[i]);
	return true;
}

static bool walk_body(build *b, int *results)
{
	const ast_op *op = b->frame->op;
	bool many = op->nresults > 1;
	for (int i = 0; i < op->nlets; i++)
		if (!walk_let(b, &op->lets[i])) {
			give_up(b, arena_printf(b->arena,
						"the shape of '%s' follows "
						"from attributes and shapes",
						op->lets[i].names[0]));
			return false;
		}
	for (int i = 0; i < op->nresults; i++) {
		const ast_tensor *r = &op->results[i];
		dim_list dims;
		const char *text =
			many ? arena_printf(b->arena, "the result '%s'",
					    r->name)
			     : "the output";
		results[i] = -1;
		if (sym_declared_dims(b, r, &dims))
			results[i] = sym_lambda(b, op->bodies[i], &dims, text,
						many ? r->name : "");
		if (results[i] < 0) {
			give_up(b, "its shape follows from attributes and "
				   "shapes");
			return false;
		}
	}
	return true;
}

sym_op *symbolic_op(arena *a, const tdl_modules *m, const ast_op *op,
		    int64_t *effort)
{
	static sym_path always;
	build b = { .arena = a, .modules = m, .space = poly_space_new(a),
		    .npaths = 1,
		    .paths = &always, .attr_atoms = strmap_new(a) };
	b.frame = sym_new_frame(&b, op, op->nsymbols, "");
	b.space->effort = effort;
	for (int i = 0; i < op->nattrs; i++)
		add_attr(&b, i, (sattr){ &op->attrs[i], NULL, b.frame });
	for (int i = 0; i < op->nparams; i++)
		for (int d = 0; d < op->params[i].ndims; d++)
			declare_sizes(&b, op->params[i].dims[d]);
	int *results = ARENA_ARRAY(a, int, op->nresults + 1);
	declare_params(&b);
	if (!b.failed)
		walk_body(&b, results);
	if (b.failed && !b.open_because)
		b.open_because = "it is too large";
	sym_op *s = ARENA_NEW(a, sym_op);
	*s = (sym_op){ .op = op, .space = b.space, .nparams = op->nparams,
		       .ntensors = b.tensors.n, .tensors = b.tensors.at,
		       .nstages = b.stages.n, .stages = b.stages.at,
		       .nresults = b.failed ? 0 : op->nresults,
		       .nconflicts = b.conflicts.n,
		       .conflicts = b.conflicts.at,
		       .nchoices = b.choices.n, .choices = b.choices.at,
		       .results = results, .open_because = b.open_because };
	return s;
}

/* The variables that lambdas bind, and their extents. */
#include "config.h"

#include "compiler/analysis/symbolic_build.h"

frame *sym_new_frame(build *b, const ast_op *op, int nsymbols,
		     const char *label)
{
	frame *f = ARENA_NEW(b->arena, frame);
	f->op = op;
	f->label = label;
	f->names = ARENA_ARRAY(b->arena, sname, nsymbols);
	f->pack_of = ARENA_ARRAY(b->arena, spack *, nsymbols);
	f->attrs = op ? ARENA_ARRAY(b->arena, sattr, op->nattrs) : NULL;
	return f;
}

sym_scope sym_push_scope(const build *b)
{
	return (sym_scope){ b->undo.n };
}

void sym_pop_scope(build *b, sym_scope s)
{
	while (b->undo.n > s.nundo) {
		undo u = b->undo.at[--b->undo.n];
		u.pack->var[u.dim] = u.var;
	}
}

int sym_add_var(build *b, sym_var v)
{
	v.atom = poly_new_atom(b->space, ATOM_VAR, v.name, 0);
	if (v.atom < 0)
		b->failed = true;
	else
		b->space->atoms[v.atom].max =
			poly_shift(b->arena, v.extent.extent, -1);
	vec_push(b->arena, &b->vars, v);
	return b->vars.n - 1;
}

const char *sym_declared_by(build *b, const char *result, const char *name,
			    const sym_dim *d)
{
	return arena_printf(b->arena,
			    "%s declares '%s' to run over %s elements",
			    result ? result : "the output", name, d->text);
}

static int bind_pack(build *b, const ast_var *v, const dim_list *given, int at,
		     const char *result, int *vars)
{
	sym_dim dims[SYM_MAX_DIMS];
	int old[SYM_MAX_DIMS];
	int n = sym_pack_items(b, v->pack, dims, old);
	if (n < 0 || (given && at + n > given->n))
		return -1;
	spack *p = sym_find_pack(b, v->pack->symbol);
	for (int i = 0; i < n; i++) {
		const char *name = dims[i].pack
					   ? p->dims.dims[0].text
					   : NULL;
		int which = -1;
		for (int j = 0; j < p->dims.n && which < 0; j++)
			if (poly_equal(p->dims.dims[j].extent,
				       dims[i].extent) &&
			    p->var[j] == old[i])
				which = j;
		if (which < 0)
			return -1;
		name = dims[i].pack ? p->dims.dims[which].text
				    : arena_printf(b->arena, "%s.%d", p->name,
						   which);
		sym_var var = { .name = name, .kind = KVAR_OUTPUT,
				.extent = p->dims.dims[which],
				.at = given ? given->dims[at + i].at : v->at };
		var.extent.text = given ? given->dims[at + i].text
					: dims[i].text;
		var.declared = sym_declared_by(b, given ? result : "the pack",
					   name, &var.extent);
		vars[i] = sym_add_var(b, var);
		vec_push(b->arena, &b->undo,
			 ((undo){ p, which, p->var[which] }));
		p->var[which] = vars[i];
	}
	return n;
}

/* The extent written after `<'.  An expression that is no polynomial is treated
 * like an attribute. */
static sym_dim written_extent(build *b, const ast_var *v)
{
	const poly *p = sym_scalar(b, v->extent).p;
	const char *text = dsl_expr_text(b->arena, v->extent);
	if (!p)
		p = poly_of(b->arena,
			    poly_new_atom(b->space, ATOM_ATTR, text, 0));
	return (sym_dim){ .extent = p, .at = v->extent->at,
			  .text = poly_text(b->arena, b->space, p) };
}

static bool bind_name(build *b, const ast_var *v, const sym_dim *given,
		      const char *result, int *out)
{
	sym_var var = { .name = v->name, .kind = KVAR_OUTPUT, .at = v->at };
	if (given && v->extent) {
		sym_dim written = written_extent(b, v);
		sym_compare_extents(b, v->name, &written, written.at, given,
				    given->at);
	}
	if (given) {
		var.extent = *given;
		var.extent.at = v->at;
		var.at = given->at;
		var.declared = sym_declared_by(b, result, v->name, given);
	} else if (v->extent) {
		var.extent = written_extent(b, v);
		var.declared = arena_printf(b->arena, "'%s' runs over %s "
					    "elements", v->name,
					    var.extent.text);
	} else if (!sym_infer_extent(b, v, &var)) {
		return false;
	}
	*out = sym_add_var(b, var);
	if (b->failed)
		return false;
	b->frame->names[v->symbol->number] =
		(sname){ .kind = SN_VAR, .index = *out,
			 .p = poly_of(b->arena, b->vars.at[*out].atom) };
	return true;
}

int sym_bind_vars(build *b, const ast_expr *lambda, const dim_list *given,
		  const char *result, int *vars)
{
	int n = 0;
	for (int i = 0; i < lambda->nvars; i++) {
		const ast_var *v = &lambda->vars[i];
		if (n >= SYM_MAX_DIMS || (given && !v->pack && n >= given->n))
			return -1;
		if (v->pack) {
			int count = bind_pack(b, v, given, n, result, vars + n);
			if (count < 0)
				return -1;
			n += count;
		} else if (!bind_name(b, v, given ? &given->dims[n] : NULL,
				      result, &vars[n])) {
			return -1;
		} else {
			n++;
		}
	}
	return given && n != given->n ? -1 : n;
}

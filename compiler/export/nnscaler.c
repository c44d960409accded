/* Annotations for microsoft/nnscaler (nnscaler/graph/function/dimops.py).
 *
 * A part runs the same function on smaller tensors and knows nothing about the
 * others.  So the result may depend neither on the part's offset nor on the
 * undivided size.  '+' divides all inputs without the dimension by value, so
 * all inputs need to have it. */
#include "config.h"

#include "compiler/export/text.h"

#include <string.h>

/* ---- sizes in an operator's text ---------------------------------------- */

/* Whether a name in an expression is used as a number, outside indices. */
static bool uses(const ast_expr *e, const char *name)
{
	if (!e)
		return false;
	if (e->kind == AST_NAME)
		return !strcmp(e->name, name);
	for (int i = 0; i < e->nargs; i++)
		if ((i == 0 || e->kind != AST_INDEX) && uses(e->args[i], name))
			return true;
	return false;
}

static bool body_uses(const ast_op *op, const char *name)
{
	for (int i = 0; i < op->nlets; i++)
		if (uses(op->lets[i].value, name))
			return true;
	for (int i = 0; i < op->nbodies; i++)
		if (uses(op->bodies[i], name))
			return true;
	return false;
}

static bool uses_a_size(const ast_op *op)
{
	for (int i = 0; i < op->nparams; i++)
		for (int d = 0; d < op->params[i].ndims; d++) {
			const ast_expr *e = op->params[i].dims[d];
			if (e->kind == AST_NAME && body_uses(op, e->name))
				return true;
		}
	return false;
}

/* Whether an operator that is called, directly or indirectly, computes with a
 * size. */
static bool callee_uses_a_size(const ast_op *op)
{
	for (int i = 0; i < op->nlets; i++) {
		const ast_op *callee = ast_op_of(op->lets[i].value);
		if (callee &&
		    (uses_a_size(callee) || callee_uses_a_size(callee)))
			return true;
	}
	return false;
}

/* The name of dimension d of a parameter with n dimensions; NULL if it has
 * none. */
static const char *size_name(const ast_tensor *p, int n, int d)
{
	int pack = 0;
	while (pack < p->ndims && p->dims[pack]->kind != AST_PACK)
		pack++;
	int after = p->ndims - 1 - pack; /* dimensions after the pack */
	if (pack == p->ndims || d < pack)
		return p->dims[d]->name;
	return d < n - after ? NULL : p->dims[p->ndims - (n - d)]->name;
}

/* Whether dimension d of a result with n dimensions is a size of an input.
 * Otherwise a part would need another value of an attribute. */
static bool is_inputs_size(const ast_op *op, const ast_tensor *t, int n, int d)
{
	const char *pack = NULL;
	for (int i = 0; i < t->ndims; i++)
		if (t->dims[i]->kind == AST_PACK)
			pack = t->dims[i]->pack->name;
	const char *name = size_name(t, n, d);
	for (int i = 0; i < op->nattrs; i++)
		if ((name && !strcmp(op->attrs[i].name, name)) ||
		    (!name && pack && !strcmp(op->attrs[i].name, pack)))
			return false;
	return name || pack;
}

static bool is_result_of_attribute(const rule *r, const ast_op *op, int factor)
{
	for (int i = 0; i < r->noutputs; i++)
		for (int d = 0; d < r->outputs[i].ndims; d++) {
			const rule_dim *x = &r->outputs[i].dims[d];
			for (int j = 0; j < x->n; j++)
				if (x->factors[j] == factor &&
				    !is_inputs_size(op, &op->results[i],
						    r->outputs[i].ndims, d))
					return true;
		}
	return false;
}

/* Whether the body uses the size of a factor's dimension as a number. */
static bool size_counts(const rule *r, const ast_op *op, int factor)
{
	for (int i = 0; i < r->ninputs; i++)
		for (int d = 0; d < r->inputs[i].ndims; d++) {
			const rule_dim *x = &r->inputs[i].dims[d];
			const char *name = size_name(&op->params[i],
						     r->inputs[i].ndims, d);
			for (int j = 0; j < x->n && name; j++)
				if (x->factors[j] == factor &&
				    body_uses(op, name))
					return true;
		}
	return false;
}

/* ---- marks -------------------------------------------------------------- */

typedef struct writing {
	const tdl_modules *modules;
	const ast_op *op;
	char *marks; /* by factor: ' ', '+', '^'; '#' if no input has it */
	bool unsized; /* a needed number is not known */
} writing;

static bool all_have(const rule_tensor *t, int n, int factor)
{
	for (int i = 0; i < n; i++)
		if (!rule_tensor_has(&t[i], factor))
			return false;
	return true;
}

/* Whether an input has the factor in its own size; only inputs bind names. */
static bool is_bound(const rule *r, int factor)
{
	const rule_factor *f = &r->factors[factor];
	for (int i = 0; i < r->ninputs; i++)
		for (int d = 0; d < r->inputs[i].ndims; d++) {
			const rule_dim *x = &r->inputs[i].dims[d];
			for (int j = 0; j < x->n; j++)
				if (x->factors[j] == factor &&
				    (x->n > 1 || x->size == f->size))
					return true;
		}
	return false;
}

static char mark(const rule *r, const writing *w, int factor)
{
	const rule_factor *f = &r->factors[factor];
	if (!is_bound(r, factor))
		return '#';
	if (f->positional || size_counts(r, w->op, factor) ||
	    is_result_of_attribute(r, w->op, factor) ||
	    callee_uses_a_size(w->op))
		return '^';
	/* Before shapes are known nothing else knows about positions. */
	if (f->size < 0 && body_uses(w->op, f->name))
		return '^';
	if (f->kind == RULE_PASS)
		return all_have(r->outputs, r->noutputs, factor) ? ' ' : '^';
	return f->kind == RULE_REDUCE && f->direct &&
			       all_have(r->inputs, r->ninputs, factor)
		       ? '+'
		       : '^';
}

/* ---- text --------------------------------------------------------------- */

static const char *number(arena *a, writing *w, int64_t n)
{
	w->unsized |= n < 0;
	return arena_printf(a, "%lld", (long long)n);
}

static const char *factor_text(arena *a, const rule *r, writing *w, int f,
			       int64_t size)
{
	char m = w->marks[f];
	w->unsized |= size < 0 && r->factors[f].kind == RULE_PERMUTE;
	if (r->factors[f].pack && m != '#')
		return "*";
	if (m == '#' || size == 1 || size != r->factors[f].size)
		return number(a, w, size);
	return arena_printf(a, "%s%.*s", r->factors[f].name, m != ' ', &m);
}

static const char *dim(arena *a, const rule *r, const rule_dim *d, void *more)
{
	writing *w = more;
	char *s = arena_strdup(a, "");
	if (d->n == 1)
		return factor_text(a, r, w, d->factors[0], d->size);
	for (int i = 0; i < d->n; i++)
		s = text_append(a, s, "%s%s", i ? " " : "",
				factor_text(a, r, w, d->factors[i],
					    r->factors[d->factors[i]].size));
	return arena_printf(a, "(%s)", s);
}

/* The tensors as text.  A scalar is a tensor of one element. */
static char *tensors(arena *a, const rule *r, const rule_tensor *t, int n,
		     writing *w)
{
	char *s = arena_strdup(a, "");
	for (int i = 0; i < n; i++)
		s = text_append(a, s, "%s%s", i ? ", " : "",
				t[i].ndims ? text_tensors(a, r, &t[i], 1, " ",
							  "", "", dim, w)
					   : "1");
	return s;
}

static bool in_product(const rule *r, int factor)
{
	for (int i = 0; i < r->ninputs; i++)
		for (int d = 0; d < r->inputs[i].ndims; d++)
			for (int j = 0; j < r->inputs[i].dims[d].n; j++)
				if (r->inputs[i].dims[d].n > 1 &&
				    r->inputs[i].dims[d].factors[j] == factor)
					return true;
	return false;
}

/* Facts that the annotation leaves out: factors that are frozen only here, and
 * their sizes in products. */
static char *remarks(arena *a, const rule *r, const writing *w)
{
	char *s = arena_strdup(a, "");
	for (int i = 0; i < r->nfactors; i++) {
		const rule_factor *f = &r->factors[i];
		if (w->marks[i] == '^' && f->kind != RULE_WHOLE)
			s = text_append(a, s, "# %s: a part would need other "
					"attributes, sizes or positions\n",
					f->name);
		if (in_product(r, i))
			s = text_append(a, s, "# %s = %lld\n", f->name,
					(long long)f->size);
	}
	return s;
}

/* Whether a pack can be written as '*', because it is passed on. */
static bool packs_pass(const rule *r, const writing *w)
{
	int n = 0;
	for (int i = 0; i < r->nfactors; i++) {
		n += r->factors[i].pack;
		if (r->factors[i].pack && w->marks[i] != ' ')
			return false;
	}
	return n <= 1;
}

static bool calls_operators(const ast_op *op)
{
	for (int i = 0; i < op->nlets; i++)
		if (ast_op_of(op->lets[i].value))
			return true;
	return false;
}

char *rule_nnscaler(arena *a, const rule *r, const tdl_modules *m,
		    const ast_op *op, const char **why)
{
	writing w = { m, op, ARENA_ARRAY(a, char, r->nfactors + 1) };
	bool symbolic = false;
	for (int i = 0; i < r->nfactors; i++) {
		w.marks[i] = mark(r, &w, i);
		symbolic |= r->factors[i].size < 0;
	}
	*why = "it calls other operators";
	if (symbolic && calls_operators(op))
		return NULL;
	*why = "nnScaler's '*' stands for dimensions that are passed on";
	if (!packs_pass(r, &w))
		return NULL;
	char *in = tensors(a, r, r->inputs, r->ninputs, &w);
	char *out = tensors(a, r, r->outputs, r->noutputs, &w);
	*why = "the size of a result is not that of an input";
	if (w.unsized)
		return NULL;
	char *head = text_append(a, text_head(a, r, "#"), "%s",
				 remarks(a, r, &w));
	if (r->ninputs == 0)
		return text_append(a, head, "# nnScaler has no annotation for "
				   "an operator without inputs\n");
	return arena_printf(a, "%s%s -> %s\n", head, in, out);
}

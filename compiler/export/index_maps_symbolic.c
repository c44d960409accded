/* Finds the links of an operator before shapes are known, from its
 * descriptor. */
#include "config.h"

#include "compiler/export/index_maps.h"

#include <string.h>

static bool is_one(const poly *p)
{
	int64_t n;
	return p && poly_is_constant(p, &n) && n == 1;
}

/* Whether a variable has the extent of a dimension; packs in different orders
 * have the same one. */
static bool same_extent(const desc_var *v, const desc_dim *dim)
{
	return v->pack == dim->pack && poly_equal(v->extent, dim->extent) &&
	       (!v->pack || !strcmp(v->extent_text, dim->text));
}

static bool is_exact(const desc_region *r, const desc_var *v,
		     const desc_dim *dim)
{
	return is_one(r->scale) && poly_is_zero(r->before) &&
	       poly_is_zero(r->after) && same_extent(v, dim);
}

static const char *note(arena *a, const desc_op *op, const desc_tensor *t,
			int d, const desc_region *r, const desc_var *v)
{
	return arena_printf(a, "%s to %s of dimension %d of %s for %s to %s",
			    poly_text(a, op->space, r->lo),
			    poly_text(a, op->space, r->hi), d, t->name,
			    op->space->atoms[v->begin].name,
			    op->space->atoms[v->end].name);
}

/* The link of dimension d of an input, from the stage's strategies. */
static dim_link link_of(arena *a, const desc_op *op, const desc_stage *s,
			int input, int d)
{
	dim_link l = { LINK_NONE };
	const desc_tensor *t = &op->tensors[s->inputs[input]];
	int n = 0;
	for (int i = 0; i < s->nstrategies; i++) {
		const desc_strategy *st = &s->strategies[i];
		const desc_var *v = &s->vars[st->var];
		const desc_region *r = &st->needs[input].regions[d];
		if (!r->follows)
			continue;
		bool first = n++ == 0;
		if (!first && v->kind != KVAR_OUTPUT) {
			l.kind = LINK_FOLLOWS;
			continue;
		}
		bool exact = first && is_exact(r, v, &t->dims[d]);
		l.kind = exact ? LINK_EXACT : LINK_FOLLOWS;
		l.n = 1;
		l.digits[0] = (digit){ st->var, 1, -1, 1 };
		l.note = note(a, op, t, d, r, v);
	}
	return l;
}

static link_stage stage_of(arena *a, const desc_op *op, const desc_stage *s)
{
	link_stage to = { .result = s->result, .nvars = s->nvars,
			  .nout = op->tensors[s->result].ndims,
			  .reducer = s->reducer, .ninputs = s->ninputs };
	to.vars = ARENA_ARRAY(a, link_var, s->nvars);
	for (int v = 0; v < s->nvars; v++)
		to.vars[v] =
			(link_var){.name = s->vars[v].name,
				   .kind = s->vars[v].kind,
				   .offered = !s->vars[v].indivisible_reason,
				   .pack = s->vars[v].pack,
				   .extent = -1};
	to.inputs = ARENA_ARRAY(a, link_input, s->ninputs);
	for (int i = 0; i < s->ninputs; i++) {
		int n = op->tensors[s->inputs[i]].ndims;
		to.inputs[i] = (link_input){ s->inputs[i],
					     i < 64 && s->linear >> i & 1,
					     ARENA_ARRAY(a, dim_link, n) };
		for (int d = 0; d < n; d++)
			to.inputs[i].dims[d] = link_of(a, op, s, i, d);
	}
	to.joint = ARENA_ARRAY(a, uint64_t, s->npassing);
	for (int i = 0; i < s->npassing; i++)
		if (s->passing[i].by == RED_SUM)
			to.joint[to.njoint++] = s->passing[i].inputs;
	return to;
}

static const char *why_not(const desc_op *op)
{
	if (op->open_because)
		return op->open_because;
	for (int i = 0; i < op->nstages; i++)
		if (op->stages[i].open_because)
			return op->stages[i].open_because;
	for (int i = 0; i < op->ntensors; i++)
		if (op->tensors[i].broadcast)
			return "its inputs are broadcast";
	return NULL;
}

links *links_of_descriptor(arena *a, const desc_op *op, const char **why)
{
	*why = why_not(op);
	if (*why)
		return NULL;
	links *l = ARENA_NEW(a, links);
	*l = (links){ op->name, op->ninputs, op->ntensors, op->nstages,
		      op->noutputs,
		      ARENA_ARRAY(a, link_value, op->ntensors),
		      ARENA_ARRAY(a, link_stage, op->nstages), op->outputs,
		      op->output_names };
	for (int i = 0; i < op->ntensors; i++) {
		const desc_tensor *t = &op->tensors[i];
		l->values[i] = (link_value){ t->name, t->ndims,
					     ARENA_ARRAY(a, int64_t, t->ndims),
					     ARENA_ARRAY(a, bool, t->ndims) };
		for (int d = 0; d < t->ndims; d++) {
			int64_t n;
			bool one = poly_is_constant(t->dims[d].extent, &n);
			l->values[i].dims[d] = one ? n : -1;
			l->values[i].pack[d] = t->dims[d].pack;
		}
	}
	for (int i = 0; i < op->nstages; i++)
		l->stages[i] = stage_of(a, op, &op->stages[i]);
	return l;
}

/* Descriptors as JSON. */
#include "config.h"

#include "libtdl/describe.h"

static json_t *text(arena *a, const desc_op *op, const poly *p)
{
	return json_string(poly_text(a, op->space, p));
}

static json_t *text_list(json_t *list, const char *s)
{
	json_array_append_new(list, json_string(s));
	return list;
}

/* ---- signature ---------------------------------------------------------- */

static json_t *json_tensor(const desc_tensor *t, const char *name)
{
	json_t *dims = json_array();
	for (int i = 0; i < t->ndims; i++)
		text_list(dims, t->dims[i].text);
	json_t *j = json_pack("{s:s, s:o}", "name", name, "dims", dims);
	if (t->broadcast)
		json_object_set_new(j, "broadcast", json_true());
	return j;
}

static void add_signature(json_t *j, const desc_op *op)
{
	json_t *in = json_array(), *out = json_array();
	for (int i = 0; i < op->ninputs; i++)
		json_array_append_new(in, json_tensor(&op->tensors[i],
						      op->tensors[i].name));
	for (int i = 0; i < op->noutputs && !op->open_because; i++) {
		json_t *o = json_tensor(&op->tensors[op->outputs[i]],
					op->output_names[i]);
		if (op->outputs[i] < op->ninputs)
			json_object_set_new(o, "same_as", json_string(
				op->tensors[op->outputs[i]].name));
		json_array_append_new(out, o);
	}
	json_object_set_new(j, "inputs", in);
	json_object_set_new(j, "outputs", out);
}

/* ---- strategies --------------------------------------------------------- */

static json_t *json_pair(json_t *x, json_t *y)
{
	json_t *pair = json_array();
	json_array_append_new(pair, x);
	json_array_append_new(pair, y);
	return pair;
}

static void add_region(arena *a, json_t *j, const desc_op *op, int dim,
		       const desc_region *r)
{
	int64_t one;
	json_object_set_new(j, "split", json_integer(dim));
	if (!r->scale) {
		json_object_set_new(j, "window",
				    json_pair(text(a, op, r->lo),
					      text(a, op, r->hi)));
		return;
	}
	if (!poly_is_constant(r->scale, &one) || one != 1)
		json_object_set_new(j, "scale", text(a, op, r->scale));
	if (!poly_is_zero(r->before) || !poly_is_zero(r->after))
		json_object_set_new(j, "halo",
				    json_pair(text(a, op, r->before),
					      text(a, op, r->after)));
}

static json_t *json_need(arena *a, const desc_op *op, int tensor,
			 const desc_need *need)
{
	const desc_tensor *t = &op->tensors[tensor];
	json_t *j = json_pack("{s:s}", "name", t->name);
	json_t *also = json_array();
	bool any = false;
	for (int d = 0; d < t->ndims; d++) {
		const desc_region *r = &need->regions[d];
		if (!r->follows)
			continue;
		json_t *to = any ? json_object() : j;
		add_region(a, to, op, d, r);
		if (any)
			json_array_append_new(also, to);
		any = true;
	}
	if (!any)
		json_object_set_new(j, "split", json_null());
	if (json_array_size(also))
		json_object_set_new(j, "also", json_incref(also));
	json_decref(also);
	return j;
}

const char *describe_stage_name(const desc_op *op, const desc_stage *s)
{
	return *s->label || op->noutputs == 0 ? s->label : op->output_names[0];
}

const char *describe_result_name(const desc_op *op, const desc_stage *s)
{
	for (int i = 0; i < op->noutputs; i++)
		if (op->outputs[i] == s->result)
			return op->output_names[i];
	return describe_stage_name(op, s);
}

static json_t *json_strategy(arena *a, const desc_op *op, const desc_stage *s,
			     const desc_strategy *st)
{
	const desc_var *v = &s->vars[st->var];
	json_t *j = json_object(), *in = json_array();
	json_object_set_new(j, "variable", json_string(v->name));
	json_object_set_new(j, "kind", json_string(st->split >= 0 ? "split"
								  : "reduce"));
	if (st->split < 0)
		json_object_set_new(j, "reducer",
				    json_string(reducer_name(st->reducer)));
	if (v->kind == KVAR_DERIVED)
		json_object_set_new(j, "derived", json_true());
	for (int i = 0; i < s->ninputs; i++)
		json_array_append_new(in, json_need(a, op, s->inputs[i],
						    &st->needs[i]));
	json_object_set_new(j, "inputs", in);
	json_t *out = json_pack("{s:s}", "name", describe_result_name(op, s));
	if (st->split >= 0) {
		json_object_set_new(out, "split", json_integer(st->split));
	} else {
		json_object_set_new(out, "split", json_null());
		json_object_set_new(out, "partial",
				    json_string(reducer_name(st->reducer)));
	}
	json_object_set_new(j, "outputs", json_pack("[o]", out));
	return j;
}

/* ---- stages ------------------------------------------------------------- */

static json_t *json_var(const desc_stage *s, const desc_var *v)
{
	static const char *const kinds[] = { [KVAR_OUTPUT] = "output",
					     [KVAR_REDUCE] = "reduction",
					     [KVAR_DERIVED] = "derived" };
	json_t *j = json_pack("{s:s, s:s, s:s}", "name", v->name, "kind",
			      kinds[v->kind], "extent", v->extent_text);
	if (v->kind != KVAR_OUTPUT)
		json_object_set_new(j, "reducer", json_string(
			v->kind == KVAR_DERIVED ? reducer_name(RED_SUM)
						: reducer_name(s->reducer)));
	return j;
}

static json_t *json_members(const desc_op *op, const desc_stage *s,
			    uint64_t set)
{
	json_t *j = json_array();
	for (int i = 0; i < s->ninputs && i < 64; i++)
		if (set >> i & 1)
			text_list(j, op->tensors[s->inputs[i]].name);
	return j;
}

static void add_facts(arena *a, json_t *j, const desc_op *op,
		      const desc_stage *s)
{
	said_passings passing = describe_passing(a, op, s);
	json_object_set_new(j, "elementwise", json_boolean(s->elementwise));
	json_object_set_new(j, "opaque", json_boolean(s->opaque != NULL));
	json_object_set_new(j, "linear", json_members(op, s, s->linear));
	json_object_set_new(j, "in_place", json_members(op, s, s->in_place));
	passing_add_json(j, &passing);
	json_object_set_new(j, "flops_per_element",
			    s->flops ? text(a, op, s->flops) : json_null());
	json_object_set_new(j, "pattern", s->pattern ? json_string(s->pattern)
						     : json_null());
}

static void add_stage(arena *a, json_t *j, const desc_op *op,
		      const desc_stage *s)
{
	json_t *vars = json_array(), *strategies = json_array();
	json_t *whole = json_array();
	for (int i = 0; i < s->nvars; i++) {
		const desc_var *v = &s->vars[i];
		json_array_append_new(vars, json_var(s, v));
		if (v->indivisible_reason)
			json_array_append_new(
				whole, json_pack("{s:s, s:s}", "variable",
						 v->name, "reason",
						 v->indivisible_reason));
	}
	for (int i = 0; i < s->nstrategies; i++)
		json_array_append_new(strategies,
				      json_strategy(a, op, s,
						    &s->strategies[i]));
	json_object_set_new(j, "variables", vars);
	add_facts(a, j, op, s);
	json_object_set_new(j, "strategies", strategies);
	json_object_set_new(j, "unsplittable", whole);
	if (s->open_because)
		json_object_set_new(j, "open", json_string(s->open_because));
}

static json_t *json_stage(arena *a, const desc_op *op, const desc_stage *s)
{
	json_t *j = json_object(), *in = json_array();
	const char *name = describe_stage_name(op, s);
	json_object_set_new(j, "name", json_string(name));
	for (int i = 0; i < s->ninputs; i++)
		json_array_append_new(in, json_tensor(
			&op->tensors[s->inputs[i]],
			op->tensors[s->inputs[i]].name));
	json_object_set_new(j, "inputs", in);
	json_object_set_new(j, "outputs",
			    json_pack("[o]", json_tensor(
						     &op->tensors[s->result],
						     describe_result_name(op,
									  s))));
	add_stage(a, j, op, s);
	return j;
}

static void add_stages(arena *a, json_t *j, const desc_op *op)
{
	bool elementwise = true, opaque = false;
	json_t *stages = json_array();
	for (int i = 0; i < op->nstages; i++) {
		elementwise &= op->stages[i].elementwise;
		opaque |= op->stages[i].opaque != NULL;
		json_array_append_new(stages,
				      json_stage(a, op, &op->stages[i]));
	}
	json_object_set_new(j, "elementwise",
			    json_boolean(elementwise && !op->open_because));
	json_object_set_new(j, "opaque", json_boolean(opaque));
	json_object_set_new(j, "stages", stages);
}

static json_t *json_op(arena *a, const desc_op *op)
{
	json_t *j = json_pack("{s:s}", "name", op->name);
	if (op->doc)
		json_object_set_new(j, "doc", json_string(op->doc));
	add_signature(j, op);
	if (op->nstages == 1)
		add_stage(a, j, op, &op->stages[0]);
	else
		add_stages(a, j, op);
	json_t *assumed = json_array();
	for (int i = 0; i < op->nassumed; i++)
		text_list(assumed, arena_printf(
			a, "%s >= 0", op->space->atoms[op->assumed[i]].name));
	json_object_set_new(j, "assumes", assumed);
	if (op->open_because)
		json_object_set_new(j, "open", json_string(op->open_because));
	return j;
}

json_t *describe_json(const descriptor *d)
{
	arena *a = arena_new();
	json_t *ops = json_array();
	for (int i = 0; i < d->nops; i++)
		json_array_append_new(ops, json_op(a, d->ops[i]));
	arena_free(a);
	return json_pack("{s:s, s:i, s:o}", "format", "tdl-descriptor",
			 "version", 1, "operators", ops);
}

/* ---- parts in symbols --------------------------------------------------- */

static json_t *json_box(arena *a, const desc_op *op, const desc_stage *s,
			const desc_strategy *st, const desc_tensor *t,
			const desc_need *need, int p, int k)
{
	json_t *ranges = json_array();
	for (int d = 0; d < t->ndims; d++) {
		char *lo, *hi;
		describe_range(a, op, s, st, t, need, d, p, k, &lo, &hi);
		json_array_append_new(ranges, json_pair(json_string(lo),
							json_string(hi)));
	}
	return ranges;
}

static json_t *json_part(arena *a, const desc_op *op, const desc_stage *s,
			 const desc_strategy *st, int p, int k)
{
	json_t *in = json_array();
	for (int i = 0; i < s->ninputs; i++) {
		const desc_tensor *t = &op->tensors[s->inputs[i]];
		json_array_append_new(
			in, json_pack("{s:s, s:o}", "name", t->name, "region",
				      json_box(a, op, s, st, t, &st->needs[i],
					       p, k)));
	}
	const char *partial = st->split < 0 ? reducer_name(st->reducer) : NULL;
	json_t *out = json_pack(
		"[{s:s, s:o, s:s?}]", "name", describe_result_name(op, s),
		"region", json_box(a, op, s, st, &op->tensors[s->result], NULL,
				   p, k),
		"partial", partial);
	return json_pack("{s:i, s:o, s:o}", "part", p, "inputs", in, "outputs",
			 out);
}

static json_t *json_parts(arena *a, const desc_op *op, const desc_stage *s,
			  int k)
{
	json_t *all = json_array();
	for (int i = 0; i < s->nstrategies; i++) {
		const desc_strategy *st = &s->strategies[i];
		json_t *parts = json_array();
		for (int p = 0; p < k; p++)
			json_array_append_new(parts,
					      json_part(a, op, s, st, p, k));
		json_t *j = json_pack("{s:s, s:s, s:o}", "variable",
				      s->vars[st->var].name, "kind",
				      st->split >= 0 ? "split" : "reduce",
				      "parts", parts);
		if (s->vars[st->var].kind == KVAR_DERIVED)
			json_object_set_new(j, "derived", json_true());
		json_array_append_new(all, j);
	}
	return all;
}

json_t *describe_parts_json(desc_op *op, int k)
{
	arena *a = arena_new();
	json_t *j = json_pack("{s:s, s:i}", "op", op->name, "k", k);
	json_t *stages = json_array();
	for (int i = 0; i < op->nstages; i++) {
		const desc_stage *s = &op->stages[i];
		json_array_append_new(
			stages, json_pack("{s:s, s:o}", "name",
					  describe_stage_name(op, s),
					  "strategies",
					  json_parts(a, op, s, k)));
	}
	if (op->nstages == 1)
		json_object_set(j, "strategies",
				json_object_get(json_array_get(stages, 0),
						"strategies"));
	else
		json_object_set(j, "stages", stages);
	json_decref(stages);
	arena_free(a);
	return j;
}

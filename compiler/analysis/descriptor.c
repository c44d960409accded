#include "config.h"

#include "compiler/analysis/descriptor.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/analysis/descriptor_build.h"
#include "kernel/eval.h"

/* ---- signature ---------------------------------------------------------- */

static void copy_tensors(arena *a, const sym_op *x, desc_op *d)
{
	d->ntensors = x->ntensors;
	d->tensors = ARENA_ARRAY(a, desc_tensor, x->ntensors);
	for (int i = 0; i < x->ntensors; i++) {
		const sym_tensor *t = &x->tensors[i];
		desc_tensor *to = &d->tensors[i];
		*to = (desc_tensor){ t->name, t->broadcast, t->ndims,
				     ARENA_ARRAY(a, desc_dim, t->ndims) };
		for (int j = 0; j < t->ndims; j++)
			to->dims[j] = (desc_dim){ t->dims[j].extent,
						  t->dims[j].pack,
						  t->dims[j].text };
	}
	d->noutputs = x->op->nresults;
	d->outputs = x->results;
	d->output_names = ARENA_ARRAY(a, const char *, d->noutputs);
	for (int i = 0; i < d->noutputs; i++)
		d->output_names[i] = x->op->results[i].name;
}

static int input_of(const desc_stage *s, int tensor)
{
	for (int i = 0; i < s->ninputs; i++)
		if (s->inputs[i] == tensor)
			return i;
	return -1;
}

static int ascending(const void *x, const void *y)
{
	return *(const int *)x - *(const int *)y;
}

/* Lists the tensors that the stage reads, in the order of the signature and of
 * the stages. */
static void list_inputs(arena *a, const sym_stage *x, desc_stage *s)
{
	s->inputs = ARENA_ARRAY(a, int, x->nreads);
	for (int i = 0; i < x->nreads; i++)
		if (input_of(s, x->reads[i]->tensor) < 0)
			s->inputs[s->ninputs++] = x->reads[i]->tensor;
	qsort(s->inputs, (size_t)s->ninputs, sizeof(*s->inputs), ascending);
}

/* ---- variables ---------------------------------------------------------- */

static bool is_linear_in(const sym_stage *x, int tensor)
{
	for (int i = 0; i < x->nlinear; i++)
		if (x->linear[i] == tensor)
			return true;
	return false;
}

static bool is_looked_up(const sym_stage *x, int tensor, int d)
{
	for (int i = 0; i < x->nlookups; i++)
		if (x->lookups[i].tensor == tensor && x->lookups[i].dim == d)
			return true;
	return false;
}

typedef VEC(desc_var) var_list;

/* The name of a dimension; if that name is taken, the tensor's name is put
 * before it. */
static const char *derived_name(arena *a, const var_list *vars,
				const char *tensor, const char *dim)
{
	for (int i = 0; i < vars->n; i++)
		if (!strcmp(vars->at[i].name, dim))
			return arena_printf(a, "%s.%s", tensor, dim);
	return dim;
}

static void add_derived(arena *a, const sym_op *op, const sym_stage *x,
			const desc_stage *s, var_list *vars,
			derived_dim *derived)
{
	for (int i = 0; i < s->ninputs && !x->opaque; i++) {
		const sym_tensor *t = &op->tensors[s->inputs[i]];
		for (int d = 0; d < t->ndims; d++) {
			if (!is_looked_up(x, s->inputs[i], d) ||
			    vars->n >= DESC_MAX_NDIM)
				continue;
			derived[vars->n] = (derived_dim){ i, d };
			const char *name = derived_name(a, vars, t->name,
							t->dims[d].text);
			desc_var v = { .name = name,
				       .kind = KVAR_DERIVED,
				       .pack = t->dims[d].pack,
				       .extent = t->dims[d].extent,
				       .extent_text = t->dims[d].text };
			vec_push(a, vars, v);
		}
	}
}

/* Adds the atoms for the ends of a variable's block, with 0 <= begin < end <=
 * extent.  A derived variable adds no loop, so its block may be empty while
 * others are read: begin <= end. */
static void add_ends(arena *a, poly_space *space, desc_var *v)
{
	int least = v->kind != KVAR_DERIVED;
	v->begin = poly_new_atom(space, ATOM_VAR,
				 arena_printf(a, "%s.begin", v->name), 0);
	v->end = poly_new_atom(space, ATOM_VAR,
			       arena_printf(a, "%s.end", v->name), least);
	if (v->begin < 0 || v->end < 0) {
		v->begin = v->end = -1;
		v->indivisible_reason = "the operator is too large";
		return;
	}
	space->atoms[v->begin].max = poly_shift(a, poly_of(a, v->end), -least);
	space->atoms[v->end].max = v->extent;
}

static void list_vars(arena *a, const sym_op *op, const sym_stage *x,
		      desc_stage *s, derived_dim *derived)
{
	var_list vars = { 0 };
	for (int i = 0; i < x->nvars; i++) {
		const sym_var *v = &x->vars[i];
		desc_var to = { .name = v->name, .kind = v->kind,
				.pack = v->extent.pack,
				.extent = v->extent.extent,
				.extent_text = v->extent.text,
				.indivisible_reason = v->indivisible_reason };
		if (v->kind == KVAR_REDUCE && reducer_is_where(x->reducer))
			to.indivisible_reason =
				"the index of an extreme in a part does not "
				"tell its value, so that the parts' results "
				"cannot be compared";
		else if (v->kind == KVAR_REDUCE && x->reducer == RED_SUM &&
			 !types_all(op->tensors[x->result].types,
				    elem_has_zero))
			to.indivisible_reason =
				"an empty part has the sum 0, which its type "
				"does not have";
		vec_push(a, &vars, to);
	}
	add_derived(a, op, x, s, &vars, derived);
	s->nvars = vars.n;
	s->vars = vars.at;
	for (int i = 0; i < vars.n; i++) {
		s->vars[i].begin = s->vars[i].end = -1;
		if (!s->vars[i].indivisible_reason && !s->open_because)
			add_ends(a, op->space, &s->vars[i]);
	}
}

/* ---- facts -------------------------------------------------------------- */

/* Whether a dimension has size 1 and is read at 0. */
static bool is_repeated(const sym_dim *dim, const poly *at)
{
	int64_t size;
	return poly_is_zero(at) && poly_is_constant(dim->extent, &size) &&
	       size == 1;
}

/* Whether a read is an element of a broadcast tensor: its indices are variables
 * of the result, in order and without repetition. */
static bool reads_broadcast(const sym_op *op, const sym_stage *x,
			    const sym_read *r)
{
	const sym_tensor *t = &op->tensors[r->tensor];
	int next = 0;
	for (int d = 0; d < r->n; d++) {
		int v = next;
		if (is_repeated(&t->dims[d], r->index[d].at))
			continue;
		while (v < x->nout &&
		       !poly_equal(r->index[d].at,
				   poly_of(op->space->arena, x->vars[v].atom)))
			v++;
		if (v == x->nout ||
		    !sym_same_dim(&x->vars[v].extent, &t->dims[d]))
			return false;
		next = v + 1;
	}
	return !r->open;
}

static bool has_result_shape(const sym_op *op, const sym_stage *x,
			     const sym_read *r)
{
	const sym_tensor *t = &op->tensors[r->tensor];
	bool same = t->ndims == x->nout && !t->broadcast;
	for (int d = 0; d < x->nout && same; d++)
		same = poly_equal(t->dims[d].extent, x->vars[d].extent.extent);
	return same;
}

int descriptor_passed(const desc_passing *p)
{
	bool one = p->inputs && !(p->inputs & (p->inputs - 1));
	return one ? __builtin_ctzll(p->inputs) : -1;
}

static bool is_passed_before(desc_passing x, desc_passing y)
{
	int nx = __builtin_popcountll(x.inputs);
	int ny = __builtin_popcountll(y.inputs);
	if (nx != ny || x.inputs != y.inputs)
		return nx != ny ? nx < ny : x.inputs < y.inputs;
	return x.by < y.by;
}

/* The inputs of a stage that belong to these tensors, as a mask; 0 if one of
 * the tensors is not an input. */
static uint64_t inputs_of(const desc_stage *s, const sym_passing *p)
{
	uint64_t all = 0;
	for (int i = 0; i < p->n; i++) {
		int in = input_of(s, p->tensors[i]);
		if (in < 0 || in >= 64)
			return 0;
		all |= (uint64_t)1 << in;
	}
	return all;
}

static void list_passing(arena *a, const sym_stage *x, desc_stage *s)
{
	s->passing = ARENA_ARRAY(a, desc_passing, x->npassing);
	for (int i = 0; i < x->npassing; i++) {
		const sym_passing *p = &x->passing[i];
		desc_passing made = { inputs_of(s, p), p->by, p->to };
		if (!made.inputs)
			continue;
		int at = s->npassing++;
		for (; at > 0 && is_passed_before(made, s->passing[at - 1]);
		     at--)
			s->passing[at] = s->passing[at - 1];
		s->passing[at] = made;
	}
}

static void find_facts(arena *a, const sym_op *op, const sym_stage *x,
		       desc_stage *s)
{
	uint64_t elsewhere = 0;
	s->elementwise = x->reducer == RED_NONE && !x->opaque &&
			 !x->open_because;
	for (int i = 0; i < x->nreads; i++) {
		const sym_read *r = x->reads[i];
		int in = input_of(s, r->tensor);
		bool plain = reads_broadcast(op, x, r);
		s->elementwise &= plain;
		if (in < 64 && !(plain && has_result_shape(op, x, r)))
			elsewhere |= (uint64_t)1 << in;
	}
	for (int i = 0; i < s->ninputs && i < 64; i++) {
		uint64_t bit = (uint64_t)1 << i;
		if (is_linear_in(x, s->inputs[i]))
			s->linear |= bit;
		if (x->reducer == RED_NONE && !x->opaque && !x->open_because &&
		    !(elsewhere & bit))
			s->in_place |= bit;
	}
	if (x->opaque)
		return;
	list_passing(a, x, s);
	s->flops = poly_int(a, x->flops);
	for (int i = x->nout; i < x->nvars; i++)
		s->flops = poly_mul(a, s->flops, x->vars[i].extent.extent);
}

/* ---- all of it ---------------------------------------------------------- */

static void describe_stage(arena *a, const sym_op *op, const sym_stage *x,
			   desc_stage *s, bool *assumed)
{
	derived_dim derived[DESC_MAX_NDIM] = { 0 };
	s->label = x->label;
	s->result = x->result;
	s->reducer = x->reducer;
	s->opaque = x->opaque;
	s->open_because = x->open_because;
	list_inputs(a, x, s);
	list_vars(a, op, x, s, derived);
	find_facts(a, op, x, s);
	if (!s->open_because) {
		s->pattern = descriptor_pattern(op, x);
		descriptor_strategies(a, op, x, derived, s, assumed);
	}
}

desc_op *descriptor_of(arena *a, const tdl_modules *m, const ast_op *op)
{
	int64_t effort = 200000;
	sym_op *x = symbolic_op(a, m, op, &effort);
	desc_op *d = ARENA_NEW(a, desc_op);
	d->name = op->name;
	d->doc = op->doc;
	d->space = x->space;
	d->ninputs = op->nparams;
	d->open_because = x->open_because;
	copy_tensors(a, x, d);
	bool *assumed = ARENA_ARRAY(a, bool, POLY_MAX_ATOMS);
	if (!x->open_because) {
		d->nstages = x->nstages;
		d->stages = ARENA_ARRAY(a, desc_stage, x->nstages);
		for (int i = 0; i < x->nstages; i++)
			describe_stage(a, x, x->stages[i], &d->stages[i],
				       assumed);
	}
	d->assumed = ARENA_ARRAY(a, int, d->space->natoms);
	for (int i = 0; i < d->space->natoms; i++)
		if (assumed[i])
			d->assumed[d->nassumed++] = i;
	d->space->effort = NULL;
	return d;
}

/* ---- with numbers ------------------------------------------------------- */

static bool clip(const desc_op *op, const desc_dim *dim, const desc_region *r,
		 const int64_t *values, int64_t *lo, int64_t *hi)
{
	int64_t size, x;
	if (!poly_eval(op->space, dim->extent, values, &size))
		return false;
	*lo = 0;
	*hi = size;
	if (!r->lo)
		return true;
	if (!poly_eval(op->space, r->lo, values, &x))
		return false;
	*lo = x > 0 ? x : 0;
	if (!poly_eval(op->space, r->hi, values, &x))
		return false;
	*hi = x < size ? x : size;
	return true;
}

bool descriptor_needs(const desc_op *op, const desc_stage *s,
		      const desc_strategy *st, int64_t *values, int64_t begin,
		      int64_t end, box *needs)
{
	/* A derived variable adds no loop: if its block is empty, only its
	 * input is not read. */
	bool empty = begin >= end && s->vars[st->var].kind != KVAR_DERIVED;
	values[s->vars[st->var].begin] = begin;
	values[s->vars[st->var].end] = end;
	for (int v = 0; v < s->nvars; v++) {
		int64_t extent;
		if (!poly_eval(op->space, s->vars[v].extent, values, &extent))
			return false;
		empty |= extent <= 0;
	}
	/* If nothing is computed, evaluating the regions may divide by 0. */
	for (int i = 0; i < s->ninputs; i++) {
		const desc_tensor *t = &op->tensors[s->inputs[i]];
		if (t->ndims > MAX_NVARS)
			return false;
		needs[i] = box_empty(t->ndims);
		if (empty)
			continue;
		for (int d = 0; d < t->ndims; d++)
			if (!clip(op, &t->dims[d], &st->needs[i].regions[d],
				  values, &needs[i].lo[d], &needs[i].hi[d]))
				return false;
		if (box_is_empty(&needs[i]))
			needs[i] = box_empty(t->ndims);
	}
	return true;
}

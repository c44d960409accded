/* Reverse accumulation over the calls of a model.
 *
 * The tape has the calls in the order of execution, so each call reads results
 * of earlier ones.  From the last call to the first, the gradients of the loss
 * by a call's results give those by its arguments, through the derived
 * gradients of its operator.  Contributions of several calls are added up.
 * Only tensors between a weight and the loss are considered.  (Griewank,
 * Walther, "Evaluating derivatives", 2nd ed., chapter 3.) */
#include "config.h"

#include "compiler/train/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/gradient/gradient.h"

/* ---- rules ------------------------------------------------------------- */

static grad_rule *make_rule(trainer *t, const ast_op *op, int param)
{
	graph_builder *b = t->b;
	grad_rule *r = ARENA_NEW(b->tmp, grad_rule);
	gradient g = gradient_by(b->tmp, b->modules, op, param);
	if (g.zero)
		return r;
	if (!g.op) {
		r->because = g.because;
		return r;
	}
	if (gradient_load(b->modules, &g))
		r->op = dsl_op(b->modules, g.name);
	r->args = g.params;
	r->attrs = g.attrs;
	if (!r->op) {
		r->because = arena_printf(b->tmp, dsl_op(b->modules, g.name) ?
						  "'%s' is another operator" :
						  "'%s' has errors", g.name);
	}
	return r;
}

/* The gradient rule for one parameter, derived on first use. */
static const grad_rule *rule_of(trainer *t, const ast_op *op, int param)
{
	grad_rule **rules = strmap_get(t->rules, op->name);
	if (!rules) {
		rules = ARENA_ARRAY(t->b->tmp, grad_rule *, op->nparams);
		strmap_put(t->rules, op->name, rules);
	}
	if (!rules[param])
		rules[param] = make_rule(t, op, param);
	return rules[param];
}

static bool is_zero_rule(const grad_rule *r)
{
	return !r->op && !r->because;
}

/* ---- which tensors ----------------------------------------------------- */

static bool has_floats(const trainer *t, tensor_id x)
{
	return dtype_is_float(graph_type(t->b, x)->type);
}

static void find_needed(trainer *t, bool *needed)
{
	needed[t->loss] = true;
	for (int i = t->b->tape.n - 1; i >= 0; i--) {
		const tape_call *c = &t->b->tape.at[i];
		bool any = false;
		for (int r = 0; r < c->op->nresults; r++)
			any |= c->own[r] && needed[c->results[r]];
		for (int j = 0; any && j < c->op->nparams; j++)
			needed[c->args[j]] = true;
	}
}

static bool call_moves(trainer *t, const tape_call *c)
{
	for (int j = 0; j < c->op->nparams; j++)
		if (t->flow[c->args[j]].moves && has_floats(t, c->args[j]) &&
		    !is_zero_rule(rule_of(t, c->op, j)))
			return true;
	return false;
}

static void find_moving(trainer *t, const bool *needed)
{
	for (int i = 0; i < t->b->tape.n; i++) {
		const tape_call *c = &t->b->tape.at[i];
		bool any = false;
		for (int r = 0; r < c->op->nresults; r++)
			any |= c->own[r] && needed[c->results[r]];
		if (!any || !call_moves(t, c))
			continue;
		for (int r = 0; r < c->op->nresults; r++)
			if (c->own[r] && has_floats(t, c->results[r]))
				t->flow[c->results[r]].moves = true;
	}
}

static bool is_wanted(const trainer *t, const tape_call *c)
{
	for (int r = 0; r < c->op->nresults; r++)
		if (c->own[r] && t->flow[c->results[r]].wanted)
			return true;
	return false;
}

/* Whether the derivative by argument j is needed. */
static bool flows_to(trainer *t, const tape_call *c, int j)
{
	return t->flow[c->args[j]].moves && has_floats(t, c->args[j]) &&
	       !is_zero_rule(rule_of(t, c->op, j));
}

static void find_wanted(trainer *t)
{
	t->flow[t->loss].wanted = t->flow[t->loss].moves;
	for (int i = t->b->tape.n - 1; i >= 0; i--) {
		const tape_call *c = &t->b->tape.at[i];
		if (!is_wanted(t, c))
			continue;
		for (int j = 0; j < c->op->nparams; j++)
			if (flows_to(t, c, j)) {
				t->flow[c->args[j]].wanted = true;
				t->flow[c->args[j]].first = i;
			}
	}
}

/* ---- operators without a gradient -------------------------------------- */

typedef VEC(const tape_call *) path;

/* Finds the calls that lead from a weight to tensor x, the last one first.
 * Returns the weight. */
static tensor_id path_from_weight(trainer *t, tensor_id x, path *p)
{
	for (int i = t->b->tape.n - 1; i >= 0; i--) {
		const tape_call *c = &t->b->tape.at[i];
		bool made = false;
		for (int r = 0; r < c->op->nresults; r++)
			made |= c->own[r] && c->results[r] == x;
		for (int j = 0; made && j < c->op->nparams; j++)
			if (flows_to(t, c, j)) {
				vec_push(t->b->tmp, p, c);
				x = c->args[j];
				break;
			}
	}
	return x;
}

/* Finds the calls after number i that lead from its results to the loss. */
static void path_to_loss(trainer *t, int i, path *p)
{
	const tape_call *at = &t->b->tape.at[i];
	for (i++; i < t->b->tape.n; i++) {
		const tape_call *c = &t->b->tape.at[i];
		bool uses = false;
		for (int j = 0; j < c->op->nparams; j++)
			for (int r = 0; r < at->op->nresults; r++)
				uses |= c->args[j] == at->results[r] &&
					flows_to(t, c, j);
		if (!uses || !is_wanted(t, c))
			continue;
		vec_push(t->b->tmp, p, c);
		at = c;
	}
}

static const char *path_text(trainer *t, const path *back, const path *on,
			     const tape_call *here)
{
	enum { MOST = 4 };
	arena *a = t->b->tmp;
	const char *s = back->n > MOST ? ".. -> " : "";
	for (int i = (back->n < MOST ? back->n : MOST) - 1; i >= 0; i--)
		s = arena_printf(a, "%s%s -> ", s, back->at[i]->op->name);
	s = arena_printf(a, "%s%s", s, here->op->name);
	for (int i = 0; i < on->n && i < MOST; i++)
		s = arena_printf(a, "%s -> %s", s, on->at[i]->op->name);
	return on->n > MOST ? arena_printf(a, "%s -> ..", s) : s;
}

static bool no_gradient(trainer *t, int i, int param, const grad_rule *r)
{
	const tape_call *c = &t->b->tape.at[i];
	path back = { 0 }, on = { 0 };
	tensor_id w = path_from_weight(t, c->args[param], &back);
	path_to_loss(t, i, &on);
	train_error(t, DIAG_NO_GRADIENT, c->site,
		    "'%s' has no gradient by '%s': %s", c->op->name,
		    c->op->params[param].name, r->because);
	diag_note(t->b->sink, NOWHERE,
		  "the loss depends on the weight '%s' through %s; %s says "
		  "which weights are not trained",
		  graph_tensor(t->b, w)->name, path_text(t, &back, &on, c),
		  diag_option(t->b->sink, "freeze"));
	return false;
}

/* ---- the backward pass ------------------------------------------------- */

static bool is_zero(const trainer *t, tensor_id x)
{
	const tensor *c = graph_tensor(t->b, x);
	uint64_t bits = 0;
	if (c->kind != TENSOR_CONSTANT || !c->constant.fill)
		return false;
	memcpy(&bits, c->constant.data, dtype_size(c->type.type));
	return bits == 0;
}

/* Whether the backward pass computes x by a node of its own. */
static bool is_made(const trainer *t, tensor_id x)
{
	return x >= t->ntensors && graph_tensor(t->b, x)->kind == TENSOR_RESULT;
}

/* The last node of a call, which computes its first result; NONE. */
static int made_by(const trainer *t, const tape_call *c)
{
	for (int r = 0; r < c->op->nresults; r++)
		if (c->own[r])
			return t->b->tensors.at[c->results[r]]->node;
	return NONE;
}

/* Makes nodes added from now on belong to the gradient of this call. */
static void set_forward(trainer *t, const tape_call *c)
{
	graph_builder *b = t->b;
	b->step = b->cell = NONE;
	b->forward = made_by(t, c);
	if (b->forward == NONE)
		return;
	b->step = b->nodes.at[b->forward].step;
	b->cell = b->nodes.at[b->forward].cell;
	b->origin = b->nodes.at[b->forward].origin;
}

/* Notes a term of the gradient of x, through parameter `param' of call i. */
static void add_part(trainer *t, int i, int param, tensor_id x, tensor_id more)
{
	const tape_call *c = &t->b->tape.at[i];
	int made = made_by(t, c);
	grad_part part = { .call = i, .reader = NONE, .depth = NONE,
			   .param = param, .value = more };
	if (made != NONE) {
		part.reader = t->order.nodes[made];
		part.depth = t->order.depths[made];
		part.kernel = t->order.kernels[made];
	}
	if (!is_zero(t, more))
		vec_push(t->b->tmp, &t->flow[x].parts, part);
}

/* Terms of the last readers come first, as in the backward pass.  For a tensor
 * read by the steps of a loop the sum then grows as the steps go back, and no
 * step's term has to wait for others.  Readers that are as late as each other
 * go by what they compute: each step adds up its terms in the same order, and
 * all steps share the kernels that come of it. */
static int by_reader(const void *x, const void *y)
{
	const grad_part *a = x, *b = y;
	if (a->depth != b->depth)
		return a->depth > b->depth ? -1 : 1;
	if (a->kernel != b->kernel)
		return a->kernel > b->kernel ? -1 : 1;
	if (a->reader != b->reader)
		return a->reader > b->reader ? -1 : 1;
	return a->param != b->param ? b->param - a->param : b->call - a->call;
}

static bool add_to(trainer *t, tensor_id x, const grad_part *part)
{
	graph_builder *b = t->b;
	const tape_call *c = &b->tape.at[part->call];
	tensor_id *sum = &t->flow[x].adjoint;
	if (*sum == NONE) {
		*sum = part->value;
	} else {
		const attr_value *none[1] = { NULL };
		const char *name = arena_printf(b->arena, "%s.sum", c->name);
		tensor_id args[2] = { *sum, part->value };
		set_forward(t, c);
		if (!graph_call(b, t->sum, name, args, none, c->site, sum))
			return false;
	}
	tensor *made = &b->tensors.at[*sum]->t;
	if (is_made(t, *sum) && made->gradient_of == NONE)
		made->gradient_of = x;
	return true;
}

/* Adds up the terms of the gradient of x, which are all known.  The order
 * follows from the graph, not from the order of statements. */
static bool sum_up(trainer *t, tensor_id x)
{
	flow *f = &t->flow[x];
	if (f->parts.n > 1)
		qsort(f->parts.at, (size_t)f->parts.n, sizeof(*f->parts.at),
		      by_reader);
	f->parts.n = train_join_terms(t, f->parts.at, f->parts.n);
	for (int i = 0; i < f->parts.n; i++)
		if (!add_to(t, x, &f->parts.at[i]))
			return false;
	f->parts.n = 0;
	return true;
}

/* The derivative by the call's result r; 0 if nothing depends on it. */
static tensor_id adjoint_of(trainer *t, const tape_call *c, int r)
{
	tensor_id x = c->results[r];
	if (c->own[r] && t->flow[x].adjoint != NONE)
		return t->flow[x].adjoint;
	return train_fill(t, graph_type(t->b, x), 0);
}

static bool add_gradient(trainer *t, int i, int param)
{
	graph_builder *b = t->b;
	const tape_call *c = &b->tape.at[i];
	const grad_rule *r = rule_of(t, c->op, param);
	if (!r->op)
		return no_gradient(t, i, param, r);
	tensor_id result;
	tensor_id *args = ARENA_ARRAY(b->tmp, tensor_id, r->op->nparams + 1);
	const attr_value **attrs =
		ARENA_ARRAY(b->tmp, const attr_value *, r->op->nattrs + 1);
	for (int j = 0; j < r->op->nparams; j++)
		args[j] = r->args[j] < 0 ? adjoint_of(t, c, ~r->args[j])
					 : c->args[r->args[j]];
	for (int j = 0; j < r->op->nattrs; j++)
		attrs[j] = c->attrs[r->attrs[j]];
	const char *name = arena_printf(b->arena, "%s.%s", c->name,
					r->op->name);
	if (!graph_call(b, r->op, name, args, attrs, c->site, &result))
		return false;
	tensor_id x = c->args[param];
	if (!train_same_type(graph_type(b, result), graph_type(b, x)))
		return train_error(t, DIAG_NO_GRADIENT, c->site,
				   "'%s' gives %s for '%s', which is %s",
				   r->op->name,
				   tensor_type_text(b->tmp,
						    graph_type(b, result)),
				   c->op->params[param].name,
				   tensor_type_text(b->tmp, graph_type(b, x)));
	add_part(t, i, param, x, result);
	return true;
}

static bool has_adjoint(const trainer *t, const tape_call *c)
{
	for (int r = 0; r < c->op->nresults; r++)
		if (c->own[r] && t->flow[c->results[r]].adjoint != NONE)
			return true;
	return false;
}

/* Finishes the weights whose derivatives are complete with call i. */
static bool finish_weights(trainer *t, int i)
{
	const tape_call *c = &t->b->tape.at[i];
	for (int j = 0; j < c->op->nparams; j++) {
		tensor_id w = c->args[j];
		flow *f = &t->flow[w];
		if (graph_tensor(t->b, w)->kind != TENSOR_STATE || !f->wanted ||
		    f->first != i)
			continue;
		if (!sum_up(t, w))
			return false;
		tensor_id adjoint =
			f->adjoint != NONE
				? f->adjoint
				: train_fill(t, graph_type(t->b, w), 0);
		f->wanted = false; /* may be an argument twice */
		if (!optimizer_gradient(t, w, adjoint))
			return false;
	}
	return true;
}

/* Names the derivatives by the call's results, which are complete: "h.grad" for
 * h. */
static void name_adjoints(trainer *t, const tape_call *c)
{
	graph_builder *b = t->b;
	for (int r = 0; r < c->op->nresults; r++) {
		tensor_id x = c->results[r], adjoint = t->flow[x].adjoint;
		const char *name = graph_tensor(b, x)->name;
		if (c->own[r] && name && is_made(t, adjoint))
			graph_name(b, adjoint,
				   arena_printf(b->tmp, "%s.grad", name));
	}
}

static bool add_call(trainer *t, int i)
{
	const tape_call *c = &t->b->tape.at[i];
	for (int r = 0; r < c->op->nresults; r++)
		if (c->own[r] && !sum_up(t, c->results[r]))
			return false;
	if (is_wanted(t, c) && has_adjoint(t, c)) {
		set_forward(t, c);
		name_adjoints(t, c);
		for (int j = 0; j < c->op->nparams; j++)
			if (flows_to(t, c, j) && !add_gradient(t, i, j))
				return false;
	}
	return finish_weights(t, i);
}

void backward_plan(trainer *t)
{
	bool *needed = ARENA_ARRAY(t->b->tmp, bool, t->ntensors);
	find_needed(t, needed);
	find_moving(t, needed);
	find_wanted(t);
}

/* Sets the derivative of the loss by itself: 1, or the scale of the loss. */
static bool start(trainer *t)
{
	graph_builder *b = t->b;
	const attr_value *none[1] = { NULL };
	tensor_id args[] = { train_fill(t, graph_type(b, t->loss), 1),
			     optimizer_loss_scale(t) };
	tensor_id *adjoint = &t->flow[t->loss].adjoint;
	*adjoint = args[0];
	if (args[1] == NONE)
		return true;
	const ast_op *scale = train_library(t, "scaled_gradient");
	return scale && graph_call(b, scale, "loss.scaled", args, none,
				   train_option_site(t, "precision"),
				   adjoint);
}

bool backward_add(trainer *t)
{
	graph_builder *b = t->b;
	const char *origin = b->origin;
	train_find_order(t);
	bool ok = start(t);
	for (int i = b->tape.n - 1; ok && i >= 0; i--)
		ok = add_call(t, i);
	b->forward = b->step = b->cell = NONE;
	b->origin = origin;
	return ok;
}

/* Makes a training step of a model: the trained weights, the loss, and the
 * order in which the parts are made. */
#include "config.h"

#include "compiler/train/trainer.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <string.h>

#include "dsl/builtins.h"
#include "kernel/eval.h"

/* The place of diagnostics about the model as a whole. */
static const call_site the_model = { .place = NULL };

/* ---- for all parts ----------------------------------------------------- */

bool train_error(trainer *t, diag_id id, call_site site, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	const char *text = arena_vprintf(t->b->tmp, fmt, ap);
	va_end(ap);
	call_error(t->b->sink, id, site, t->b->name, "%s", text);
	return false;
}

const ast_op *train_library(trainer *t, const char *name)
{
	const ast_op *op = dsl_op(t->b->modules, name);
	if (!op)
		train_error(t, DIAG_BAD_OPTION, the_model,
			    "training needs the operator '%s', which the "
			    "library does not have", name);
	return op;
}

bool train_same_type(const tensor_type *x, const tensor_type *y)
{
	return x->type == y->type && x->ndim == y->ndim &&
	       !memcmp(x->dims, y->dims, (size_t)x->ndim * sizeof(*x->dims));
}

tensor_id train_fill(trainer *t, const tensor_type *type, double value)
{
	graph_builder *b = t->b;
	const char *key = arena_printf(b->tmp, "%a %s", value,
				       tensor_type_text(b->tmp, type));
	tensor_id *made = strmap_get(t->constants, key);
	if (made)
		return *made;
	void *data = arena_alloc(b->arena, 16);
	memset(data, 0, 16);
	if (dtype_is_float(type->type))
		elem_set_f64(type->type, data, 0, value);
	else
		elem_set_i64(type->type, data, 0, (int64_t)value);
	made = ARENA_NEW(b->tmp, tensor_id);
	*made = graph_add_constant(b, NULL, type,
				   &(constant){ .data = data, .fill = true });
	strmap_put(t->constants, key, made);
	return *made;
}

void graph_record(graph_builder *b, const train_options *o)
{
	b->train = o;
	if (o->precision)
		b->precision = dtype_parse(o->precision);
}

/* ---- what is trained --------------------------------------------------- */

bool weight_globs_match(const weight_globs *g, const char *name)
{
	bool any = false;
	for (int i = 0; i < g->n; i++)
		if (fnmatch(g->at[i], name, 0) == 0)
			any = g->used[i] = true;
	return any;
}

/* Whether a weight may be trained.  Every pattern is tried, so that patterns
 * that match no weight are noticed. */
static bool is_free(const train_options *o, const char *name)
{
	bool frozen = weight_globs_match(&o->freeze, name);
	bool chosen = weight_globs_match(&o->only, name);
	return !frozen && (chosen || o->only.n == 0);
}

/* The number of the output named "loss"; NONE if there is none. */
static int find_loss(const graph_builder *b)
{
	for (int i = 0; i < b->outputs.n; i++)
		if (!strcmp(graph_tensor(b, b->outputs.at[i])->name, "loss"))
			return i;
	return NONE;
}

static bool set_loss(trainer *t)
{
	graph_builder *b = t->b;
	if (t->o->loss && !train_add_loss(t))
		return false;
	int loss = find_loss(b);
	if (loss == NONE)
		return train_error(t, DIAG_NO_LOSS, the_model,
				   "the model has no output 'loss'; %s "
				   "OPERATOR adds one",
				   diag_option(b->sink, "loss"));
	t->loss = b->sources.at[loss];
	b->loss = b->outputs.at[loss];
	const tensor_type *type = graph_type(b, t->loss);
	if (!dtype_is_float(type->type) || tensor_nelem(type) != 1)
		return train_error(t, DIAG_NO_LOSS, the_model,
				   "'loss' is %s, not one floating-point "
				   "number", tensor_type_text(b->tmp, type));
	return true;
}

/* Sets up the flow of each tensor; weights that may be trained have `moves'
 * set. */
static void find_candidates(trainer *t)
{
	graph_builder *b = t->b;
	t->ntensors = b->tensors.n;
	t->flow = ARENA_ARRAY(b->tmp, flow, t->ntensors);
	for (int i = 0; i < t->ntensors; i++) {
		const tensor *x = graph_tensor(b, i);
		t->flow[i].first = t->flow[i].adjoint = NONE;
		t->flow[i].moves = x->parameter &&
				   dtype_is_float(x->type.type) &&
				   is_free(t->o, x->name);
	}
}

/* Makes weights on which the loss depends states. */
static bool set_weights(trainer *t)
{
	graph_builder *b = t->b;
	if (!t->o->evaluate)
		train_doubt(t);
	for (int i = 0; i < t->ntensors; i++) {
		tensor *x = &b->tensors.at[i]->t;
		if (!x->parameter || !t->flow[i].wanted)
			continue;
		x->kind = TENSOR_STATE;
		vec_push(b->tmp, &t->weights, i);
	}
	if (t->weights.n > 0 || t->o->evaluate)
		return true;
	return train_error(t, DIAG_NOTHING_TRAINED, the_model,
			   "'loss' depends on no weight that %s",
			   t->o->only.n == 0
				   ? "may be trained"
				   : arena_printf(b->tmp, "%s names",
						  diag_option(b->sink,
							      "train-only")));
}

/* ---- what was folded --------------------------------------------------- */


/* A known tensor that depends on no trained weight remains a constant. */
static void settle_known(trainer *t)
{
	graph_builder *b = t->b;
	bool *fixed = ARENA_ARRAY(b->tmp, bool, t->ntensors);
	tensor_id *to = ARENA_ARRAY(b->tmp, tensor_id, t->ntensors);
	for (int i = 0; i < t->ntensors; i++) {
		built_tensor *x = b->tensors.at[i];
		to[i] = i;
		fixed[i] = x->t.kind == TENSOR_CONSTANT;
		if (x->known == NONE)
			continue;
		const built_node *n = &b->nodes.at[x->node];
		fixed[i] = true;
		for (int j = 0; j < n->kernel->ninputs; j++)
			fixed[i] &= fixed[n->inputs[j]];
		if (fixed[i] && !x->t.output && x->next_of == NONE) {
			graph_name(b, x->known, x->t.name);
			x->t.name = NULL;
			to[i] = x->known;
		}
		x->known = NONE;
	}
	build_replace(b, to);
}

/* Replaces a node that copies one of its inputs by that input.  It was needed
 * until now as a call with a gradient of its own. */
static void drop_copies(trainer *t)
{
	graph_builder *b = t->b;
	tensor_id *to = ARENA_ARRAY(b->tmp, tensor_id, b->tensors.n);
	for (int i = 0; i < b->tensors.n; i++) {
		built_tensor *x = b->tensors.at[i];
		const built_node *n = x->node == NONE ? NULL
						      : &b->nodes.at[x->node];
		to[i] = i;
		if (!n || x->t.output || x->next_of != NONE ||
		    !kernel_is_copy(n->kernel))
			continue;
		to[i] = to[n->inputs[0]];
		graph_name(b, to[i], x->t.name);
		x->t.name = NULL;
	}
	build_replace(b, to);
}

/* ---- training ---------------------------------------------------------- */

static bool add_all(trainer *t)
{
	if (!optimizer_open(t) || !set_loss(t))
		return false;
	find_candidates(t);
	backward_plan(t);
	if (!set_weights(t))
		return false;
	settle_known(t);
	t->b->training = true;
	int nforward = t->b->nodes.n;
	if (!backward_add(t) || !optimizer_close(t))
		return false;
	drop_copies(t);
	t->b->recompute_stages = t->o->recompute &&
				 !strcmp(t->o->recompute, TRAIN_BY_STAGE);
	return !t->o->recompute || t->b->recompute_stages ||
	       recompute(t, nforward);
}

/* Without a loss any weight may have been changed by a training run. */
static bool add_states(trainer *t)
{
	graph_builder *b = t->b;
	bool has_loss = t->o->loss || find_loss(b) != NONE;
	if (has_loss && !set_loss(t))
		return false;
	find_candidates(t);
	if (has_loss)
		backward_plan(t);
	for (int i = 0; !has_loss && i < t->ntensors; i++)
		t->flow[i].wanted = t->flow[i].moves;
	if (!set_weights(t))
		return false;
	settle_known(t);
	drop_copies(t);
	return true;
}

bool graph_train(graph_builder *b)
{
	trainer t = { .b = b, .o = b->train,
		      .rules = strmap_new(b->tmp),
		      .constants = strmap_new(b->tmp) };
	if (diag_errors(b->sink) > b->nerrors)
		return false;
	if (b->train->evaluate)
		return add_states(&t);
	t.sum = train_library(&t, builtin_overload(OP_ADD));
	return t.sum && add_all(&t);
}

/* Optimizers are operators:
 *
 *	op sgd(w[..d], g[..d], velocity[..d], step[]: i64, lr[]: f64;
 *	       default_lr: float = 0.001, momentum: float = 0.0, ..)
 *	    -> (next_w[..d], next_velocity[..d], next_step[]: i64)
 *
 * The first parameter is the weight, the second the gradient of the loss by it.
 * A parameter p with a result next_p is a state that is 0 before the first
 * step.  There is one for each weight, or a single one for all if it has no
 * dimensions.  Any other parameter is an input without dimensions.  It is fed
 * in each run, or has the value of the attribute default_p. */
#include "config.h"

#include "compiler/train/trainer.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/eval.h"

/* A weight and its gradient. */
typedef struct update {
	tensor_id weight, gradient;
	tensor_id squares; /* sum of the gradient's squares; NONE */
	int place;	   /* of the weight in trainer.order */
} update;

struct optimizer {
	named_op by;
	int *next;	   /* by parameter: its result; NONE for an input */
	/* by parameter: tensor shared by all updates; NONE */
	tensor_id *shared;
	VEC(update) updates; /* waiting until all gradients are known */
	VEC(tensor_id) states;
	/* NULL if no gradient waits for the others: */
	const ast_op *square, *clip, *scale;
	const ast_op *kept, *rescale; /* NULL if the loss is not scaled */
	tensor_id squares;	      /* of all gradients; NONE */
	tensor_id loss_scale, good_steps;
};

/* ---- the signature ----------------------------------------------------- */

static bool refuse(trainer *t, const char *why)
{
	return train_error(t, DIAG_BAD_OPTIMIZER,
			   train_option_site(t, "optimizer"),
			   "'%s' is not an optimizer: %s",
			   t->optimizer->by.op->name, why);
}

static int find_default(trainer *t, const ast_op *op, const char *name)
{
	int i = ast_find_attr(op->attrs, op->nattrs,
			      arena_printf(t->b->tmp, "default_%s", name));
	return i >= 0 && op->attrs[i].type == ATTR_FLOAT ? i : NONE;
}

static int find_next(trainer *t, const ast_op *op, const char *name)
{
	const char *wanted = arena_printf(t->b->tmp, "next_%s", name);
	for (int i = 0; i < op->nresults; i++)
		if (!strcmp(op->results[i].name, wanted))
			return i;
	return NONE;
}

/* Pairs parameters with results, as described above. */
static bool read_signature(trainer *t)
{
	optimizer *o = t->optimizer;
	const ast_op *op = o->by.op;
	int npaired = 0;
	o->next = ARENA_ARRAY(t->b->tmp, int, op->nparams + 1);
	o->shared = ARENA_ARRAY(t->b->tmp, tensor_id, op->nparams + 1);
	for (int i = 0; i < op->nparams; i++) {
		const ast_tensor *p = &op->params[i];
		o->shared[i] = NONE;
		o->next[i] = find_next(t, op, p->name);
		npaired += o->next[i] != NONE;
		if (i < 2 || o->next[i] != NONE)
			continue;
		if (p->ndims > 0 || find_default(t, op, p->name) == NONE)
			return refuse(t, arena_printf(
				t->b->tmp,
				"its parameter '%s' has neither a result "
				"next_%s nor, without dimensions, an attribute "
				"default_%s", p->name, p->name, p->name));
	}
	if (op->nparams < 2 || o->next[0] == NONE)
		return refuse(t, "its first result is not the next value of "
				 "its first parameter, the weight, of which "
				 "the second is the gradient");
	if (o->next[1] != NONE || npaired != op->nresults)
		return refuse(t, "a result is not the next value of a "
				 "parameter behind the gradient");
	return true;
}

static bool open_clipping(trainer *t)
{
	optimizer *o = t->optimizer;
	return (o->square = train_library(t, "squared_norm")) &&
	       (o->clip = train_library(t, "clip_factor")) &&
	       (o->scale = train_library(t, "scaled_gradient"));
}

/* Prepares loss scaling.  Small gradients vanish in f16 unless the loss is
 * scaled up.  A step in which a gradient overflows is skipped. */
static bool open_scaling(trainer *t)
{
	optimizer *o = t->optimizer;
	return open_clipping(t) &&
	       (o->clip = train_library(t, "unscale_factor")) &&
	       (o->kept = train_library(t, "kept_unless_finite")) &&
	       (o->rescale = train_library(t, "next_loss_scale"));
}

bool optimizer_open(trainer *t)
{
	optimizer *o = t->optimizer = ARENA_NEW(t->b->tmp, optimizer);
	o->squares = o->loss_scale = o->good_steps = NONE;
	if (!train_read_option(t, "optimizer", t->o->optimizer, &o->by) ||
	    !read_signature(t))
		return false;
	if (t->b->precision == DT_F16)
		return open_scaling(t);
	return t->o->clip_norm == 0 || open_clipping(t);
}

/* ---- parameters -------------------------------------------------------- */

/* The element type of a parameter for a weight; DT_NONE if the operator does
 * not determine it. */
static dtype element_of(const ast_tensor *p, dtype weight)
{
	switch (p->type.kind) {
	case TYPE_SHARED:
	case TYPE_FLOAT:
		return weight;
	case TYPE_INT:
		return DT_I64;
	default:
		return p->type.exact;
	}
}

/* Adds an input such as lr, which need not be fed. */
static tensor_id add_input(trainer *t, int param, const tensor_type *type)
{
	graph_builder *b = t->b;
	const ast_op *op = t->optimizer->by.op;
	const char *name = op->params[param].name;
	int attr = find_default(t, op, name);
	const attr_value *given = t->optimizer->by.attrs[attr];
	const ast_expr *init = op->attrs[attr].init;
	double value = given ? given->floats[0] : 0;
	if (!given && init)
		value = init->kind == AST_INT ? (double)init->i : init->f;
	tensor_id id = graph_add_input(b, name, type);
	const tensor *fill = graph_tensor(b, train_fill(t, type, value));
	graph_set_default(b, id, &fill->constant);
	if (b->learning_rate == NONE)
		b->learning_rate = id;
	return id;
}

static tensor_id add_state(trainer *t, const char *name,
			   const tensor_type *type, double first)
{
	const constant value =
		graph_tensor(t->b, train_fill(t, type, first))->constant;
	tensor_id id = graph_add_state(t->b, name, type, &value);
	vec_push(t->b->tmp, &t->optimizer->states, id);
	return id;
}

/* Adds a state shared by all weights.  Its name cannot occur in a model: a
 * model without it may take the states of a trained one. */
static tensor_id add_shared(trainer *t, const char *name,
			    const tensor_type *type, double first)
{
	return add_state(t, arena_printf(t->b->tmp, "optimizer.%s", name),
			 type, first);
}

/* The argument for parameter i in the update of a weight. */
static tensor_id argument(trainer *t, int i, const update *u)
{
	graph_builder *b = t->b;
	optimizer *o = t->optimizer;
	const ast_tensor *p = &o->by.op->params[i];
	if (i < 2)
		return i == 0 ? u->weight : u->gradient;
	if (o->shared[i] != NONE)
		return o->shared[i];
	tensor_type type = *graph_type(b, u->weight);
	type.type = element_of(p, type.type);
	if (type.type == DT_NONE)
		type.type = graph_type(b, u->weight)->type;
	if (p->ndims > 0)
		return add_state(t,
				 arena_printf(b->tmp, "%s.%s",
					      graph_tensor(b, u->weight)->name,
					      p->name),
				 &type, 0);
	type.ndim = 0;
	o->shared[i] = o->next[i] == NONE ? add_input(t, i, &type)
					  : add_shared(t, p->name, &type, 0);
	return o->shared[i];
}

/* The values of the operator's attributes.  One of type `type' without a
 * default gets the weight's type. */
static const attr_value **attributes(trainer *t, const update *u)
{
	graph_builder *b = t->b;
	const named_op *by = &t->optimizer->by;
	const attr_value **attrs =
		ARENA_ARRAY(b->tmp, const attr_value *, by->op->nattrs + 1);
	for (int i = 0; i < by->op->nattrs; i++) {
		const ast_attr *a = &by->op->attrs[i];
		attrs[i] = by->attrs[i];
		if (attrs[i] || a->type != ATTR_TYPE || a->init || a->is_list)
			continue;
		int64_t *type = ARENA_NEW(b->tmp, int64_t);
		*type = graph_type(b, u->weight)->type;
		attr_value *v = ARENA_NEW(b->tmp, attr_value);
		*v = (attr_value){ .type = ATTR_TYPE, .n = 1, .ints = type };
		attrs[i] = v;
	}
	return attrs;
}

/* ---- the update of a weight -------------------------------------------- */

/* If the loss is scaled, makes a step with a gradient that is not finite leave
 * a state unchanged. */
static bool keep_unless_finite(trainer *t, tensor_id state, tensor_id *next)
{
	graph_builder *b = t->b;
	const optimizer *o = t->optimizer;
	const attr_value *none[1] = { NULL };
	const char *name = arena_printf(b->arena, "%s.kept",
					graph_tensor(b, state)->name);
	tensor_id args[] = { *next, state, o->squares };
	return !o->kept ||
	       graph_call(b, o->kept, name, args, none,
			  train_option_site(t, "precision"), next);
}

/* Makes a result of an update the next value of a state. */
static bool set_next(trainer *t, tensor_id state, tensor_id next)
{
	graph_builder *b = t->b;
	const char *name = graph_tensor(b, state)->name;
	/* shared by all, done before */
	if (graph_tensor(b, state)->next != NONE)
		return true;
	if (!train_same_type(graph_type(b, state), graph_type(b, next)))
		return refuse(t, arena_printf(
			b->tmp, "it makes %s of '%s', which is %s",
			tensor_type_text(b->tmp, graph_type(b, next)), name,
			tensor_type_text(b->tmp, graph_type(b, state))));
	if (next == state) /* unchanged, as the gradient is 0 */
		return true;
	if (!keep_unless_finite(t, state, &next))
		return false;
	graph_set_next(b, state, next);
	graph_name(b, graph_tensor(b, state)->next,
		   arena_printf(b->tmp, "%s.next", name));
	return true;
}

static bool apply(trainer *t, const update *u)
{
	graph_builder *b = t->b;
	const optimizer *o = t->optimizer;
	const ast_op *op = o->by.op;
	tensor_id *args = ARENA_ARRAY(b->tmp, tensor_id, op->nparams);
	tensor_id *results = ARENA_ARRAY(b->tmp, tensor_id, op->nresults);
	const char *name = arena_printf(b->arena, "%s.%s",
					graph_tensor(b, u->weight)->name,
					op->name);
	const call_site site = train_option_site(t, "optimizer");
	for (int i = 0; i < op->nparams; i++)
		args[i] = argument(t, i, u);
	if (!graph_call(b, op, name, args, attributes(t, u), site, results))
		return false;
	for (int i = 0; i < op->nparams; i++)
		if (o->next[i] != NONE &&
		    !set_next(t, args[i], results[o->next[i]]))
			return false;
	return true;
}

/* ---- all gradients together -------------------------------------------- */

static const char *norm_name(trainer *t, const update *u, const char *what)
{
	return arena_printf(t->b->arena, "%s.norm%s",
			    graph_tensor(t->b, u->weight)->name, what);
}

static bool add_squares(trainer *t, update *u)
{
	const attr_value *none[1] = { NULL };
	return graph_call(t->b, t->optimizer->square, norm_name(t, u, ""),
			  &u->gradient, none,
			  train_option_site(t, "clip-norm"), &u->squares);
}

/* The last weights come first, as their gradients are known first. */
static int by_place(const void *x, const void *y)
{
	const update *a = x, *b = y;
	return (a->place < b->place) - (a->place > b->place);
}

/* Adds up the squares of all gradients in an order that follows from the graph,
 * not from the statements. */
static bool add_all_squares(trainer *t)
{
	optimizer *o = t->optimizer;
	const attr_value *none[1] = { NULL };
	const call_site site = train_option_site(t, "clip-norm");
	if (o->updates.n > 1)
		qsort(o->updates.at, (size_t)o->updates.n,
		      sizeof(*o->updates.at), by_place);
	for (int i = 0; i < o->updates.n; i++) {
		const update *u = &o->updates.at[i];
		tensor_id args[2] = { o->squares, u->squares };
		if (o->squares == NONE)
			o->squares = u->squares;
		else if (!graph_call(t->b, t->sum, norm_name(t, u, ".sum"),
				     args, none, site, &o->squares))
			return false;
	}
	return true;
}

/* Sets the scale of the next step. */
static bool set_next_scale(trainer *t)
{
	graph_builder *b = t->b;
	const optimizer *o = t->optimizer;
	const attr_value *defaults[3] = { NULL };
	tensor_id args[] = { o->loss_scale, o->good_steps, o->squares };
	tensor_id results[2];
	if (!o->rescale)
		return true;
	if (!graph_call(b, o->rescale, "loss_scale", args, defaults,
			train_option_site(t, "precision"), results))
		return false;
	graph_set_next(b, o->loss_scale, results[0]);
	graph_set_next(b, o->good_steps, results[1]);
	return true;
}

static bool clip_and_update(trainer *t)
{
	graph_builder *b = t->b;
	optimizer *o = t->optimizer;
	const call_site site = train_option_site(t, "clip-norm");
	const attr_value norm = { .type = ATTR_FLOAT, .n = 1,
				  .floats = &t->o->clip_norm };
	const attr_value *attrs[2] = { t->o->clip_norm ? &norm : NULL, NULL };
	tensor_id args[] = { o->squares, o->loss_scale };
	if (!graph_call(b, o->clip, "clip", args, attrs, site, &args[1]))
		return false;
	attrs[0] = NULL;
	for (int i = 0; i < o->updates.n; i++) {
		update u = o->updates.at[i];
		const char *name = arena_printf(
			b->arena, "%s.clip", graph_tensor(b, u.weight)->name);
		args[0] = u.gradient;
		if (!graph_call(b, o->scale, name, args, attrs, site,
				&u.gradient) ||
		    !apply(t, &u))
			return false;
	}
	return set_next_scale(t);
}

tensor_id optimizer_loss_scale(trainer *t)
{
	optimizer *o = t->optimizer;
	const tensor_type real = { .type = DT_F64 }, count = { .type = DT_I64 };
	if (!o->rescale)
		return NONE;
	o->loss_scale = add_shared(t, "loss_scale", &real, 65536);
	t->b->loss_scale = o->loss_scale;
	o->good_steps = add_shared(t, "good_steps", &count, 0);
	return o->loss_scale;
}

bool optimizer_gradient(trainer *t, tensor_id weight, tensor_id gradient)
{
	graph_builder *b = t->b;
	update u = { weight, gradient, NONE, t->order.tensors[weight] };
	int forward = b->forward, step = b->step, cell = b->cell;
	if (graph_tensor(b, gradient)->gradient_of == weight)
		graph_name(b, gradient,
			   arena_printf(b->tmp, "%s.grad",
					graph_tensor(b, weight)->name));
	b->forward = b->step = b->cell = NONE;
	bool ok = true;
	if (t->optimizer->clip) {
		ok = add_squares(t, &u);
		vec_push(b->tmp, &t->optimizer->updates, u);
	} else {
		ok = apply(t, &u);
	}
	b->forward = forward;
	b->step = step;
	b->cell = cell;
	return ok;
}

/* ---- states that no weight depends on ---------------------------------- */

/* Marks a tensor and those from which it is computed.  A state that is read
 * marks its next value, too. */
static void mark(trainer *t, tensor_id from, bool *live)
{
	graph_builder *b = t->b;
	VEC(tensor_id) todo = { 0 };
	vec_push(b->tmp, &todo, from);
	while (todo.n > 0) {
		tensor_id x = todo.at[--todo.n];
		const built_tensor *y = b->tensors.at[x];
		if (live[x])
			continue;
		live[x] = true;
		if (y->t.next != NONE)
			vec_push(b->tmp, &todo, y->t.next);
		if (y->node == NONE)
			continue;
		const built_node *n = &b->nodes.at[y->node];
		for (int j = 0; j < n->kernel->ninputs; j++)
			vec_push(b->tmp, &todo, n->inputs[j]);
	}
}

/* Drops states that are not needed: the velocity if the momentum is 0, and a
 * step count that nothing reads. */
static void drop_states(trainer *t)
{
	graph_builder *b = t->b;
	bool *live = ARENA_ARRAY(b->tmp, bool, b->tensors.n);
	for (int i = 0; i < t->weights.n; i++)
		mark(t, t->weights.at[i], live);
	for (int i = 0; i < b->outputs.n; i++)
		mark(t, b->outputs.at[i], live);
	for (int i = 0; i < t->optimizer->states.n; i++) {
		tensor *s = &b->tensors.at[t->optimizer->states.at[i]]->t;
		if (!live[t->optimizer->states.at[i]])
			s->next = NONE;
	}
}

bool optimizer_close(trainer *t)
{
	optimizer *o = t->optimizer;
	if (o->updates.n > 0 && !(add_all_squares(t) && clip_and_update(t)))
		return false;
	drop_states(t);
	return true;
}

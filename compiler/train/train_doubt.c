/* Finds constants of an ONNX model that may not be weights.
 *
 * Exporters store both as initializers, and store equal ones once.  A scale,
 * the initial zeros of a state, and the ones of several norms look like
 * weights.  Nothing distinguishes them for certain, so doubtful constants that
 * are trained are named in a warning. */
#include "config.h"

#include "compiler/train/trainer.h"

#include <string.h>

/* The nodes of the model that read each tensor. */
typedef struct users {
	int *count;
	const char **last; /* by tensor: place of the last one */
	/* by tensor: the tensor of which it is a shorter version; itself */
	tensor_id *is;
} users;

static void note_user(users *u, tensor_id t, const char *place)
{
	t = u->is[t];
	if (u->last[t] && place && !strcmp(u->last[t], place))
		return;
	u->count[t]++;
	u->last[t] = place;
}

/* Calls made for one node of the model have the same place. */
static users find_users(trainer *t)
{
	graph_builder *b = t->b;
	users u = { ARENA_ARRAY(b->tmp, int, t->ntensors),
		    ARENA_ARRAY(b->tmp, const char *, t->ntensors),
		    ARENA_ARRAY(b->tmp, tensor_id, t->ntensors) };
	for (int i = 0; i < t->ntensors; i++)
		u.is[i] = i;
	for (int i = 0; i < b->tape.n; i++) {
		const tape_call *c = &b->tape.at[i];
		if (c->op == b->converter)
			u.is[c->results[0]] = u.is[c->args[0]];
		for (int j = 0; c->op != b->converter && j < c->op->nparams;
		     j++)
			note_user(&u, c->args[j], c->site.place);
	}
	return u;
}

static bool is_uniform(graph_builder *b, tensor_id t)
{
	enum { MOST = 1 << 22 }; /* bytes; larger constants are weights */
	const tensor_type *type = graph_type(b, t);
	const char *data = graph_constant_data(b, t, MOST);
	size_t size = dtype_size(type->type);
	int64_t n = data ? tensor_nelem(type) : 0;
	for (int64_t i = 1; i < n; i++)
		if (memcmp(data, data + (size_t)i * size, size) != 0)
			return false;
	return n > 0;
}

/* Whether a weight was named itself, not by a pattern. */
static bool is_named(const weight_globs *g, const char *name)
{
	for (int i = 0; i < g->n; i++)
		if (!strcmp(g->at[i], name))
			return true;
	return false;
}

/* The reason to doubt that a tensor is a weight; NULL if there is none.  A
 * tensor of one dimension with equal elements and one user may be the weight of
 * a norm before training.  A single number is a weight only if weights were
 * named. */
static const char *doubt(trainer *t, tensor_id id, int nusers)
{
	graph_builder *b = t->b;
	const tensor_type *type = graph_type(b, id);
	if (tensor_nelem(type) == 1 && t->o->only.n == 0)
		return "one number";
	bool uniform = (nusers > 1 || type->ndim > 1) && is_uniform(b, id);
	if (nusers > 1)
		return arena_printf(b->tmp, "%sread by %d nodes",
				    uniform ? "all equal, " : "", nusers);
	return uniform ? "all equal" : NULL;
}

enum { FEW = 8 };

/* Names for a message: the first FEW, each with a reason. */
typedef struct names {
	const char *text;
	int count;
} names;

static void add_name(trainer *t, names *to, const char *name, const char *why)
{
	if (to->count++ < FEW)
		to->text = arena_printf(t->b->tmp, "%s%s'%s' (%s)", to->text,
					to->count > 1 ? ", " : "", name, why);
}

static const char *names_text(trainer *t, const names *x)
{
	return x->count <= FEW ? x->text :
		arena_printf(t->b->tmp, "%s and %d more", x->text,
			     x->count - FEW);
}

void train_doubt(trainer *t)
{
	graph_builder *b = t->b;
	users u = find_users(t);
	names doubted = { "", 0 }, folded = { "", 0 };
	for (int i = 0; i < t->ntensors; i++) {
		const tensor *x = graph_tensor(b, i);
		const char *why;
		if (!x->parameter || x->kind != TENSOR_CONSTANT ||
		    !t->flow[i].wanted)
			continue;
		if (x->folded_from)
			add_name(t, &folded, x->name, x->folded_from);
		else if (!is_named(&t->o->only, x->name) &&
			 (why = doubt(t, i, u.count[i])))
			add_name(t, &doubted, x->name, why);
	}
	if (doubted.count > 0)
		diag_warning_in(b->sink, DIAG_TRAINED_CONSTANT, b->name,
				"some trained initializers may be constants, "
				"or weights that were merged: %s; %s keeps "
				"tensors from being trained",
				names_text(t, &doubted),
				diag_option(b->sink, "freeze"));
	if (folded.count > 0)
		diag_warning_in(b->sink, DIAG_TRAINED_CONSTANT, b->name,
				"the exporter has computed trained "
				"initializers of the network's weights, whose "
				"names no checkpoint will have: %s; "
				"torch.onnx.export(.., optimize=False) keeps "
				"them", names_text(t, &folded));
}

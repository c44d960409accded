/* Computes the constants that a plan folded from weights, from weights that are
 * given. */
#include "config.h"

#include "compiler/export/jax_constant.h"
#include "compiler/export/jax_expr.h"
#include "compiler/export/jax_names.h"
#include "compiler/export/jax_writer.h"

/* The text for an input of a fold: a weight, a constant, or the result of an
 * earlier fold. */
static const char *source(jax_writer *w, const strmap *made, int tensor)
{
	plan_tensor t = w->p->tensors[tensor];
	if (strmap_get(made, t.name))
		return jax_tensor_name(w, tensor);
	if (t.role == PLAN_STATE)
		return arena_printf(w->a, "jnp.asarray(weights[%s])",
				    jax_string(w->a, t.name));
	t.constant = w->p->tensors[plan_constant_of(w->p, tensor)].constant;
	return arena_printf(w->a, "jnp.asarray(%s)",
			    jax_constant(w->a, &t, w->folder));
}

static void write_one(jax_writer *w, const plan_fold *f, const strmap *made)
{
	const plan_tensor *to = &w->p->tensors[f->output];
	const char *s = "";
	for (int i = 0; i < f->ninputs; i++)
		s = arena_printf(w->a, "%s%s%s", s, i ? ", " : "",
				 source(w, made, f->inputs[i]));
	s = f->kernel ? arena_printf(w->a, "%s(%s)",
				     jax_write_kernel(w, f->kernel), s)
		      : arena_printf(w->a, "%s.reshape%s", s,
				     to->ndim ? jax_tuple(w->a, to->ndim,
							  to->dims) : "(())");
	SAY("    %s = %s\n", jax_tensor_name(w, f->output), s);
}

/* Writes the folds.  Stages that have the same constant compute it from the
 * same weights. */
static void write_folds(jax_writer *w, strmap *made)
{
	for (int i = 0; i < w->p->nfolds; i++) {
		const plan_fold *f = &w->p->folds[i];
		const plan_tensor *to = &w->p->tensors[f->output];
		if (strmap_get(made, to->name))
			continue;
		write_one(w, f, made);
		strmap_put(made, to->name, w);
	}
}

/* Writes those of them that are states. */
static void write_made(jax_writer *w, strmap *written)
{
	for (int i = 0; i < w->p->nfolds; i++) {
		int t = w->p->folds[i].output;
		const char *name = w->p->tensors[t].name;
		if (jax_is_state(w, t) && !strmap_get(written, name))
			SAY("        %s: %s,\n", jax_string(w->a, name),
			    jax_tensor_name(w, t));
		if (jax_is_state(w, t))
			strmap_put(written, name, w);
	}
}

void jax_write_fold(jax_writer *w)
{
	strmap *made = strmap_new(w->a), *written = strmap_new(w->a);
	for (int s = 0; s < w->all->nstages; s++) {
		jax_enter(w, s);
		for (int i = 0; i < w->p->nfolds; i++)
			if (w->p->folds[i].kernel)
				jax_write_kernel(w, w->p->folds[i].kernel);
	}
	SAY("\n\ndef fold(weights):\n"
	    "    \"\"\"The states that the plan has computed of weights."
	    "\"\"\"\n");
	for (int s = 0; s < w->all->nstages; s++) {
		jax_enter(w, s);
		write_folds(w, made);
	}
	SAY("    return {\n");
	for (int s = 0; s < w->all->nstages; s++) {
		jax_enter(w, s);
		write_made(w, written);
	}
	SAY("    }\n");
}

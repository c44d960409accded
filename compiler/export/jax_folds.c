/* The constants that a plan has folded of weights, computed of given ones. */
#include "config.h"

#include "compiler/export/jax_constant.h"
#include "compiler/export/jax_expr.h"
#include "compiler/export/jax_names.h"
#include "compiler/export/jax_writer.h"

/* An input of a fold: a weight, a constant, or the output of one before. */
static const char *source(jax_writer *w, const bool *made, int tensor)
{
	plan_tensor t = w->p->tensors[tensor];
	if (made[tensor])
		return w->names[tensor];
	if (t.role == PLAN_STATE)
		return arena_printf(w->a, "jnp.asarray(weights[%s])",
				    jax_string(w->a, t.name));
	t.constant = w->p->tensors[plan_constant_of(w->p, tensor)].constant;
	return arena_printf(w->a, "jnp.asarray(%s)",
			    jax_constant(w->a, &t, w->folder));
}

static void write_one(jax_writer *w, const plan_fold *f, const char *function,
		      const bool *made)
{
	const plan_tensor *to = &w->p->tensors[f->output];
	const char *s = "";
	for (int i = 0; i < f->ninputs; i++)
		s = arena_printf(w->a, "%s%s%s", s, i ? ", " : "",
				 source(w, made, f->inputs[i]));
	s = function ? arena_printf(w->a, "%s(%s)", function, s)
		     : arena_printf(w->a, "%s.reshape%s", s,
				    to->ndim ? jax_tuple(w->a, to->ndim,
							 to->dims) : "(())");
	w->names[f->output] = jax_name(w->a, w->taken, to->name);
	SAY("    %s = %s\n", w->names[f->output], s);
}

void jax_write_fold(jax_writer *w)
{
	const plan *p = w->p;
	bool *made = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	const char **of = ARENA_ARRAY(w->a, const char *, p->nfolds + 1);
	for (int i = 0; i < p->nfolds; i++)
		if (p->folds[i].kernel)
			of[i] = jax_write_kernel(w, p->folds[i].kernel);
	SAY("\n\ndef fold(weights):\n"
	    "    \"\"\"The states that the plan has computed of weights."
	    "\"\"\"\n");
	for (int i = 0; i < p->nfolds; i++) {
		write_one(w, &p->folds[i], of[i], made);
		made[p->folds[i].output] = true;
	}
	SAY("    return {\n");
	for (int i = 0; i < p->nfolds; i++) {
		int t = p->folds[i].output;
		if (jax_is_state(w, t))
			SAY("        %s: %s,\n",
			    jax_string(w->a, p->tensors[t].name), w->names[t]);
	}
	SAY("    }\n");
}

/* The functions of a module: the nodes of a plan in its order. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/export/jax_constant.h"
#include "compiler/export/jax_expr.h"
#include "compiler/export/jax_layout.h"
#include "compiler/export/jax_names.h"
#include "compiler/export/jax_turn.h"
#include "compiler/export/jax_writer.h"
#include "layout/layout_text.h"

/* ---- nodes ------------------------------------------------------------- */

static const char *pin(jax_writer *w, const char *s, const jax_spec *x)
{
	return x->ndim == 0 ? s : arena_printf(w->a, "pin(%s, %s)", s,
					       jax_spec_text(w->a, w->p, x));
}

/* The value of a node's input, or the turn's part of it. */
static const char *turn_part(jax_writer *w, int node, int i)
{
	const jax_turn *t = w->of.turns[node];
	const char *s = w->of.names[w->p->nodes[node].inputs[i]];
	if (!t || !(t->cut >> i & 1))
		return s;
	return arena_printf(w->a, "part(%s, %d, %s, %" PRId64 ")", s,
			    t->dim[i], w->number,
			    t->kernel.inputs[i].dims[t->dim[i]]);
}

/* An argument: the tensor as it is stored, or with another layout. */
static const char *print_input(jax_writer *w, const plan_instr *in, int i)
{
	const plan_node *n = &w->p->nodes[in->node];
	int t = n->inputs[i];
	const char *s = turn_part(w, in->node, i);
	jax_spec stored = jax_stored(w->p, t);
	if (w->p->buffers[in->inputs[i]].region == LAYOUT_STORED)
		return s;
	jax_spec needed = jax_needed(w->p, n, t);
	if (stored.partial || jax_same(w->p, &stored, &needed))
		return s;
	return pin(w, s, &needed);
}

/* The name for a value, which exists from now on. */
static const char *result_name(jax_writer *w, int t)
{
	w->of.there[t] = true;
	return jax_tensor_name(w, t);
}

/* The place from which a function gets the value of a given tensor. */
static const char *source(jax_writer *w, int t)
{
	const plan_tensor *x = &w->p->tensors[t];
	const char *from = w->given ? "given" :
		jax_is_state(w, t) ? "state" : "inputs";
	return arena_printf(w->a, "%s[%s]", from, jax_string(w->a, x->name));
}

/* Writes the value of a tensor given to the function.  If turns divide it,
 * these are all parts, or only the turn's in a part of a stage. */
static void write_given(jax_writer *w, int t)
{
	const plan_tensor *x = &w->p->tensors[t];
	jax_spec stored = jax_stored(w->p, t);
	bool known = x->role == PLAN_CONSTANT && !jax_is_state(w, t);
	if (w->of.there[t])
		return;
	const char *name = result_name(w, t);
	const char *s = !known ? source(w, t) :
		arena_printf(w->a, "jnp.asarray(%s)",
			     jax_constant(w->a, x, w->folder));
	if (!known && !stored.partial && (w->given || !plan_in_turns(w->p, t)))
		s = pin(w, s, &stored);
	if (!known && w->given)
		vec_push(w->a, w->given, t);
	SAY("%s%s = %s\n", w->indent, name, s);
}

/* "i over a0, k over a1" */
static const char *division(jax_writer *w, const plan_node *n)
{
	const kernel *k = w->p->kernels[n->kernel].kernel;
	const char *s = "";
	for (int a = 0; a < w->p->mesh.naxes; a++) {
		int v = n->cuts.dim[a];
		if (v != CUT_NONE)
			s = arena_printf(w->a, "%s%s%s over a%d", s,
					 *s ? ", " : ": ",
					 layout_division_text(w->a, k, v), a);
	}
	return s;
}

void jax_write_node(jax_writer *w, const plan_instr *in)
{
	const plan_node *n = &w->p->nodes[in->node];
	const plan_kernel *k = &w->p->kernels[n->kernel];
	for (int i = 0; i < k->kernel->ninputs; i++)
		if (w->given ||
		    w->p->tensors[n->inputs[i]].role != PLAN_RESULT)
			write_given(w, n->inputs[i]);
	const char *s = arena_printf(w->a, "%s(", w->of.functions[in->node]);
	for (int i = 0; i < k->kernel->ninputs; i++)
		s = arena_printf(w->a, "%s%s%s", s, i ? ", " : "",
				 print_input(w, in, i));
	if (w->of.turns[in->node] && w->of.turns[in->node]->counts)
		s = arena_printf(w->a, "%s%s%s", s,
				 k->kernel->ninputs ? ", " : "", w->number);
	s = arena_printf(w->a, "%s)", s);
	jax_spec stored = jax_stored(w->p, n->output);
	jax_spec made = jax_combined(w->p, n);
	if (!stored.partial && !jax_same(w->p, &made, &stored))
		s = pin(w, s, &made);
	if (!stored.partial)
		s = pin(w, s, &stored);
	const char *name = result_name(w, n->output);
	SAY("%s# %s%s\n%s%s = %s\n", w->indent, jax_comment(w->a, n->name),
	    jax_comment(w->a, division(w, n)), w->indent, name, s);
}

/* ---- the two functions ------------------------------------------------- */

static void find_forward(jax_writer *w)
{
	const plan *p = w->p;
	bool *wanted = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	for (int i = 0; i < p->ntensors; i++)
		wanted[i] = p->tensors[i].output;
	for (int i = p->ninstrs - 1; i >= 0; i--) {
		const plan_instr *in = &p->program[i];
		const plan_node *n = &p->nodes[in->op == PLAN_RUN ? in->node
								  : 0];
		if (in->op != PLAN_RUN || !wanted[n->output])
			continue;
		w->forward[in->node] = true;
		for (int j = 0; j < p->kernels[n->kernel].kernel->ninputs; j++)
			wanted[n->inputs[j]] = true;
	}
}

/* The node of an instruction that is run in this part of a step; -1 if there is
 * none. */
static int node_of(const jax_writer *w, int i, bool forward)
{
	const plan_instr *in = &w->p->program[i];
	return in->op == PLAN_RUN && w->forward[in->node] == forward ? in->node
								      : -1;
}

static void write_nodes(jax_writer *w, bool forward)
{
	for (int i = 0; i < w->p->ninstrs; i++)
		if (node_of(w, i, forward) >= 0)
			jax_write_node(w, &w->p->program[i]);
}

static void mark_inputs(const jax_writer *w, int node, bool *uses)
{
	const plan_node *n = &w->p->nodes[node];
	for (int j = 0; j < w->p->kernels[n->kernel].kernel->ninputs; j++)
		uses[n->inputs[j]] = true;
}

static void mark_next(const jax_writer *w, bool *uses)
{
	for (int i = 0; i < w->p->ntensors; i++) {
		const plan_tensor *t = &w->p->tensors[i];
		if (t->role == PLAN_STATE && t->next >= 0)
			uses[t->next] = true;
	}
}

/* The tensors that the forward part makes and the rest reads, as a tuple. */
static const char *saved(jax_writer *w)
{
	const plan *p = w->p;
	bool *uses = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	const char *s = "";
	for (int i = 0; i < p->ninstrs; i++)
		if (node_of(w, i, false) >= 0)
			mark_inputs(w, node_of(w, i, false), uses);
	mark_next(w, uses);
	for (int i = 0; i < p->ntensors; i++)
		if (uses[i] && w->of.there[i] &&
		    p->tensors[i].role == PLAN_RESULT)
			s = arena_printf(w->a, "%s\n        %s,", s,
					 w->of.names[i]);
	return *s ? arena_printf(w->a, "(%s\n    )", s) : "()";
}

static void write_outputs(jax_writer *w)
{
	SAY("    outputs = {\n");
	for (int i = 0; i < w->p->noutputs; i++) {
		int t = w->p->outputs[i];
		if (w->p->tensors[t].role != PLAN_RESULT)
			write_given(w, t);
		SAY("        %s: %s,\n",
		    jax_string(w->a, w->p->tensors[t].name), w->of.names[t]);
	}
	SAY("    }\n");
}

static void write_states(jax_writer *w)
{
	SAY("    return {**state,\n");
	for (int i = 0; i < w->p->ntensors; i++) {
		const plan_tensor *t = &w->p->tensors[i];
		if (t->role == PLAN_STATE && t->next >= 0)
			SAY("            %s: %s,\n", jax_string(w->a, t->name),
			    w->of.names[t->next]);
	}
	SAY("            }, outputs\n");
}

/* Functions do not share what they are given. */
static void forget_given(jax_writer *w)
{
	for (int i = 0; i < w->p->ntensors; i++)
		if (w->p->tensors[i].role != PLAN_RESULT)
			w->of.there[i] = false;
}

static void write_straight(jax_writer *w)
{
	SAY("\n\ndef _forward(state, inputs, pin):\n"
	    "    # The outputs, and what the rest of a step reads.\n");
	write_nodes(w, true);
	for (int i = 0; i < w->p->noutputs; i++)
		if (w->p->tensors[w->p->outputs[i]].role != PLAN_RESULT)
			write_given(w, w->p->outputs[i]);
	write_outputs(w);
	const char *rest = saved(w);
	SAY("    return outputs, %s\n", rest);
	SAY("\n\ndef forward(state, inputs, pin=unpinned):\n"
	    "    \"\"\"The outputs.\"\"\"\n"
	    "    return _forward(state, inputs, pin)[0]\n");
	SAY("\n\ndef step(state, inputs, pin=unpinned):\n"
	    "    \"\"\"The states after a step, and the outputs of it.\"\"\"\n"
	    "    outputs, saved = _forward(state, inputs, pin)\n");
	if (strcmp(rest, "()"))
		SAY("    %s = saved\n", rest);
	forget_given(w);
	write_nodes(w, false);
	write_states(w);
}

/* ---- micro-batches ----------------------------------------------------- */

/* The values that go from one part to the next in a function with a loop over
 * turns. */
typedef struct looped {
	/* the whole step; otherwise what outputs depend on */
	bool all;
	jax_tensors given; /* inputs whose parts the turns get */
	/* values for the first turn that differ in the next one; 0 if a turn
	 * sets them */
	jax_tensors first;
	jax_tensors next;  /* .. and the results that replace them */
	jax_tensors parts; /* outputs that turns divide */
} looped;

static bool runs(const jax_writer *w, const looped *f, int i)
{
	return node_of(w, i, true) >= 0 ||
	       (f->all && node_of(w, i, false) >= 0);
}

static void add_tensor(jax_writer *w, jax_tensors *to, int t)
{
	vec_push(w->a, to, t);
}

/* Marks the tensors that instructions [from, to) of the function read or
 * make. */
static void mark_read(const jax_writer *w, const looped *f, int from, int to,
		      bool *uses)
{
	for (int i = from; i < to; i++)
		if (runs(w, f, i))
			mark_inputs(w, w->p->program[i].node, uses);
}

static void mark_made(const jax_writer *w, const looped *f, int from, int to,
		      bool *made)
{
	for (int i = from; i < to; i++)
		if (runs(w, f, i))
			made[w->p->nodes[w->p->program[i].node].output] = true;
}

int jax_first_of(const plan *p, int t)
{
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i].then == t && p->tensors[i].role ==
						       PLAN_RESULT)
			return i;
	return -1;
}

static looped find_looped(jax_writer *w, bool all)
{
	const plan *p = w->p;
	looped f = { .all = all };
	bool *reads = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	bool *makes = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	bool *behind = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	mark_read(w, &f, p->loop.begin, p->loop.end, reads);
	mark_made(w, &f, p->loop.begin, p->loop.end, makes);
	mark_read(w, &f, p->loop.end, p->ninstrs, behind);
	if (all)
		mark_next(w, behind);
	for (int t = 0; t < p->ntensors; t++) {
		int first = makes[t] ? jax_first_of(p, t) : -1;
		if (p->tensors[t].role == PLAN_INPUT && reads[t] &&
		    plan_in_turns(p, t))
			add_tensor(w, &f.given, t);
		if (makes[t] && p->tensors[t].output && plan_in_turns(p, t))
			add_tensor(w, &f.parts, t);
		else if (first >= 0 || (makes[t] && (behind[t] ||
						     p->tensors[t].output))) {
			add_tensor(w, &f.first, first);
			add_tensor(w, &f.next, t);
		}
	}
	return f;
}

/* "(x, y,)" */
static const char *tuple(jax_writer *w, const jax_tensors *x)
{
	const char *s = "(";
	for (int i = 0; i < x->n; i++)
		s = arena_printf(w->a, "%s%s%s,", s, i ? " " : "",
				 result_name(w, x->at[i]));
	return arena_printf(w->a, "%s)", s);
}

/* The tuple with which the first turn starts: names, or zeros. */
static const char *first_values(jax_writer *w, const looped *f, bool zeros)
{
	const char *s = "(";
	for (int i = 0; i < f->first.n; i++) {
		int t = f->first.at[i];
		const plan_tensor *x = &w->p->tensors[f->next.at[i]];
		const char *v = t >= 0 ? result_name(w, t) : !zeros ? "_" :
			arena_printf(w->a, "jnp.zeros(%s)",
				     jax_shape_and_type(w->a, x));
		s = arena_printf(w->a, "%s%s%s,", s, i ? " " : "", v);
	}
	return arena_printf(w->a, "%s)", s);
}

static void write_section(jax_writer *w, const looped *f, int from, int to)
{
	for (int i = from; i < to; i++)
		if (runs(w, f, i))
			jax_write_node(w, &w->p->program[i]);
}

/* Writes given tensors that are the same in all turns. */
static void write_kept(jax_writer *w, const looped *f)
{
	const plan *p = w->p;
	bool *reads = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	mark_read(w, f, p->loop.begin, p->loop.end, reads);
	for (int t = 0; t < p->ntensors; t++)
		if (reads[t] && p->tensors[t].role != PLAN_RESULT &&
		    !plan_in_turns(p, t))
			write_given(w, t);
}

/* Writes def turn(values, now).  It gets the values of the turn before, and the
 * turn's number and parts of inputs.  It returns the values for the next turn,
 * and parts of outputs. */
static void write_turn(jax_writer *w, const looped *f, const char *name)
{
	const plan *p = w->p;
	SAY("\n    def %s(values, now):\n", name);
	w->indent = "        ";
	SAY("%s%s, %s = now\n", w->indent, w->number, tuple(w, &f->given));
	SAY("%s%s = values\n", w->indent, first_values(w, f, false));
	for (int i = 0; i < f->given.n; i++) {
		int t = f->given.at[i];
		jax_spec stored = jax_stored(p, t);
		SAY("%s%s = %s\n", w->indent, w->of.names[t],
		    pin(w, w->of.names[t], &stored));
	}
	write_section(w, f, p->loop.begin, p->loop.end);
	SAY("%sreturn %s, %s\n\n", w->indent, tuple(w, &f->next),
	    tuple(w, &f->parts));
	w->indent = "    ";
}

/* Names belong to one function. */
static void forget_all(jax_writer *w)
{
	memset(w->of.there, 0, (size_t)w->p->ntensors * sizeof(*w->of.there));
}

static void write_loop(jax_writer *w, bool all, const char *turn)
{
	const plan *p = w->p;
	looped f = find_looped(w, all);
	forget_all(w);
	write_section(w, &f, 0, p->loop.begin);
	write_kept(w, &f);
	const char *given = "";
	for (int i = 0; i < f.given.n; i++)
		given = arena_printf(
			w->a, "%s%sinputs[%s],", given, i ? " " : "",
			jax_string(w->a, p->tensors[f.given.at[i]].name));
	write_turn(w, &f, turn);
	SAY("    %s, %s = lax.scan(\n        %s, %s,\n"
	    "        (jnp.arange(TURNS), (%s)))\n", tuple(w, &f.next),
	    tuple(w, &f.parts), turn, first_values(w, &f, true), given);
	for (int i = 0; i < f.given.n; i++)
		w->of.there[f.given.at[i]] = false;
	write_section(w, &f, p->loop.end, p->ninstrs);
	write_outputs(w);
}

static void write_looped(jax_writer *w)
{
	const char *turn = jax_name(w->a, w->taken, "turn");
	w->number = jax_name(w->a, w->taken, "number");
	SAY("\n\ndef forward(state, inputs, pin=unpinned):\n"
	    "    \"\"\"The outputs.\"\"\"\n");
	write_loop(w, false, turn);
	SAY("    return outputs\n");
	SAY("\n\ndef step(state, inputs, pin=unpinned):\n"
	    "    \"\"\"The states after a step, and the outputs of it."
	    "\"\"\"\n");
	write_loop(w, true, turn);
	write_states(w);
}

void jax_write_steps(jax_writer *w)
{
	SAY("\n\n# ---- the model ----\n");
	w->forward = ARENA_ARRAY(w->a, bool, w->p->nnodes + 1);
	find_forward(w);
	if (w->p->loop.turns)
		write_looped(w);
	else
		write_straight(w);
}

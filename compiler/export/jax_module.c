#include "config.h"

#include "compiler/export/jax_module.h"

#include <inttypes.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/export/jax_constant.h"
#include "compiler/export/jax_kernel.h"
#include "compiler/export/jax_layout.h"
#include "compiler/export/jax_names.h"
#include "layout/layout_text.h"

typedef struct writer {
	arena *a;
	const plan *p;
	const char *folder;
	strmap *taken;
	strmap *written; /* names of functions by their text */
	const char **functions; /* by kernel; NULL: not used */
	const char **names;	/* by tensor; NULL: not yet */
	bool *forward;		/* by node: what the outputs depend on */
	bool *there; /* by tensor: it has a value in the function so far */
	VEC(char) text;
} writer;

static void say(writer *w, const char *s)
{
	for (; *s; s++)
		vec_push(w->a, &w->text, *s);
}

#define SAY(...) say(w, arena_printf(w->a, __VA_ARGS__))

/* ---- what can be written ----------------------------------------------- */

static bool refuse(const plan *p, diag_sink *s, const char *why)
{
	diag_error_in(s, DIAG_NO_JAX, p->model, "%s", why);
	return false;
}

static bool has_types(arena *a, const plan *p, diag_sink *s)
{
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		if (!jax_type(t->type))
			return refuse(p, s, arena_printf(
				a, "JAX has no elements of the type %s, which "
				"'%s' has", dtype_name(t->type), t->name));
	}
	return true;
}

static bool can_be_written(arena *a, const plan *p, diag_sink *s)
{
	if (p->stage)
		return refuse(p, s, "a module for JAX runs no plan of several "
			      "stages");
	if (p->loop.turns)
		return refuse(p, s, "a module for JAX runs no plan with "
			      "micro-batches");
	return has_types(a, p, s);
}

/* ---- kernels ----------------------------------------------------------- */

/* Kernels of other shapes, whose text is the same, are one function. */
static void write_kernel(writer *w, int kernel_number)
{
	const kernel *k = w->p->kernels[kernel_number].kernel;
	strmap *taken = jax_names(w->a);
	const char *inputs[MAX_NINPUTS], *params = "";
	for (int i = 0; i < k->ninputs; i++) {
		inputs[i] = jax_name(w->a, taken, k->inputs[i].name);
		params = arena_printf(w->a, "%s%s%s", params, i ? ", " : "",
				      inputs[i]);
	}
	const char *body = jax_kernel_text(w->a, k, inputs);
	const char *key = arena_printf(w->a, "%s(%s): %s", k->name, params,
				       body);
	const char *name = strmap_get(w->written, key);
	if (!name) {
		name = jax_name(w->a, w->taken, k->name);
		strmap_put(w->written, key, arena_strdup(w->a, name));
		SAY("\n\ndef %s(%s):\n    # %s\n    return %s\n", name, params,
		    jax_comment(w->a, kernel_text(w->a, k)), body);
	}
	w->functions[kernel_number] = name;
}

static void write_kernels(writer *w)
{
	for (int i = 0; i < w->p->ninstrs; i++) {
		const plan_instr *in = &w->p->program[i];
		if (in->op != PLAN_RUN)
			continue;
		int k = w->p->nodes[in->node].kernel;
		if (!w->functions[k])
			write_kernel(w, k);
	}
}

/* ---- tables ------------------------------------------------------------ */

/* Whether the caller keeps it from step to step: states, and weights that no
 * step changes, but those from which constants alone follow. */
static bool is_state(const plan_tensor *t)
{
	return t->buffer >= 0 &&
	       (t->role == PLAN_STATE ||
		(t->role == PLAN_CONSTANT &&
		 t->constant.kind != PLAN_CONST_FILL));
}

static bool is_input(const plan_tensor *t)
{
	return t->role == PLAN_INPUT;
}

static bool is_output(const plan_tensor *t)
{
	return t->output;
}

/* Name, shape, type and layout of the tensors of a kind. */
static void write_table(writer *w, const char *name,
			bool (*is)(const plan_tensor *))
{
	SAY("\n%s = {\n", name);
	for (int i = 0; i < w->p->ntensors; i++) {
		const plan_tensor *t = &w->p->tensors[i];
		if (!is(t))
			continue;
		jax_spec x = jax_stored(w->p, i);
		SAY("    %s: (%s, (%s%s)),\n", jax_string(w->a, t->name),
		    jax_shape_and_type(w->a, t),
		    jax_spec_text(w->a, w->p, &x), t->ndim == 1 ? "," : "");
	}
	SAY("}\n");
}

static void write_initial(writer *w, const char *name,
			  bool (*is)(const plan_tensor *))
{
	SAY("\n%s = {\n", name);
	for (int i = 0; i < w->p->ntensors; i++) {
		const plan_tensor *t = &w->p->tensors[i];
		if (is(t) && (t->role != PLAN_INPUT ||
			      t->constant.kind != PLAN_CONST_NONE))
			SAY("    %s: lambda: %s,\n", jax_string(w->a, t->name),
			    jax_constant(w->a, t, w->folder));
	}
	SAY("}\n");
}

static void write_tables(writer *w)
{
	const mesh *m = &w->p->mesh;
	SAY("\n# The mesh of devices: the sizes of its axes, the outermost "
	    "first.\nMESH = {");
	for (int i = 0; i < m->naxes; i++)
		SAY("%s\"a%d\": %d", i ? ", " : "", i, m->size[i]);
	SAY("}\n\n# What all devices receive in a step by the plan, bytes.\n"
	    "RECEIVED = %" PRId64 "\n", w->p->communication_bytes);
	SAY("\n# Shape, type, and the axes that divide each dimension.");
	write_table(w, "STATES", is_state);
	write_table(w, "INPUTS", is_input);
	write_table(w, "OUTPUTS", is_output);
	SAY("\n# The states before the first step; what inputs are by "
	    "default.");
	write_initial(w, "INITIAL", is_state);
	write_initial(w, "DEFAULTS", is_input);
}

/* ---- nodes ------------------------------------------------------------- */

static const char *pin(writer *w, const char *s, const jax_spec *x)
{
	return x->ndim == 0 ? s : arena_printf(w->a, "pin(%s, %s)", s,
					       jax_spec_text(w->a, w->p, x));
}

/* An argument: the tensor as it is stored, or laid out anew. */
static const char *print_input(writer *w, const plan_instr *in, int i)
{
	const plan_node *n = &w->p->nodes[in->node];
	int t = n->inputs[i];
	jax_spec stored = jax_stored(w->p, t);
	if (w->p->buffers[in->inputs[i]].region == LAYOUT_STORED)
		return w->names[t];
	jax_spec needed = jax_needed(w->p, n, t);
	if (stored.partial || jax_same(w->p, &stored, &needed))
		return w->names[t];
	return pin(w, w->names[t], &needed);
}

/* The value of a tensor that is given to the function. */
static void write_given(writer *w, int t)
{
	const plan_tensor *x = &w->p->tensors[t];
	jax_spec stored = jax_stored(w->p, t);
	if (w->there[t])
		return;
	w->there[t] = true;
	w->names[t] = w->names[t] ? w->names[t] :
		jax_name(w->a, w->taken, x->name);
	if (!is_state(x) && !is_input(x))
		SAY("    %s = jnp.asarray(%s)\n", w->names[t],
		    jax_constant(w->a, x, w->folder));
	else
		SAY("    %s = %s\n", w->names[t],
		    pin(w, arena_printf(w->a, "%s[%s]", is_state(x) ? "state"
					: "inputs",
					jax_string(w->a, x->name)), &stored));
}

/* "i over a0, k over a1" */
static const char *division(writer *w, const plan_node *n)
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

static void write_node(writer *w, const plan_instr *in)
{
	const plan_node *n = &w->p->nodes[in->node];
	const plan_kernel *k = &w->p->kernels[n->kernel];
	for (int i = 0; i < k->kernel->ninputs; i++)
		if (w->p->tensors[n->inputs[i]].role != PLAN_RESULT)
			write_given(w, n->inputs[i]);
	const char *s = arena_printf(w->a, "%s(", w->functions[n->kernel]);
	for (int i = 0; i < k->kernel->ninputs; i++)
		s = arena_printf(w->a, "%s%s%s", s, i ? ", " : "",
				 print_input(w, in, i));
	s = arena_printf(w->a, "%s)", s);
	jax_spec stored = jax_stored(w->p, n->output);
	jax_spec made = jax_produced(w->p, n);
	if (!made.partial && !stored.partial &&
	    !jax_same(w->p, &made, &stored))
		s = pin(w, s, &made);
	if (!stored.partial)
		s = pin(w, s, &stored);
	w->names[n->output] = jax_name(w->a, w->taken,
				       w->p->tensors[n->output].name);
	w->there[n->output] = true;
	SAY("    # %s%s\n    %s = %s\n", jax_comment(w->a, n->name),
	    jax_comment(w->a, division(w, n)), w->names[n->output], s);
}

/* ---- the two functions ------------------------------------------------- */

static void find_forward(writer *w)
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

static void write_nodes(writer *w, bool forward)
{
	for (int i = 0; i < w->p->ninstrs; i++)
		if (w->p->program[i].op == PLAN_RUN &&
		    w->forward[w->p->program[i].node] == forward)
			write_node(w, &w->p->program[i]);
}

/* The tensors that the forward part makes and the rest reads, as a tuple. */
static const char *saved(writer *w)
{
	const plan *p = w->p;
	bool *uses = ARENA_ARRAY(w->a, bool, p->ntensors + 1);
	const char *s = "";
	for (int i = 0; i < p->ninstrs; i++) {
		const plan_instr *in = &p->program[i];
		if (in->op != PLAN_RUN || w->forward[in->node])
			continue;
		const plan_node *n = &p->nodes[in->node];
		for (int j = 0; j < p->kernels[n->kernel].kernel->ninputs; j++)
			uses[n->inputs[j]] = true;
	}
	for (int i = 0; i < p->ntensors; i++)
		if (p->tensors[i].role == PLAN_STATE && p->tensors[i].next >= 0)
			uses[p->tensors[i].next] = true;
	for (int i = 0; i < p->ntensors; i++)
		if (uses[i] && w->there[i] && p->tensors[i].role == PLAN_RESULT)
			s = arena_printf(w->a, "%s\n        %s,", s,
					 w->names[i]);
	return *s ? arena_printf(w->a, "(%s\n    )", s) : "()";
}

static void write_outputs(writer *w)
{
	SAY("    outputs = {\n");
	for (int i = 0; i < w->p->noutputs; i++) {
		int t = w->p->outputs[i];
		if (w->p->tensors[t].role != PLAN_RESULT)
			write_given(w, t);
		SAY("        %s: %s,\n",
		    jax_string(w->a, w->p->tensors[t].name), w->names[t]);
	}
	SAY("    }\n");
}

static void write_states(writer *w)
{
	SAY("    return {**state,\n");
	for (int i = 0; i < w->p->ntensors; i++) {
		const plan_tensor *t = &w->p->tensors[i];
		if (t->role == PLAN_STATE && t->next >= 0)
			SAY("            %s: %s,\n", jax_string(w->a, t->name),
			    w->names[t->next]);
	}
	SAY("            }, outputs\n");
}

/* Functions do not share what they are given. */
static void forget_given(writer *w)
{
	for (int i = 0; i < w->p->ntensors; i++)
		if (w->p->tensors[i].role != PLAN_RESULT)
			w->there[i] = false;
}

static void write_functions(writer *w)
{
	SAY("\n\n# ---- the model ----\n\n\ndef _forward(state, inputs, pin):\n"
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

static void write_head(writer *w)
{
	const plan *p = w->p;
	SAY("\"\"\"The model '%s' for %d devices, as '%s' divides it.\n\n"
	    "    mesh = make_mesh()\n"
	    "    step = compile_step(mesh)\n"
	    "    state = initial_state(mesh)\n"
	    "    state, outputs = step(state, {**defaults(), ...})\n"
	    "\"\"\"\n", jax_comment(w->a, p->model), mesh_workers(&p->mesh),
	    jax_comment(w->a, p->algorithm));
	say(w, jax_prelude());
}

char *jax_module(arena *a, const plan *p, const char *folder, diag_sink *s)
{
	writer own = { .a = a, .p = p, .folder = folder,
		       .taken = jax_names(a), .written = strmap_new(a),
		       .functions = ARENA_ARRAY(a, const char *,
						p->nkernels + 1),
		       .names = ARENA_ARRAY(a, const char *, p->ntensors + 1),
		       .forward = ARENA_ARRAY(a, bool, p->nnodes + 1),
		       .there = ARENA_ARRAY(a, bool, p->ntensors + 1) };
	writer *w = &own;
	if (!can_be_written(a, p, s))
		return NULL;
	write_head(w);
	SAY("\n\n# ---- the plan ----\n");
	write_tables(w);
	SAY("\n\n# ---- kernels ----\n");
	write_kernels(w);
	find_forward(w);
	write_functions(w);
	SAY("\n\nif __name__ == \"__main__\":\n    main()\n");
	vec_push(a, &w->text, '\0');
	return w->text.at;
}

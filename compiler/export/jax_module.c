#include "config.h"

#include "compiler/export/jax_module.h"

#include <inttypes.h>
#include <string.h>

#include "compiler/export/jax_constant.h"
#include "compiler/export/jax_kernel.h"
#include "compiler/export/jax_layout.h"
#include "compiler/export/jax_names.h"
#include "compiler/export/jax_turn.h"
#include "compiler/export/jax_writer.h"

void jax_say(jax_writer *w, const char *s)
{
	for (; *s; s++)
		vec_push(w->a, &w->text, *s);
}

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
	if (p->loop.turns && p->loop.batch % p->loop.turns)
		return refuse(p, s, arena_printf(
			a, "a module for JAX has micro-batches of one size, "
			"and %d of %" PRId64 " samples have not",
			p->loop.turns, p->loop.batch));
	return has_types(a, p, s);
}

/* ---- kernels ----------------------------------------------------------- */

/* Kernels of other shapes, whose text is the same, are one function. */
const char *jax_write_kernel(jax_writer *w, const kernel *k)
{
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
	if (name)
		return name;
	name = jax_name(w->a, w->taken, k->name);
	strmap_put(w->written, key, arena_strdup(w->a, name));
	SAY("\n\ndef %s(%s):\n    # %s\n    return %s\n", name, params,
	    jax_comment(w->a, kernel_text(w->a, k)), body);
	return name;
}

/* The function of a node that time divides, of a turn's part. */
static bool write_turn(jax_writer *w, int node, diag_sink *s)
{
	const plan *p = w->p;
	jax_turn *t = ARENA_NEW(w->a, jax_turn);
	if (!jax_turn_of(w->a, p, &p->nodes[node], t))
		return refuse(p, s, arena_printf(
			w->a, "a module for JAX has no function of a "
			"micro-batch of '%s'", p->nodes[node].name));
	w->turns[node] = t;
	w->functions[node] = jax_write_kernel(w, &t->kernel);
	return true;
}

static bool write_kernels(jax_writer *w, diag_sink *s)
{
	const plan *p = w->p;
	const char **of = ARENA_ARRAY(w->a, const char *, p->nkernels + 1);
	for (int i = 0; i < p->ninstrs; i++) {
		int node = p->program[i].node;
		if (p->program[i].op != PLAN_RUN)
			continue;
		int k = p->nodes[node].kernel;
		if (p->loop.turns && p->nodes[node].time != CUT_NONE) {
			if (!write_turn(w, node, s))
				return false;
			continue;
		}
		if (!of[k])
			of[k] = jax_write_kernel(w, p->kernels[k].kernel);
		w->functions[node] = of[k];
	}
	return true;
}

/* ---- tables ------------------------------------------------------------ */

bool jax_is_state(const jax_writer *w, int tensor)
{
	const plan_tensor *t = &w->p->tensors[tensor];
	return t->buffer >= 0 &&
	       (t->role == PLAN_STATE ||
		(t->role == PLAN_CONSTANT &&
		 (w->folded[tensor] ||
		  t->constant.kind != PLAN_CONST_FILL)));
}

static bool is_input(const jax_writer *w, int tensor)
{
	return w->p->tensors[tensor].role == PLAN_INPUT;
}

static bool is_output(const jax_writer *w, int tensor)
{
	return w->p->tensors[tensor].output;
}

/* Whether only folds read a weight, so that no step is given it. */
static bool is_folded_weight(const jax_writer *w, int tensor)
{
	const plan_tensor *t = &w->p->tensors[tensor];
	return t->role == PLAN_STATE && t->buffer < 0;
}

/* Shape and layout of a tensor; of one that turns divide, in a first dimension,
 * their parts. */
static const char *described(jax_writer *w, int tensor)
{
	plan_tensor t = w->p->tensors[tensor];
	jax_spec x = jax_stored(w->p, tensor);
	const char *spec = jax_spec_text(w->a, w->p, &x);
	if (!plan_in_turns(w->p, tensor))
		return arena_printf(w->a, "%s, (%s%s)",
				    jax_shape_and_type(w->a, &t), spec,
				    t.ndim == 1 ? "," : "");
	int64_t dims[MAX_NDIM + 1] = { w->p->loop.turns };
	memcpy(dims + 1, t.dims, (size_t)t.ndim * sizeof(*dims));
	dims[t.time + 1] /= w->p->loop.turns;
	return arena_printf(w->a, "%s, %s, (None, %s)",
			    jax_tuple(w->a, t.ndim + 1, dims),
			    jax_type(t.type), spec);
}

/* Name, shape, type and layout of the tensors of a kind. */
static void write_table(jax_writer *w, const char *name,
			bool (*is)(const jax_writer *, int))
{
	SAY("\n%s = {\n", name);
	for (int i = 0; i < w->p->ntensors; i++)
		if (is(w, i))
			SAY("    %s: (%s),\n",
			    jax_string(w->a, w->p->tensors[i].name),
			    described(w, i));
	SAY("}\n");
}

/* The turns of a loop, and which dimensions of what is given and returned they
 * divide. */
static void write_turns(jax_writer *w)
{
	SAY("\n# Micro-batches, and the dimension that they divide.\n"
	    "TURNS = %d\n\nDIVIDED = {\n",
	    w->p->loop.turns ? w->p->loop.turns : 1);
	for (int i = 0; i < w->p->ntensors; i++) {
		const plan_tensor *t = &w->p->tensors[i];
		if (plan_in_turns(w->p, i) &&
		    (is_input(w, i) || is_output(w, i)))
			SAY("    %s: %d,\n", jax_string(w->a, t->name),
			    t->time);
	}
	SAY("}\n");
}

static void write_initial(jax_writer *w, const char *name,
			  bool (*is)(const jax_writer *, int))
{
	SAY("\n%s = {\n", name);
	for (int i = 0; i < w->p->ntensors; i++) {
		plan_tensor t = w->p->tensors[i];
		t.constant = w->p->tensors[plan_constant_of(w->p, i)].constant;
		if (is(w, i) && (t.role != PLAN_INPUT ||
				 t.constant.kind != PLAN_CONST_NONE))
			SAY("    %s: lambda: %s,\n", jax_string(w->a, t.name),
			    jax_constant(w->a, &t, w->folder));
	}
	SAY("}\n");
}

static void write_tables(jax_writer *w)
{
	const mesh *m = &w->p->mesh;
	SAY("\n# The mesh of devices: the sizes of its axes, the outermost "
	    "first.\nMESH = {");
	for (int i = 0; i < m->naxes; i++)
		SAY("%s\"a%d\": %d", i ? ", " : "", i, m->size[i]);
	SAY("}\n\n# What all devices receive in a step by the plan, bytes.\n"
	    "RECEIVED = %" PRId64 "\n", w->p->communication_bytes);
	write_turns(w);
	SAY("\n# Shape, type, and the axes that divide each dimension.");
	write_table(w, "STATES", jax_is_state);
	write_table(w, "INPUTS", is_input);
	write_table(w, "OUTPUTS", is_output);
	SAY("\n# The states before the first step; what inputs are by "
	    "default.");
	write_initial(w, "INITIAL", jax_is_state);
	write_initial(w, "DEFAULTS", is_input);
	SAY("\n# Weights that no step reads: states follow from them, by "
	    "fold().");
	write_initial(w, "FOLDED", is_folded_weight);
}

static void write_head(jax_writer *w)
{
	const plan *p = w->p;
	SAY("\"\"\"The model '%s' for %d devices, as '%s' divides it.\n\n"
	    "    mesh = make_mesh()\n"
	    "    step = compile_step(mesh)\n"
	    "    state = initial_state(mesh)\n"
	    "    state, outputs = step(state, {**defaults(), ...})\n"
	    "\"\"\"\n", jax_comment(w->a, p->model), mesh_workers(&p->mesh),
	    jax_comment(w->a, p->algorithm));
	jax_say(w, jax_prelude());
}

char *jax_module(arena *a, const plan *p, const char *folder, diag_sink *s)
{
	jax_writer own = {
		.a = a, .p = p, .folder = folder, .taken = jax_names(a),
		.written = strmap_new(a), .indent = "    ",
		.functions = ARENA_ARRAY(a, const char *, p->nnodes + 1),
		.turns = ARENA_ARRAY(a, const jax_turn *, p->nnodes + 1),
		.names = ARENA_ARRAY(a, const char *, p->ntensors + 1),
		.forward = ARENA_ARRAY(a, bool, p->nnodes + 1),
		.there = ARENA_ARRAY(a, bool, p->ntensors + 1),
		.folded = ARENA_ARRAY(a, bool, p->ntensors + 1)
	};
	jax_writer *w = &own;
	if (!can_be_written(a, p, s))
		return NULL;
	for (int i = 0; i < p->nfolds; i++)
		own.folded[p->folds[i].output] = true;
	write_head(w);
	SAY("\n\n# ---- the plan ----\n");
	write_tables(w);
	SAY("\n\n# ---- kernels ----\n");
	if (!write_kernels(w, s))
		return NULL;
	jax_write_steps(w);
	jax_write_fold(w);
	SAY("\n\nif __name__ == \"__main__\":\n    main()\n");
	vec_push(a, &w->text, '\0');
	return w->text.at;
}

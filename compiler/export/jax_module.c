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
	if (p->loop.turns && p->loop.batch % p->loop.turns)
		return refuse(p, s, arena_printf(
			a, "a JAX module needs micro-batches of one size, "
			"and %d of %" PRId64 " samples are not",
			p->loop.turns, p->loop.batch));
	return has_types(a, p, s);
}

/* ---- kernels ----------------------------------------------------------- */

/* Kernels for different shapes that have the same text share a function. */
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

/* Writes the function for a turn's part of a node that turns divide. */
static bool write_turn(jax_writer *w, int node, diag_sink *s)
{
	const plan *p = w->p;
	jax_turn *t = ARENA_NEW(w->a, jax_turn);
	if (!jax_turn_of(w->a, p, &p->nodes[node], t))
		return refuse(p, s, arena_printf(
			w->a, "a module for JAX has no function of a "
			"micro-batch of '%s'", p->nodes[node].name));
	w->of.turns[node] = t;
	w->of.functions[node] = jax_write_kernel(w, &t->kernel);
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
		w->of.functions[node] = of[k];
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
		 (w->of.folded[tensor] ||
		  t->constant.kind != PLAN_CONST_FILL)));
}

static bool is_input(const jax_writer *w, int tensor)
{
	return w->p->tensors[tensor].role == PLAN_INPUT;
}

static bool is_output(const jax_writer *w, int tensor)
{
	return w->p->tensors[tensor].output && !w->of.received[tensor];
}

/* Whether only folds read a weight, so that steps do not get it. */
static bool is_folded_weight(const jax_writer *w, int tensor)
{
	const plan_tensor *t = &w->p->tensors[tensor];
	return t->role == PLAN_STATE && t->buffer < 0;
}

const char *jax_described(jax_writer *w, int tensor)
{
	plan_tensor t = w->p->tensors[tensor];
	jax_spec x = jax_stored(w->p, tensor);
	if (plan_in_turns(w->p, tensor))
		t.dims[t.time] /= w->p->loop.turns;
	return arena_printf(w->a, "%s, (%s%s)", jax_shape_and_type(w->a, &t),
			    jax_spec_text(w->a, w->p, &x),
			    t.ndim == 1 ? "," : "");
}

/* The shape and layout of a tensor.  If turns divide it, their parts come in an
 * added first dimension. */
static const char *described(jax_writer *w, int tensor)
{
	plan_tensor t = w->p->tensors[tensor];
	jax_spec x = jax_stored(w->p, tensor);
	const char *spec = jax_spec_text(w->a, w->p, &x);
	if (!plan_in_turns(w->p, tensor))
		return jax_described(w, tensor);
	int64_t dims[MAX_NDIM + 1] = { w->p->loop.turns };
	memcpy(dims + 1, t.dims, (size_t)t.ndim * sizeof(*dims));
	dims[t.time + 1] /= w->p->loop.turns;
	return arena_printf(w->a, "%s, %s, (None, %s)",
			    jax_tuple(w->a, t.ndim + 1, dims),
			    jax_type(t.type), spec);
}

/* Says whether a tensor gets a row in a table; one that several stages have
 * gets a single row. */
typedef bool kind_of(const jax_writer *w, int tensor);
typedef const char *value_of(jax_writer *w, int tensor);

static void write_rows(jax_writer *w, const char *name, kind_of *is,
		       value_of *value)
{
	strmap *seen = strmap_new(w->a);
	SAY("\n%s = {\n", name);
	for (int s = 0; s < w->all->nstages; s++) {
		jax_enter(w, s);
		for (int i = 0; i < w->p->ntensors; i++) {
			const char *row = w->p->tensors[i].name;
			if (!is(w, i) || strmap_get(seen, row))
				continue;
			strmap_put(seen, row, w);
			SAY("    %s: %s,\n", jax_string(w->a, row),
			    value(w, i));
		}
	}
	SAY("}\n");
}

/* Shape, type and layout in brackets. */
static const char *in_brackets(jax_writer *w, int tensor)
{
	return arena_printf(w->a, "(%s)", described(w, tensor));
}

static bool is_divided(const jax_writer *w, int tensor)
{
	return plan_in_turns(w->p, tensor) &&
	       (is_input(w, tensor) || is_output(w, tensor));
}

static const char *time_of(jax_writer *w, int tensor)
{
	return arena_printf(w->a, "%d", w->p->tensors[tensor].time);
}

/* Writes the number of turns, and which dimensions of arguments and results
 * they divide. */
static void write_turns(jax_writer *w)
{
	SAY("\n# Micro-batches, and the dimension that they divide.\n"
	    "TURNS = %d\n", w->p->loop.turns ? w->p->loop.turns : 1);
	write_rows(w, "DIVIDED", is_divided, time_of);
}

static bool is_default(const jax_writer *w, int tensor)
{
	int t = plan_constant_of(w->p, tensor);
	return is_input(w, tensor) &&
	       w->p->tensors[t].constant.kind != PLAN_CONST_NONE;
}

static const char *initial(jax_writer *w, int tensor)
{
	plan_tensor t = w->p->tensors[tensor];
	t.constant = w->p->tensors[plan_constant_of(w->p, tensor)].constant;
	return arena_printf(w->a, "lambda: %s",
			    jax_constant(w->a, &t, w->folder));
}

const char *jax_mesh(jax_writer *w)
{
	const mesh *m = &w->p->mesh;
	const char *s = "{";
	for (int i = 0; i < m->naxes; i++)
		s = arena_printf(w->a, "%s%s\"a%d\": %d", s, i ? ", " : "", i,
				 m->size[i]);
	return arena_printf(w->a, "%s}", s);
}

static void write_tables(jax_writer *w)
{
	if (pipeline_is_plan(w->all))
		SAY("\n# The mesh of devices: the sizes of its axes, the "
		    "outermost first.\nMESH = %s\n", jax_mesh(w));
	SAY("\n# What all devices receive in a step by the plan, bytes.\n"
	    "RECEIVED = %" PRId64 "\n", w->all->communication_bytes);
	write_turns(w);
	SAY("\n# Shape, type, and the axes that divide each dimension.");
	write_rows(w, "STATES", jax_is_state, in_brackets);
	write_rows(w, "INPUTS", is_input, in_brackets);
	write_rows(w, "OUTPUTS", is_output, in_brackets);
	SAY("\n# The states before the first step; what inputs are by "
	    "default.");
	write_rows(w, "INITIAL", jax_is_state, initial);
	write_rows(w, "DEFAULTS", is_default, initial);
	SAY("\n# Weights that no step reads: states follow from them, by "
	    "fold().");
	write_rows(w, "FOLDED", is_folded_weight, initial);
}

static void write_head(jax_writer *w)
{
	const plan_pipeline *p = w->all;
	bool one = pipeline_is_plan(p);
	const char *stages = one ? "" : arena_printf(w->a, " in %d stages",
						     p->nstages);
	SAY("\"\"\"The model '%s' for %d devices%s, as '%s' divides it.\n\n"
	    "    mesh = make_mesh()\n"
	    "    step = compile_step(mesh)\n"
	    "    state = initial_state(mesh)\n"
	    "    state, outputs = step(state, {**defaults(), ...})\n"
	    "\"\"\"\n", jax_comment(w->a, p->model),
	    pipeline_first(p, p->nstages), stages,
	    jax_comment(w->a, p->algorithm));
	jax_say(w, jax_prelude(JAX_PRELUDE));
	jax_say(w, "\n\n");
	jax_say(w, jax_prelude(one ? JAX_MESH : JAX_STAGES));
}

/* ---- stages ------------------------------------------------------------ */

void jax_enter(jax_writer *w, int stage)
{
	w->p = &w->all->stages[stage];
	w->of = w->stages[stage];
}

const char *jax_tensor_name(jax_writer *w, int tensor)
{
	const char *of = w->p->tensors[tensor].name;
	const char **name = &w->of.names[tensor];
	if (!*name)
		*name = strmap_get(w->named, of);
	if (!*name) {
		char *made = arena_strdup(w->a, jax_name(w->a, w->taken, of));
		strmap_put(w->named, of, made);
		*name = made;
	}
	return *name;
}

static jax_stage stage_of(arena *a, const plan_pipeline *all, int s)
{
	const plan *p = &all->stages[s];
	jax_stage x = {
		.functions = ARENA_ARRAY(a, const char *, p->nnodes + 1),
		.turns = ARENA_ARRAY(a, const jax_turn *, p->nnodes + 1),
		.names = ARENA_ARRAY(a, const char *, p->ntensors + 1),
		.there = ARENA_ARRAY(a, bool, p->ntensors + 1),
		.folded = ARENA_ARRAY(a, bool, p->ntensors + 1),
		.received = ARENA_ARRAY(a, bool, p->ntensors + 1)
	};
	for (int i = 0; i < p->nfolds; i++)
		x.folded[p->folds[i].output] = true;
	for (int c = 0; c < all->nchannels; c++)
		if (all->channels[c].to == s)
			x.received[all->channels[c].target] = true;
	return x;
}

static bool write_all_kernels(jax_writer *w, diag_sink *s)
{
	bool good = true;
	for (int i = 0; i < w->all->nstages && good; i++) {
		jax_enter(w, i);
		good = write_kernels(w, s);
	}
	return good;
}

char *jax_module(arena *a, const plan_pipeline *p, const char *folder,
		 diag_sink *s)
{
	jax_writer own = {
		.a = a, .all = p, .folder = folder, .taken = jax_names(a),
		.named = strmap_new(a), .written = strmap_new(a),
		.indent = "    ",
		.stages = ARENA_ARRAY(a, jax_stage, p->nstages)
	};
	jax_writer *w = &own;
	for (int i = 0; i < p->nstages; i++) {
		if (!can_be_written(a, &p->stages[i], s))
			return NULL;
		own.stages[i] = stage_of(a, p, i);
	}
	jax_enter(w, 0);
	write_head(w);
	SAY("\n\n# ---- the plan ----\n");
	write_tables(w);
	SAY("\n\n# ---- kernels ----\n");
	if (!write_all_kernels(w, s))
		return NULL;
	if (pipeline_is_plan(p))
		jax_write_steps(w);
	else
		jax_write_stages(w);
	jax_write_fold(w);
	SAY("\n\nif __name__ == \"__main__\":\n    main()\n");
	vec_push(a, &w->text, '\0');
	return w->text.at;
}

#include "config.h"

#include "libtdl/plan_view.h"

#include "compiler/lower/cost.h"
#include "layout/layout_text.h"

/* The bytes of a tensor's stored block that a device keeps; 0 if it is not
 * used. */
int64_t plan_kept_bytes(const plan *p, int t)
{
	int buffer = p->tensors[t].buffer;
	return buffer < 0 ? 0 : p->buffers[buffer].nbytes;
}

/* The bytes that all devices receive by an instruction. */
int64_t plan_view_received(const plan_view *v, const plan_instr *in)
{
	return layout_pair_received(v->classes,
				    plan_instr_class(v->classes, v->p, in));
}

const char *plan_role_name(const plan_tensor *t)
{
	static const char *const names[] = {
		[PLAN_INPUT] = "input",
		[PLAN_CONSTANT] = "constant",
		[PLAN_RESULT] = "result",
		[PLAN_STATE] = "state",
	};
	return t->output && t->role == PLAN_RESULT ? "output" : names[t->role];
}

/* The tensor that an instruction moves; the instruction is no run. */
const plan_tensor *plan_moved_tensor(const plan *p, const plan_instr *in)
{
	return &p->tensors[p->buffers[in->from].tensor];
}

/* ---- json -------------------------------------------------------------- */

/* By axis the dimension that is cut, null if none is, or the word for a partial
 * tensor. */
static json_t *dims_json(arena *a, const mesh *m, const cuts *c)
{
	json_t *list = json_array();
	for (int i = 0; i < m->naxes; i++) {
		int d = c->dim[i];
		json_t *word = d >= 0	       ? json_integer(d)
			       : d == CUT_NONE ? json_null() : NULL;
		json_array_append_new(
			list, word ? word
				   : json_string(layout_axis_text(a, d)));
	}
	return list;
}

static json_t *tensors_json(arena *a, const plan *p)
{
	json_t *all = json_array();
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		json_t *shape = json_array();
		for (int d = 0; d < t->ndim; d++)
			json_array_append_new(shape, json_integer(t->dims[d]));
		json_array_append_new(
			all, json_pack("{s:s,s:s,s:s,s:o,s:o,s:I}", "name",
				       t->name, "kind", plan_role_name(t),
				       "type", dtype_name(t->type),
				       "shape", shape,
				       "cuts", dims_json(a, &p->mesh, &t->cuts),
				       "bytes_per_device",
				       (json_int_t)plan_kept_bytes(p, i)));
	}
	return all;
}

static json_t *operators_json(arena *a, const plan *p)
{
	json_t *all = json_array();
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		const kernel *k = p->kernels[n->kernel].kernel;
		json_t *strategy = json_array();
		for (int j = 0; j < p->mesh.naxes; j++) {
			const char *by = layout_division_text(a, k,
							      n->cuts.dim[j]);
			json_array_append_new(strategy, by ? json_string(by)
							   : json_null());
		}
		json_array_append_new(
			all, json_pack("{s:s,s:s,s:o,s:s}", "name", n->name,
				       "op", n->op, "strategy", strategy,
				       "output", p->tensors[n->output].name));
	}
	return all;
}

static json_t *transfers_json(const plan_view *v)
{
	json_t *all = json_array();
	for (int i = 0; i < v->p->ninstrs; i++) {
		const plan_instr *in = &v->p->program[i];
		if (!plan_moves(in))
			continue;
		json_array_append_new(
			all, json_pack("{s:s,s:s,s:I,s:o}", "tensor",
				       plan_moved_tensor(v->p, in)->name,
				       "collective",
				       collective_name(in->collective), "bytes",
				       (json_int_t)plan_view_received(v, in),
				       "bucket", in->bucket > 0
					       ? json_integer(in->bucket)
					       : json_null()));
	}
	return all;
}

void plan_view_set_lists(const plan_view *v, json_t *to)
{
	arena *tmp = arena_new();
	json_object_set_new(to, "tensors", tensors_json(tmp, v->p));
	json_object_set_new(to, "operators", operators_json(tmp, v->p));
	json_object_set_new(to, "transfers", transfers_json(v));
	arena_free(tmp);
}

json_t *plan_view_json(const plan_view *v)
{
	const plan *p = v->p;
	json_t *sizes = json_array();
	for (int a = 0; a < p->mesh.naxes; a++)
		json_array_append_new(sizes, json_integer(p->mesh.size[a]));
	json_t *all = json_pack(
		"{s:s,s:s,s:i,s:o,s:I,s:I,s:f,s:s}", "model",
		p->model, "algorithm", p->algorithm, "devices",
		mesh_workers(&p->mesh), "mesh", sizes, "communication_bytes",
		(json_int_t)p->communication_bytes, "peak_bytes_per_device",
		(json_int_t)p->arena_bytes, "predicted_seconds",
		lower_seconds(p, v->machine), "predicted_for",
		v->machine->name);
	plan_view_set_lists(v, all);
	return all;
}

#include "config.h"

#include "libtdl/plan_strict.h"

#include "compiler/analysis/strategy.h"
#include "libtdl/plan_report.h"

bool node_is_whole(const kernel *k, int64_t parts)
{
	bool some = k->opaque != NULL;
	for (int v = 0; v < k->nvars; v++) {
		some |= k->vars[v].extent >= parts;
		if (k->vars[v].extent >= parts && strategy_offered(k, v, NULL))
			return false;
	}
	return some;
}

const char *node_whole_reasons(arena *a, const kernel *k)
{
	const char *text = "", *why;
	for (int v = 0; v < k->nvars; v++)
		if (!strategy_offered(k, v, &why))
			text = arena_printf(a, "%s%s%s: %s", text,
					    *text ? "; " : "", k->vars[v].name,
					    why);
	if (*text || !k->opaque)
		return *text ? text : "it is too small";
	return arena_printf(a, "the opaque function '%s' computes it",
			    k->opaque);
}

/* "resnet50: node 'det_1' (Det)" */
static const char *place_of(arena *a, const graph *g, const char *what,
			    const char *name, const char *kind)
{
	return arena_printf(a, "%s: %s '%s'%s%s%s", g->name, what, name,
			    kind ? " (" : "", kind ? kind : "",
			    kind ? ")" : "");
}

bool plan_is_divided(arena *a, const graph *g, const plan_strictness *s,
		     diag_sink *sink)
{
	bool all = true;
	for (node_id n = 0; s->fail_on_opaque && n < g->nnodes; n++) {
		const node *x = &g->nodes[n];
		if (!node_is_whole(x->kernel, 2))
			continue;
		diag_error_in(sink, DIAG_UNDIVIDED,
			      place_of(a, g, "node", x->name, x->op),
			      "no strategy divides it: %s",
			      node_whole_reasons(a, x->kernel));
		all = false;
	}
	return all;
}

/* ---- tensors that are whole everywhere ---------------------------------- */

static bool is_stored_whole(const assignment *as, tensor_id t)
{
	for (int a = 0; a < as->mesh.naxes; a++)
		if (as->tensor_cuts[t].dim[a] != CUT_NONE)
			return false;
	return true;
}

/* Whether every device needs all of input i. */
static bool is_fetched_whole(const assignment *as, const node *n, node_id id,
			     int i)
{
	const kinput *in = &n->kernel->inputs[i];
	box all = box_whole(in->dims, in->ndim);
	box space = kernel_space(n->kernel);
	for (int w = mesh_workers(&as->mesh) - 1; w >= 0; w--) {
		int coords[MAX_AXES];
		mesh_coords(&as->mesh, w, coords);
		box part = cuts_block(&space, &as->mesh, &as->node_cuts[id],
				      as->mesh.naxes, coords);
		box need = kernel_need(n->kernel, &part, i);
		if (!box_equal(&need, &all))
			return false;
	}
	return true;
}

/* The first node for which all devices fetch all of a tensor; NULL if there is
 * none. */
static const node *whole_reader(const graph *g, const assignment *as,
				tensor_id t)
{
	for (node_id id = 0; id < g->nnodes; id++) {
		const node *n = &g->nodes[id];
		for (int i = 0; i < n->kernel->ninputs; i++)
			if (n->inputs[i] == t &&
			    is_fetched_whole(as, n, id, i))
				return n;
	}
	return NULL;
}

void plan_warn_replicated(arena *a, const graph *g, const assignment *as,
			  const plan_strictness *s, diag_sink *sink)
{
	if (s->replicated < 0 || as->mesh.naxes == 0)
		return;
	for (tensor_id t = 0; t < g->ntensors; t++) {
		const tensor *x = &g->tensors[t];
		int64_t bytes = tensor_nbytes(&x->type);
		if (bytes < s->replicated)
			continue;
		const char *place = place_of(a, g, "tensor", x->name, NULL);
		const node *reader = NULL;
		if (is_stored_whole(as, t))
			diag_warning_in(sink, DIAG_REPLICATED, place,
					"every device stores all of it, %s",
					plan_bytes_text(a, bytes));
		else if ((reader = whole_reader(g, as, t)))
			diag_warning_in(sink, DIAG_REPLICATED, place,
					"every device fetches all of it, %s, "
					"for '%s' (%s)",
					plan_bytes_text(a, bytes),
					reader->name, reader->op);
	}
}

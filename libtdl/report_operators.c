/* The operators of a report: their divisions and costs, and the cost of the
 * next best division in the byte model. */
#include "config.h"

#include <string.h>

#include "base/intern.h"
#include "compiler/cost/byte_model.h"
#include "compiler/cost/formulate.h"
#include "layout/layout_text.h"
#include "libtdl/name_groups.h"
#include "libtdl/plan_graph.h"
#include "libtdl/plan_view.h"
#include "libtdl/report_build.h"

/* The division with one axis changed that moves the fewest bytes; bytes is -1
 * if there is none. */
typedef struct runner_up {
	int64_t own, bytes; /* in the byte model; own -1: cannot be counted */
	cuts cuts;
} runner_up;

typedef struct costs {
	double run, transfers; /* in seconds */
	int64_t bytes;
} costs;

json_t *report_strategy(const report *r, const plan_node *n, const cuts *c)
{
	const kernel *k = r->p->kernels[n->kernel].kernel;
	json_t *list = json_array();
	for (int i = 0; i < r->p->mesh.naxes; i++) {
		const char *by = layout_division_text(r->a, k, c->dim[i]);
		json_array_append_new(list, by ? json_string(by) : json_null());
	}
	return list;
}

int report_node_of(const plan *p, const plan_instr *in)
{
	if (!plan_moves(in))
		return in->op == PLAN_RUN ? in->node : -1;
	if (in->op == PLAN_COMBINE)
		return in->node;
	int reader = p->buffers[in->to].node, maker = p->buffers[in->from].node;
	return reader >= 0 ? reader : maker;
}

static costs *costs_of(const report *r)
{
	costs *all = ARENA_ARRAY(r->a, costs, r->p->nnodes);
	for (int i = 0; i < r->flat->ninstrs; i++) {
		const plan_instr *in = &r->flat->program[i];
		int n = report_node_of(r->flat, in);
		if (n < 0)
			continue;
		if (plan_moves(in))
			all[n].transfers += r->seconds[i];
		else
			all[n].run += r->seconds[i];
		all[n].bytes += r->received[i];
	}
	return all;
}

/* ---- the byte model ---------------------------------------------------- */

typedef struct alternatives {
	const graph *g;
	assignment as;
	strmap *known; /* equivalent nodes share an entry */
} alternatives;

/* A text that is equal for nodes with the same kernel and the same cuts. */
static const char *key_of(arena *a, const plan *p, int id)
{
	const plan_node *n = &p->nodes[id];
	int naxes = p->mesh.naxes;
	const kernel *k = p->kernels[n->kernel].kernel;
	const char *key = arena_printf(a, "%d", n->kernel);
	for (int i = -1; i <= k->ninputs; i++) {
		int t = i < 0 || i == k->ninputs ? n->output : n->inputs[i];
		const cuts *c = i < 0 ? &n->cuts : &p->tensors[t].cuts;
		for (int j = 0; j < naxes; j++)
			key = arena_printf(a, "%s %d", key, c->dim[j]);
		for (int j = 0; j < i; j++)
			if (n->inputs[j] == t)
				key = arena_printf(a, "%s=%d", key, j);
	}
	return key;
}

static void try_axis(alternatives *x, node_id id, int axis, runner_up *best)
{
	const step s = { x->g, &x->as };
	int naxes = x->as.mesh.naxes;
	cuts *c = &x->as.node_cuts[id], was = *c;
	x->as.mesh.naxes = axis + 1;
	const choices all = step_vars(&s, id);
	x->as.mesh.naxes = naxes;
	for (int i = 0; i < all.n; i++) {
		if (all.at[i] == was.dim[axis])
			continue;
		c->dim[axis] = all.at[i];
		int64_t bytes = byte_model_node(x->g, &x->as, id, naxes);
		if (bytes < COST_MAX &&
		    (best->bytes < 0 || bytes < best->bytes)) {
			best->bytes = bytes;
			best->cuts = *c;
		}
		*c = was;
	}
}

static const runner_up *runner_up_of(const report *r, alternatives *x,
				     node_id id)
{
	const char *key = key_of(r->a, r->p, x->g->nodes[id].call);
	runner_up *best = strmap_get(x->known, key);
	if (best)
		return best;
	best = ARENA_NEW(r->a, runner_up);
	*best = (runner_up){ -1, -1, cuts_none() };
	int64_t own = byte_model_node(x->g, &x->as, id, x->as.mesh.naxes);
	if (own < COST_MAX)
		best->own = own;
	for (int i = 0; own < COST_MAX && i < x->as.mesh.naxes; i++)
		try_axis(x, id, i, best);
	strmap_put(x->known, key, best);
	return best;
}

/* The runner-up of each node.  NULL if the plan has a loop, as the byte model
 * does not know its parts; if there are many workers, as it visits each; or if
 * sums might overflow. */
static const runner_up **runners_up(const report *r)
{
	alternatives x = { .known = strmap_new(r->a) };
	x.g = plan_graph(r->a, r->p, &x.as);
	int k = mesh_workers(&r->p->mesh);
	if (r->p->loop.turns > 0 || k > REPORT_MOST_WORKERS ||
	    !graph_is_countable(x.g, k))
		return NULL;
	const runner_up **all = ARENA_ARRAY(r->a, const runner_up *,
					    r->p->nnodes);
	for (node_id id = 0; id < x.g->nnodes; id++)
		all[x.g->nodes[id].call] = runner_up_of(r, &x, id);
	return all;
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *tensor_list(const int *ids, int n)
{
	json_t *list = json_array();
	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_integer(ids[i]));
	return list;
}

static void set_byte_model(const report *r, const plan_node *n,
			   const runner_up *x, json_t *to)
{
	bool known = x && x->own >= 0;
	json_object_set_new(to, "byte_model",
			    known ? json_integer(x->own) : json_null());
	json_object_set_new(
		to, "runner_up",
		!known || x->bytes < 0 ? json_null() :
		json_pack("{s:o,s:I}", "strategy",
			  report_strategy(r, n, &x->cuts), "byte_model",
			  (json_int_t)x->bytes));
}

json_t *report_operators(const report *r)
{
	const plan *p = r->p;
	const costs *cost = costs_of(r);
	const runner_up **other = runners_up(r);
	json_t *all = json_array();
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		int ninputs = p->kernels[n->kernel].kernel->ninputs;
		json_t *x = json_pack(
			"{s:s,s:s,s:o,s:o,s:i,s:f,s:f,s:I}", "name", n->name,
			"op", n->op, "strategy",
			report_strategy(r, n, &n->cuts), "inputs",
			tensor_list(n->inputs, ninputs), "output", n->output,
			"seconds", cost[i].run, "communication_seconds",
			cost[i].transfers, "communication_bytes",
			(json_int_t)cost[i].bytes);
		set_byte_model(r, n, other ? other[i] : NULL, x);
		json_array_append_new(all, x);
	}
	return all;
}

static json_t *blocks_json(arena *a, int n, const char *const *names,
			   const char *const *kinds)
{
	name_groups all = group_names(a, n, names, kinds);
	json_t *list = json_array();
	for (int i = 0; i < all.n; i++)
		json_array_append_new(
			list, json_pack("{s:s,s:o}", "name", all.at[i].name,
					"members",
					tensor_list(all.at[i].members,
						    all.at[i].n)));
	return list;
}

/* "0 -1": the elements of cuts, as a key. */
static const char *cuts_key(arena *a, const mesh *m, const cuts *c)
{
	const char *text = "";
	for (int i = 0; i < m->naxes; i++)
		text = arena_printf(a, "%s %d", text, c->dim[i]);
	return text;
}

json_t *report_operator_blocks(const report *r)
{
	const plan *p = r->p;
	const char **names = ARENA_ARRAY(r->a, const char *, p->nnodes + 1);
	const char **kinds = ARENA_ARRAY(r->a, const char *, p->nnodes + 1);
	for (int i = 0; i < p->nnodes; i++) {
		const plan_node *n = &p->nodes[i];
		names[i] = n->name;
		kinds[i] = arena_printf(
			r->a, "%s\t%s\t%s", n->op,
			cuts_key(r->a, &p->mesh, &n->cuts),
			cuts_key(r->a, &p->mesh, &p->tensors[n->output].cuts));
	}
	return blocks_json(r->a, p->nnodes, names, kinds);
}

json_t *report_tensor_blocks(const report *r)
{
	const plan *p = r->p;
	const char **names = ARENA_ARRAY(r->a, const char *, p->ntensors + 1);
	const char **kinds = ARENA_ARRAY(r->a, const char *, p->ntensors + 1);
	for (int i = 0; i < p->ntensors; i++) {
		const plan_tensor *t = &p->tensors[i];
		const char *text = arena_printf(
			r->a, "%s %s\t%s", plan_role_name(t),
			dtype_name(t->type),
			cuts_key(r->a, &p->mesh, &t->cuts));
		for (int d = 0; d < t->ndim; d++)
			text = arena_printf(r->a, "%s\t%lld", text,
					    (long long)t->dims[d]);
		names[i] = t->name;
		kinds[i] = text;
	}
	return blocks_json(r->a, p->ntensors, names, kinds);
}

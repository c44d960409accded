/* Finishes a graph: removes dead code, and gives final numbers and unique
 * names. */
#include "config.h"

#include "compiler/graph/builder.h"

#include <string.h>

#include "base/checked.h"
#include "base/utf8.h"
#include "compiler/graph/turns.h"

enum { LONGEST_NAME = 1000 }; /* bytes of a name */

/* Marks the tensors and nodes on which outputs and next values of states
 * depend.  Nodes are in topological order. */
static bool *live_nodes(const graph_builder *b, bool *live_tensor)
{
	bool *live = ARENA_ARRAY(b->tmp, bool, b->nodes.n + 1);
	for (int i = 0; i < b->outputs.n; i++)
		live_tensor[b->outputs.at[i]] = true;
	for (int i = 0; i < b->tensors.n; i++)
		if (b->tensors.at[i]->t.next != NONE)
			live_tensor[i] = live_tensor[b->tensors.at[i]->t.next] =
				true;
	for (int i = b->nodes.n - 1; i >= 0; i--) {
		const built_node *n = &b->nodes.at[i];
		live[i] = live_tensor[n->output];
		for (int j = 0; live[i] && j < n->kernel->ninputs; j++)
			live_tensor[n->inputs[j]] = true;
	}
	for (int i = 0; i < b->inputs.n; i++)
		live_tensor[b->inputs.at[i]] = true;
	return live;
}

/* Replaces bytes that are not part of a printable character by '_', and cuts
 * off long names. */
const char *graph_presentable(arena *a, const char *name)
{
	size_t len = strlen(name), n = 0;
	char *clean = arena_strdup(a, len ? name : "_");
	while (n < len) {
		size_t width = utf8_length(name + n, len - n);
		unsigned char c = (unsigned char)name[n];
		if (width == 0 || c < ' ' || c == 0x7f) {
			clean[n] = '_';
			width = 1;
		}
		if (n + width > LONGEST_NAME)
			break;
		n += width;
	}
	if (len)
		clean[n] = '\0';
	return clean;
}

const char *build_unique_name(graph_builder *b, strmap *taken,
			      const char *name)
{
	name = graph_presentable(b->arena, name);
	int64_t *uses = strmap_get(taken, name);
	if (!uses) {
		strmap_put(taken, name, ARENA_NEW(b->tmp, int64_t));
		return name;
	}
	for (;;) {
		char *s = arena_printf(b->arena, "%s_%lld", name,
				       (long long)++*uses + 1);
		if (!strmap_get(taken, s)) {
			strmap_put(taken, s, ARENA_NEW(b->tmp, int64_t));
			return s;
		}
	}
}

/* Whether the live nodes that share the base name of node i come from several
 * calls. */
static bool several_calls(const graph_builder *b, const bool *live, int i)
{
	const built_node *n = b->nodes.at;
	for (int step = -1; step <= 1; step += 2)
		for (int j = i + step; j >= 0 && j < b->nodes.n &&
				       n[j].base == n[i].base;
		     j += step)
			if (live[j] && n[j].call != n[i].call)
				return true;
	return false;
}

static const char *node_name(graph_builder *b, const bool *live, int i)
{
	const built_node *n = &b->nodes.at[i];
	const char *name = n->base;
	if (several_calls(b, live, i))
		name = arena_printf(b->tmp, "%s.%s", name, n->op);
	if (*n->label)
		name = arena_printf(b->tmp, "%s.%s", name, n->label);
	return arena_strdup(b->arena, name);
}

static int new_number(int old, const int *number)
{
	return old == NONE ? NONE : number[old];
}

static void place_tensors(graph_builder *b, graph *g, const bool *live,
			  tensor_id *number)
{
	g->tensors = ARENA_ARRAY(b->arena, tensor, b->tensors.n + 1);
	for (int i = 0; i < b->tensors.n; i++) {
		number[i] = NONE;
		if (!live[i])
			continue;
		number[i] = g->ntensors;
		g->tensors[g->ntensors++] = b->tensors.at[i]->t;
	}
	for (int i = 0; i < g->ntensors; i++) {
		tensor *t = &g->tensors[i];
		t->next = new_number(t->next, number);
		t->gradient_of = new_number(t->gradient_of, number);
	}
	g->training = b->training;
	g->recompute_stages = b->recompute_stages;
	g->loss = new_number(b->loss, number);
	g->learning_rate = new_number(b->learning_rate, number);
	g->loss_scale = new_number(b->loss_scale, number);
	g->length = b->length;
	g->position = new_number(b->position, number);
}

/* Whether a constant is a weight that a run cannot be given.  A weight read
 * only by removed parts of the model does not count, as its value does not
 * matter. */
static bool is_fixed(const graph_builder *b, const built_tensor *x)
{
	if (x->t.kind != TENSOR_CONSTANT || !x->t.name)
		return false;
	return x->t.parameter ? !b->free_weights || x->read
			      : x->number && !b->training;
}

/* A constant that a state begins with, as running statistics, is none of them:
 * the state has its name. */
static void list_fixed(graph_builder *b, graph *g)
{
	strmap *states = strmap_new(b->tmp);
	for (int i = 0; i < b->tensors.n; i++) {
		const built_tensor *x = b->tensors.at[i];
		if (x->t.kind == TENSOR_STATE && x->t.name)
			strmap_put(states, x->t.name, b);
	}
	g->fixed = ARENA_ARRAY(b->arena, const char *, b->tensors.n + 1);
	for (int i = 0; i < b->tensors.n; i++) {
		const built_tensor *x = b->tensors.at[i];
		if (is_fixed(b, x) && !strmap_get(states, x->t.name))
			g->fixed[g->nfixed++] =
				graph_presentable(b->arena, x->t.name);
	}
}

/* The call site with its texts copied to the graph's memory. */
static call_site kept(graph_builder *b, call_site site)
{
	if (site.place)
		site.place = arena_strdup(b->arena, site.place);
	return site;
}

static void place_nodes(graph_builder *b, graph *g, const bool *live,
			const tensor_id *number)
{
	int *placed = ARENA_ARRAY(b->tmp, int, b->nodes.n + 1);
	g->nodes = ARENA_ARRAY(b->arena, node, b->nodes.n + 1);
	for (int i = 0; i < b->nodes.n; i++) {
		const built_node *from = &b->nodes.at[i];
		placed[i] = live[i] ? g->nnodes : NONE;
		if (!live[i])
			continue;
		node *n = &g->nodes[g->nnodes];
		n->kernel = from->kernel;
		n->origin = from->origin;
		n->call = from->call;
		n->forward = new_number(from->forward, placed);
		n->step = from->step;
		n->cell = from->cell;
		n->site = kept(b, from->site);
		n->name = node_name(b, live, i);
		n->op = *from->label ? arena_printf(b->arena, "%s.%s", from->op,
						    from->label)
				     : from->op;
		n->output = number[from->output];
		n->inputs = ARENA_ARRAY(b->arena, tensor_id,
					n->kernel->ninputs + 1);
		for (int j = 0; j < n->kernel->ninputs; j++)
			n->inputs[j] = number[from->inputs[j]];
		g->tensors[n->output].producer = g->nnodes++;
	}
}

/* Names all tensors.  The model's own names come first, inputs and outputs
 * before others, so that generated names give way. */
static void name_all(graph_builder *b, graph *g, strmap *tensors)
{
	strmap *nodes = strmap_new(b->tmp);
	for (int pass = 0; pass < 3; pass++)
		for (int i = 0; i < g->ntensors; i++) {
			tensor *t = &g->tensors[i];
			bool face = t->output || t->kind == TENSOR_INPUT ||
				    t->kind == TENSOR_STATE;
			int when = !t->name ? 2 : face ? 0 : 1;
			if (when != pass)
				continue;
			const char *name = t->name		  ? t->name
					   : t->producer != NONE
						   ? g->nodes[t->producer].name
						   : "constant";
			t->name = build_unique_name(b, tensors, name);
		}
	for (int i = 0; i < g->nnodes; i++)
		g->nodes[i].name =
			build_unique_name(b, nodes, g->nodes[i].name);
}

static tensor_id *renumber(graph_builder *b, const tensor_id *ids, int n,
			   const tensor_id *number)
{
	tensor_id *out = ARENA_ARRAY(b->arena, tensor_id, n + 1);
	for (int i = 0; i < n; i++)
		out[i] = number[ids[i]];
	return out;
}

graph *graph_finish(graph_builder *b)
{
	graph *g = NULL;
	diag_sink *sink = b->sink;
	if (diag_errors(sink) == b->nerrors) {
		g = ARENA_NEW(b->arena, graph);
		g->name = graph_presentable(b->arena, b->name);
		g->site = kept(b, b->model);
		bool *keep = ARENA_ARRAY(b->tmp, bool, b->tensors.n + 1);
		bool *live = live_nodes(b, keep);
		const built_folds folds = build_find_folds(b, keep);
		strmap *names = strmap_new(b->tmp);
		tensor_id *number =
			ARENA_ARRAY(b->tmp, tensor_id, b->tensors.n + 1);
		place_tensors(b, g, keep, number);
		place_nodes(b, g, live, number);
		list_fixed(b, g);
		g->ninputs = b->inputs.n;
		g->noutputs = b->outputs.n;
		g->inputs = renumber(b, b->inputs.at, b->inputs.n, number);
		g->outputs = renumber(b, b->outputs.at, b->outputs.n, number);
		name_all(b, g, names);
		build_place_folds(b, g, &folds, number, names);
	}
	arena_free(b->tmp);
	if (!g || graph_traffic(g) <= GRAPH_MAX_TRAFFIC)
		return g;
	diag_error_in(sink, DIAG_MODEL_TOO_LARGE, g->name,
		      "the tensors, and what the operators read and write, are "
		      "more than 2^56 bytes");
	return NULL;
}

/* ---- figures ----------------------------------------------------------- */

/* Tensor i of a graph; tensors that only folds read are numbered after the
 * others. */
static const tensor *any_tensor(const graph *g, int i)
{
	return i < g->ntensors ? &g->tensors[i] : &g->kept[i - g->ntensors];
}

static bool keeps_weights(const graph *g)
{
	for (int i = 0; i < g->ntensors + g->nkept; i++) {
		const tensor *t = any_tensor(g, i);
		if (t->kind == TENSOR_STATE && t->parameter)
			return true;
	}
	return false;
}

static int64_t sum_parameters(const graph *g,
			      int64_t (*size)(const tensor_type *t))
{
	bool kept = keeps_weights(g);
	int64_t sum = 0;
	for (int i = 0; i < g->ntensors + g->nkept; i++) {
		const tensor *t = any_tensor(g, i);
		bool counts = kept ? t->parameter
				   : t->kind == TENSOR_CONSTANT &&
					     !dtype_is_int(t->type.type);
		if (counts && !ck_add(sum, size(&t->type), &sum))
			return INT64_MAX;
	}
	return sum;
}

int64_t graph_parameter_bytes(const graph *g)
{
	return sum_parameters(g, tensor_nbytes);
}

int64_t graph_parameter_nelem(const graph *g)
{
	return sum_parameters(g, tensor_nelem);
}

int64_t graph_flops(const graph *g)
{
	int64_t sum = 0;
	for (int i = 0; i < g->nnodes; i++) {
		const kernel *k = g->nodes[i].kernel;
		int64_t points = kernel_points(k), n;
		if (points < 0 ||
		    !ck_mul(points, kernel_flops_per_point(k), &n) ||
		    !ck_add(sum, n, &sum))
			return INT64_MAX;
	}
	return sum;
}

/* Adds a tensor's size to *sum.  Returns false if the sum is too large.  The
 * sum cannot overflow, as a tensor has at most GRAPH_MAX_BYTES. */
static bool add_bytes(int64_t *sum, const tensor *t)
{
	*sum += tensor_nbytes(&t->type);
	return *sum <= GRAPH_MAX_TRAFFIC;
}

int64_t graph_traffic(const graph *g)
{
	int64_t sum = 0;
	for (int i = 0; i < g->ntensors; i++)
		if (!add_bytes(&sum, &g->tensors[i]))
			return sum;
	for (int i = 0; i < g->nnodes; i++) {
		const node *n = &g->nodes[i];
		if (!add_bytes(&sum, &g->tensors[n->output]))
			return sum;
		for (int j = 0; j < n->kernel->ninputs; j++)
			if (!add_bytes(&sum, &g->tensors[n->inputs[j]]))
				return sum;
	}
	return sum;
}

bool graph_is_countable(const graph *g, int64_t k)
{
	int64_t all;
	return ck_mul(graph_traffic(g), g->turns ? g->turns->turns : 1, &all) &&
	       all <= INT64_MAX / 4 / k;
}

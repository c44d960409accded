/* Names in an ONNX graph: scopes, and the order of nodes that follows from
 * names. */
#include "config.h"

#include "compiler/onnx/onnx_import.h"

#include <string.h>

const char *onnx_place(importer *im, const char *what, const char *name,
		       const char *kind)
{
	if (kind)
		return arena_printf(im->tmp, "%s: %s '%s' (%s)", im->path,
				    what, name, kind);
	return arena_printf(im->tmp, "%s: %s '%s'", im->path, what, name);
}

const onnx_value *onnx_find(const onnx_frame *f, const char *name)
{
	for (; f; f = f->outer) {
		const onnx_value *v = strmap_get(f->values, name);
		if (v)
			return v;
	}
	return NULL;
}

static bool defined_twice(importer *im, const char *name, const char *place)
{
	diag_error_in(im->sink, DIAG_ONNX_NAME, place,
		      "the name '%s' is defined twice", name);
	return false;
}

bool onnx_bind(importer *im, onnx_frame *f, const char *name, onnx_value v,
	       const char *place)
{
	if (strmap_get(f->values, name))
		return defined_twice(im, name, place);
	onnx_value *copy = ARENA_NEW(im->tmp, onnx_value);
	*copy = v;
	strmap_put(f->values, name, copy);
	return true;
}

/* ---- the order of nodes ------------------------------------------------ */

/* The producers of names, and the resulting edges between nodes. */
typedef struct ordering {
	importer *im;
	Onnx__NodeProto **nodes;
	int n;
	strmap *producer; /* name -> int */
	VEC(int) edge_to; /* node i reads edge_to[edges[i] .. edges[i+1]) */
	int *edges;
} ordering;

static const char *node_place(const ordering *o, int i)
{
	const Onnx__NodeProto *n = o->nodes[i];
	const char *name = n->name && *n->name	       ? n->name
			   : n->n_output && n->output[0] ? n->output[0]
							 : "";
	return onnx_place(o->im, "node", name, n->op_type ? n->op_type : "?");
}

static bool add_producers(ordering *o, const onnx_frame *f)
{
	bool ok = true;
	for (int i = 0; i < o->n; i++) {
		const Onnx__NodeProto *n = o->nodes[i];
		for (size_t j = 0; j < n->n_output; j++) {
			const char *name = n->output[j];
			if (!*name)
				continue;
			if (strmap_get(o->producer, name) ||
			    strmap_get(f->values, name)) {
				ok = defined_twice(o->im, name,
						   node_place(o, i));
				continue;
			}
			int *number = ARENA_NEW(o->im->tmp, int);
			*number = i;
			strmap_put(o->producer, name, number);
		}
	}
	return ok;
}

/* The names defined by a graph inside a node.  Inside it they do not refer to
 * nodes of the outer graph. */
typedef struct inner_names {
	strmap *defined;
	const struct inner_names *outer;
} inner_names;

static void define(importer *im, const inner_names *in, const char *name)
{
	onnx_charge(im, 64);
	if (name)
		strmap_put(in->defined, name, (void *)name);
}

static inner_names names_of(importer *im, const Onnx__GraphProto *g,
			    const inner_names *outer)
{
	inner_names in = { strmap_new(im->tmp), outer };
	for (size_t i = 0; i < g->n_input; i++)
		define(im, &in, g->input[i]->name);
	for (size_t i = 0; i < g->n_initializer; i++)
		define(im, &in, g->initializer[i]->name);
	for (size_t i = 0; i < g->n_node; i++)
		for (size_t j = 0; j < g->node[i]->n_output; j++)
			define(im, &in, g->node[i]->output[j]);
	return in;
}

static void add_edge(ordering *o, const char *name, const inner_names *in)
{
	onnx_charge(o->im, 2 * sizeof(int));
	for (; in; in = in->outer)
		if (strmap_get(in->defined, name))
			return;
	const int *p = strmap_get(o->producer, name);
	if (p)
		vec_push(o->im->tmp, &o->edge_to, *p);
}

/* Adds edges for the names that a node reads.  A graph inside the node may also
 * read names of the graphs around it. */
static void add_edges(ordering *o, const Onnx__NodeProto *n,
		      const inner_names *outer)
{
	for (size_t j = 0; j < n->n_input; j++)
		add_edge(o, n->input[j], outer);
	for (size_t j = 0; j < n->n_attribute; j++) {
		const Onnx__GraphProto *g = n->attribute[j]->g;
		if (!g)
			continue;
		inner_names in = names_of(o->im, g, outer);
		for (size_t k = 0; k < g->n_node; k++)
			add_edges(o, g->node[k], &in);
		for (size_t k = 0; k < g->n_output; k++)
			if (g->output[k]->name)
				add_edge(o, g->output[k]->name, &in);
	}
}

/* Whether the file's order of nodes is topological, as the specification
 * requires. */
static bool is_sorted(const ordering *o)
{
	for (int i = 0; i < o->n; i++)
		for (int e = o->edges[i]; e < o->edges[i + 1]; e++)
			if (o->edge_to.at[e] >= i)
				return false;
	return true;
}

/* Reports a cycle.  A node that is left over is on a cycle or depends on one,
 * so following producers leads into the cycle. */
static void say_cycle(const ordering *o, const int *left)
{
	int i = 0;
	while (!left[i])
		i++;
	for (int step = 0; step < o->n; step++)
		for (int e = o->edges[i]; e < o->edges[i + 1]; e++)
			if (left[o->edge_to.at[e]]) {
				i = o->edge_to.at[e];
				break;
			}
	diag_error_in(o->im->sink, DIAG_ONNX_CYCLE, node_place(o, i),
		      "the node depends on its own result");
}

/* Sorts by Kahn's algorithm.  left[i] counts the inputs for which node i still
 * waits. */
static bool sort(ordering *o, int *order)
{
	arena *tmp = o->im->tmp;
	int nedges = o->edge_to.n, done = 0, ready = 0;
	int *left = ARENA_ARRAY(tmp, int, o->n + 1);
	int *first = ARENA_ARRAY(tmp, int, o->n + 2);
	int *reader = ARENA_ARRAY(tmp, int, nedges + 1);
	for (int e = 0; e < nedges; e++)
		first[o->edge_to.at[e] + 2]++;
	for (int i = 0; i < o->n; i++)
		first[i + 2] += first[i + 1];
	for (int i = 0; i < o->n; i++) {
		left[i] = o->edges[i + 1] - o->edges[i];
		for (int e = o->edges[i]; e < o->edges[i + 1]; e++)
			reader[first[o->edge_to.at[e] + 1]++] = i;
		if (!left[i])
			order[ready++] = i;
	}
	for (; done < ready; done++) {
		int p = order[done];
		for (int e = first[p]; e < first[p + 1]; e++)
			if (--left[reader[e]] == 0)
				order[ready++] = reader[e];
	}
	if (ready == o->n)
		return true;
	say_cycle(o, left);
	return false;
}

int *onnx_order(importer *im, const onnx_frame *f, Onnx__NodeProto **nodes,
		size_t n)
{
	ordering o = { .im = im, .nodes = nodes, .n = (int)n,
		       .producer = strmap_new(im->tmp) };
	o.edges = ARENA_ARRAY(im->tmp, int, n + 1);
	if (!add_producers(&o, f))
		return NULL;
	int *order = ARENA_ARRAY(im->tmp, int, n + 1);
	for (int i = 0; i < o.n; i++) {
		order[i] = i;
		add_edges(&o, nodes[i], NULL);
		o.edges[i + 1] = o.edge_to.n;
	}
	return is_sorted(&o) || sort(&o, order) ? order : NULL;
}

/* Reads Piper's JSON. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "compiler/placement/degrees.h"
#include "compiler/placement/table_file.h"

/* Accelerators produce more bytes of activations per second than this.  A file
 * with less has milliseconds in place of seconds. */
#define LEAST_BYTES_PER_SECOND 3e8

typedef struct reader {
	table_file f;
	degree_table *t;
} reader;

/* An integer as text. */
static const char *identity(const reader *r, const json_t *of,
			    const char *where, const char *key)
{
	const json_t *j = json_object_get(of, key);
	if (json_is_integer(j))
		return arena_printf(r->f.a, "%" JSON_INTEGER_FORMAT,
				    json_integer_value(j));
	table_wrong(&r->f, where,
		    arena_printf(r->f.a, "'%s' has to be an integer", key));
	return NULL;
}

/* ---- ways ---------------------------------------------------------------- */

/* Reads the bytes of each edge of layer v.  Every edge has to be there, and no
 * other. */
static bool read_sync(const reader *r, const json_t *j, const char *where,
		      int v, degree_way *w)
{
	static const char *const keys[] = { "syncTimeFw", "syncTimeBw" };
	const degree_layer *l = &r->t->at[v];
	size_t seen[2] = { 0 };
	w->sync = ARENA_ARRAY(r->f.a, double, l->nedges);
	for (int i = 0; i < l->nedges; i++) {
		const degree_edge *e = &r->t->edges[l->edges[i]];
		bool out = e->from == v;
		const char *other = r->t->at[out ? e->to : e->from].id;
		const json_t *of = json_object_get(j, keys[out]);
		if (!table_number(
			    &r->f, of,
			    arena_printf(r->f.a, "%s, '%s'", where, keys[out]),
			    other, 0, TABLE_MAX_NUMBER, &w->sync[i]))
			return false;
		seen[out]++;
	}
	for (int out = 0; out < 2; out++) {
		const json_t *of = json_object_get(j, keys[out]);
		if (!json_is_object(of) || json_object_size(of) != seen[out])
			return table_wrong(&r->f, where, arena_printf(
				r->f.a, "'%s' has to have the layer's edges "
				"and no others", keys[out]));
	}
	return true;
}

static bool read_way(const reader *r, const json_t *j, const char *where,
		     int v, degree_way *w)
{
	const char *name = json_string_value(json_object_get(j, "id"));
	if (!name || !*name)
		return table_wrong(&r->f, where, "'id' has to be a word");
	w->name = arena_strdup(r->f.a, name);
	return table_number(&r->f, j, where, "timePerSample", 0, 1e12,
			    &w->seconds) &&
	       table_number(&r->f, j, where, "parameterSize", 0,
			    TABLE_MAX_NUMBER, &w->parameters) &&
	       table_number(&r->f, j, where, "memoryUsageA", 0,
			    TABLE_MAX_NUMBER, &w->kept) &&
	       table_number(&r->f, j, where, "memoryUsageB", 0,
			    TABLE_MAX_NUMBER, &w->fixed) &&
	       read_sync(r, j, where, v, w);
}

static bool read_degree(const reader *r, const char *key, const char *where,
			int *degree)
{
	char *end;
	long x = strtol(key, &end, 10);
	*degree = (int)x;
	if (*key >= '1' && *key <= '9' && !*end && x <= LAYERS_MAX_DEVICES)
		return true;
	return table_wrong(
		&r->f, where,
		arena_printf(
			r->f.a,
			"'%.20s' has to be a number of devices from 1 to %d",
			key, LAYERS_MAX_DEVICES));
}

typedef VEC(degree_way) ways;

/* Reads the ways at one degree. */
static bool read_list(const reader *r, const json_t *j, const char *where,
		      int v, int degree, ways *to)
{
	size_t n = json_array_size(j);
	int first = to->n;
	if (n < 1 || n > DEGREES_MAX_CHOICES)
		return table_wrong(&r->f, where, arena_printf(
			r->f.a, "a list of 1 to %d choices is expected",
			DEGREES_MAX_CHOICES));
	for (size_t i = 0; i < n; i++) {
		degree_way w = { .degree = degree };
		const char *at = arena_printf(r->f.a, "%s, choice %zu",
					      where, i);
		if (!read_way(r, json_array_get(j, i), at, v, &w))
			return false;
		for (int k = first; k < to->n; k++)
			if (!strcmp(to->at[k].name, w.name))
				return table_wrong(&r->f, at, arena_printf(
					r->f.a, "'%s' appears twice", w.name));
		vec_push(r->f.a, to, w);
	}
	return true;
}

static bool read_ways(const reader *r, const json_t *node, int v)
{
	degree_layer *l = &r->t->at[v];
	const char *where = arena_printf(r->f.a, "layer %s", l->id);
	json_t *all = json_object_get(node, "TMPCs"), *list;
	const char *key;
	ways to = { 0 };
	if (json_object_size(all) == 0)
		return table_wrong(&r->f, where,
				   "'TMPCs' has to give the layer's costs by "
				   "tensor degree");
	json_object_foreach(all, key, list) {
		int degree;
		const char *at = arena_printf(r->f.a, "%s, degree %.20s", where,
					      key);
		if (!read_degree(r, key, where, &degree) ||
		    !read_list(r, list, at, v, degree, &to))
			return false;
	}
	l->ways = to.at;
	l->nways = to.n;
	return true;
}

/* ---- layers and edges ---------------------------------------------------- */

static int find(const reader *r, const char *id)
{
	for (int v = 0; v < r->t->n; v++)
		if (r->t->at[v].id && !strcmp(r->t->at[v].id, id))
			return v;
	return -1;
}

static bool read_layers(const reader *r, const json_t *nodes)
{
	for (int v = 0; v < r->t->n; v++) {
		const json_t *j = json_array_get(nodes, (size_t)v);
		const char *where = arena_printf(r->f.a, "node %d", v);
		const char *id = identity(r, j, where, "id");
		const char *name = json_string_value(json_object_get(j,
								     "name"));
		if (!id)
			return false;
		if (find(r, id) >= 0)
			return table_wrong(&r->f, where, arena_printf(
				r->f.a, "'id' %s appears twice", id));
		r->t->at[v].id = id;
		r->t->at[v].name = name ? arena_strdup(r->f.a, name) : id;
	}
	return true;
}

static bool read_edge(const reader *r, const json_t *j, int i)
{
	static const char *const keys[] = { "sourceId", "destId" };
	const char *where = arena_printf(r->f.a, "edge %d", i);
	degree_edge *e = &r->t->edges[i];
	for (int k = 0; k < 2; k++) {
		const char *id = identity(r, j, where, keys[k]);
		if (!id)
			return false;
		int v = find(r, id);
		if (v < 0)
			return table_wrong(&r->f, where, arena_printf(
				r->f.a, "there is no node %s", id));
		*(k ? &e->to : &e->from) = v;
	}
	for (int k = 0; k < i; k++)
		if (r->t->edges[k].from == e->from &&
		    r->t->edges[k].to == e->to)
			return table_wrong(&r->f, where, "it is there twice");
	return table_number(&r->f, j, where, "communicationCost", 0,
			    TABLE_MAX_NUMBER, &e->bytes);
}

static void set_edges_of(const reader *r)
{
	degree_table *t = r->t;
	for (int e = 0; e < t->nedges; e++) {
		t->at[t->edges[e].from].nedges++;
		t->at[t->edges[e].to].nedges++;
	}
	for (int v = 0; v < t->n; v++) {
		t->at[v].edges = ARENA_ARRAY(r->f.a, int, t->at[v].nedges);
		t->at[v].nedges = 0;
	}
	for (int e = 0; e < t->nedges; e++) {
		degree_layer *u = &t->at[t->edges[e].from];
		degree_layer *v = &t->at[t->edges[e].to];
		u->edges[u->nedges++] = e;
		v->edges[v->nedges++] = e;
	}
}

/* Kahn's algorithm: a layer that is left is on a cycle or after one. */
static bool is_acyclic(const reader *r)
{
	const degree_table *t = r->t;
	int *left = ARENA_ARRAY(r->f.a, int, t->n);
	int *ready = ARENA_ARRAY(r->f.a, int, t->n), n = 0;
	for (int e = 0; e < t->nedges; e++)
		left[t->edges[e].to]++;
	for (int v = 0; v < t->n; v++)
		if (left[v] == 0)
			ready[n++] = v;
	for (int i = 0; i < n; i++) {
		const degree_layer *l = &t->at[ready[i]];
		for (int k = 0; k < l->nedges; k++) {
			const degree_edge *e = &t->edges[l->edges[k]];
			if (e->from == ready[i] && --left[e->to] == 0)
				ready[n++] = e->to;
		}
	}
	for (int v = 0; v < t->n; v++)
		if (left[v] > 0)
			return table_wrong(
				&r->f,
				arena_printf(r->f.a, "layer %s", t->at[v].id),
				"it waits for itself: edges make a "
				"circle");
	return true;
}

/* ---- the file ------------------------------------------------------------ */

static bool read_sizes(const reader *r, const json_t *j)
{
	degree_table *t = r->t;
	const json_t *nodes = json_object_get(j, "nodes");
	const json_t *edges = json_object_get(j, "edges");
	const char *batch = json_object_get(j, "mbsInBatch") ? "mbsInBatch" :
							       "maxBatchSize";
	if (!json_is_array(nodes) || json_array_size(nodes) < 1 ||
	    json_array_size(nodes) > LAYERS_MAX)
		return table_wrong(&r->f, "nodes", arena_printf(
			r->f.a, "a list of 1 to %d nodes is expected",
			LAYERS_MAX));
	if (!json_is_array(edges) || json_array_size(edges) > DEGREES_MAX_EDGES)
		return table_wrong(&r->f, "edges", arena_printf(
			r->f.a, "a list of at most %d edges is expected",
			DEGREES_MAX_EDGES));
	t->n = (int)json_array_size(nodes);
	t->nedges = (int)json_array_size(edges);
	t->at = ARENA_ARRAY(r->f.a, degree_layer, t->n);
	t->edges = ARENA_ARRAY(r->f.a, degree_edge, t->nedges);
	return table_whole(&r->f, j, "file", "maxDevices", LAYERS_MAX_DEVICES,
			   &t->devices) &&
	       table_whole(&r->f, j, "file", batch, LAYERS_MAX_BATCH,
			   &t->micro_batches) &&
	       table_number(&r->f, j, "file", "maxMemoryPerDevice", 1e-9,
			    TABLE_MAX_NUMBER, &t->memory) &&
	       table_number(&r->f, j, "file", "bandwidth", 1e-9,
			    TABLE_MAX_NUMBER, &t->bandwidth);
}

static bool read_table(const reader *r, const json_t *j)
{
	const json_t *nodes = json_object_get(j, "nodes");
	const json_t *edges = json_object_get(j, "edges");
	if (!read_sizes(r, j) || !read_layers(r, nodes))
		return false;
	for (int e = 0; e < r->t->nedges; e++)
		if (!read_edge(r, json_array_get(edges, (size_t)e), e))
			return false;
	set_edges_of(r);
	if (!is_acyclic(r))
		return false;
	for (int v = 0; v < r->t->n; v++)
		if (!read_ways(r, json_array_get(nodes, (size_t)v), v))
			return false;
	return true;
}

/* Recognises times in milliseconds by the bytes kept in the meantime, and
 * converts them. */
static void repair_times(const reader *r)
{
	double seconds = 0, bytes = 0;
	for (int v = 0; v < r->t->n; v++) {
		seconds += r->t->at[v].ways[0].seconds;
		bytes += r->t->at[v].ways[0].kept;
	}
	if (bytes == 0 || bytes >= LEAST_BYTES_PER_SECOND * seconds)
		return;
	for (int v = 0; v < r->t->n; v++)
		for (int i = 0; i < r->t->at[v].nways; i++)
			r->t->at[v].ways[i].seconds *= 1e-3;
	diag_warning_in(r->f.s, DIAG_COST_GRAPH_REPAIRED, r->f.path,
			"'timePerSample' is taken as milliseconds: in seconds, "
			"the layers would keep %.3g MB of activations in "
			"%.3g s", bytes * 1e-6, seconds);
}

bool degrees_are_meant(const json_t *j)
{
	return json_object_get(j, "maxMemoryPerDevice") != NULL;
}

degree_table *degrees_read(arena *a, diag_sink *s, const char *path,
			   const json_t *j)
{
	const char *slash = strrchr(path, '/');
	reader r = { { a, s, path }, ARENA_NEW(a, degree_table) };
	r.t->name = slash ? slash + 1 : path;
	if (!read_table(&r, j))
		return NULL;
	repair_times(&r);
	return r.t;
}

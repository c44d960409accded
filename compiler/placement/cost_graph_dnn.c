/* Reads dnn-partitioning's JSON (Tarnawski et al., NeurIPS 2020): nodes with
 * times in milliseconds and sizes in bytes, edges with costs in milliseconds.
 * Also reads our own format, which adds a list of results and, for each
 * backward node, its forward node. */
#include "config.h"

#include "compiler/placement/cost_graph.h"

#include <inttypes.h>
#include "base/json.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct reader {
	arena *a;
	diag_sink *s;
	const char *path;
	cost_builder *b;
	const char *part; /* place in the file: in "node" .. */
	size_t row;	  /* .. number 3; NULL: in neither */
	struct claim *claims; /* by node */
	bool *has_result;     /* by node of a model */
} reader;

static bool wrong(const reader *r, const char *what)
{
	diag_error_in(r->s, DIAG_COST_GRAPH_INVALID,
		      r->part ? arena_printf(r->a, "%s: %s %zu", r->path,
					     r->part, r->row) :
				r->path, "%s", what);
	return false;
}

/* Reports that a member is not what is expected. */
static bool unexpected(const reader *r, const json_t *of, const char *key,
		       const char *expected)
{
	const json_t *v = json_object_get(of, key);
	const char *text = "missing";
	if (v)
		text = json_text(r->a, v, JSON_COMPACT | JSON_ENCODE_ANY);
	return wrong(r, arena_printf(r->a, "'%s' is %.40s; %s is expected",
				     key, text, expected));
}

/* Reads a number from 0 to most.  An absent one is `otherwise', or an error if
 * that is NAN. */
static bool number(const reader *r, const json_t *of, const char *key,
		   double most, double otherwise, double *to)
{
	const json_t *v = json_object_get(of, key);
	*to = v ? json_number_value(v) : otherwise;
	if (!v && !isnan(otherwise))
		return true;
	if (v && json_is_number(v) && *to >= 0 && *to <= most)
		return true;
	return unexpected(r, of, key,
			  arena_printf(r->a, "a number from 0 to %.0f", most));
}

/* An integer as text. */
typedef struct identity {
	char text[24];
} identity;

static bool read_identity(const reader *r, const json_t *of, const char *key,
			  identity *id)
{
	const json_t *v = json_object_get(of, key);
	if (!json_is_integer(v))
		return unexpected(r, of, key, "an integer");
	snprintf(id->text, sizeof(id->text), "%" JSON_INTEGER_FORMAT,
		 json_integer_value(v));
	return true;
}

/* Reads true, false, 1 or 0. */
static bool truth(const reader *r, const json_t *of, const char *key, bool *to)
{
	const json_t *v = json_object_get(of, key);
	*to = json_is_true(v) || json_integer_value(v) == 1;
	if (json_is_boolean(v) || (json_is_integer(v) &&
				   json_integer_value(v) >= 0 &&
				   json_integer_value(v) <= 1))
		return true;
	return unexpected(r, of, key, "0 or 1");
}

static bool colour(const reader *r, const json_t *of, int *to)
{
	const json_t *v = json_object_get(of, "colorClass");
	int64_t c = json_integer_value(v);
	*to = v ? (int)c : -1;
	if (!v || (json_is_integer(v) && c >= 0 && c <= INT32_MAX))
		return true;
	return unexpected(r, of, "colorClass",
			  "an integer from 0 to 2147483647");
}

static bool read_node(reader *r, const json_t *j)
{
	cost_op op = { .mirror = -1 };
	identity id;
	double bytes;
	bool runs;
	if (!read_identity(r, j, "id", &id))
		return false;
	op.id = arena_strdup(r->a, id.text);
	const char *name = json_string_value(json_object_get(j, "name"));
	op.name = name ? arena_strdup(r->a, name) : op.id;
	if (!number(r, j, "fpgaLatency", COST_GRAPH_MAX_MS, NAN, &op.ms) ||
	    !number(r, j, "cpuLatency", COST_GRAPH_MAX_MS, -1, &op.core_ms) ||
	    !number(r, j, "size", COST_GRAPH_MAX_BYTES, 0, &bytes) ||
	    !truth(r, j, "isBackwardNode", &op.backward) ||
	    !truth(r, j, "supportedOnFpga", &runs) ||
	    !colour(r, j, &op.colour))
		return false;
	if (!runs)
		return wrong(r, "'supportedOnFpga' is 0, an operator that no "
				"accelerator runs; it cannot be placed");
	op.resident_nbytes = (int64_t)floor(bytes + 0.5);
	int v = cost_builder_op(r->b, &op);
	if (v >= 0)
		cost_builder_result(r->b, v, 0, 0);
	return v >= 0;
}

/* Reads one end of an edge; -1 after an error. */
static int end_of(const reader *r, const json_t *j, const char *key)
{
	identity id;
	if (!read_identity(r, j, key, &id))
		return -1;
	int v = cost_builder_find(r->b, id.text);
	if (v < 0)
		wrong(r, arena_printf(r->a, "'%s' is %s, and no node has this "
				      "id", key, id.text));
	return v;
}

/* Bytes and time of an operator's result, as given by its edges. */
typedef struct claim {
	double bytes, ms; /* ms < 0: not given yet */
	bool cost_differs, bytes_differ;
} claim;

static bool read_edge(reader *r, const json_t *j)
{
	double ms, bytes;
	int u = end_of(r, j, "sourceId");
	int v = u < 0 ? -1 : end_of(r, j, "destId");
	if (v < 0 ||
	    !number(r, j, "cost", COST_GRAPH_MAX_MS, NAN, &ms) ||
	    !number(r, j, "size", COST_GRAPH_MAX_BYTES, 0, &bytes))
		return false;
	claim *c = &r->claims[u];
	bool first = c->ms < 0;
	c->cost_differs |= !first && c->ms != ms;
	c->bytes_differ |= !first && c->bytes != bytes;
	c->ms = ms;
	c->bytes = bytes > c->bytes ? bytes : c->bytes;
	cost_builder_result(r->b, u, c->bytes, c->ms);
	return cost_builder_edge(r->b, u, v);
}

/* Calls read() for each row of a list; rows are numbered from 1. */
static bool read_rows(reader *r, const json_t *j, const char *part,
		      bool (*read)(reader *r, const json_t *of))
{
	json_t *of;
	size_t i;
	if (!json_is_array(j))
		return wrong(r, arena_printf(r->a, "'%ss' is missing: a list "
					     "of objects", part));
	json_array_foreach((json_t *)j, i, of) {
		r->part = part;
		r->row = i + 1;
		if (!json_is_object(of))
			return wrong(r, arena_printf(r->a, "a %s is an object",
						     part));
		if (!read(r, of))
			return false;
	}
	r->part = NULL;
	return true;
}

/* ---- what models of ours have in addition -------------------------------- */

/* Reads a member that is 0 if absent. */
static bool optional_truth(reader *r, const json_t *j, const char *key,
			   bool *to)
{
	*to = false;
	return !json_object_get(j, key) || truth(r, j, key, to);
}

/* Reads a node's place in the program for one device. */
static bool read_program(reader *r, const json_t *j, cost_op *op)
{
	const json_t *step = json_object_get(j, "step");
	json_int_t at = json_integer_value(step);
	bool state;
	if (step && (!json_is_integer(step) || at < 1 ||
		     at > COST_GRAPH_MAX_OPS))
		return unexpected(r, j, "step",
				  arena_printf(r->a, "an integer from 1 to %d",
					       COST_GRAPH_MAX_OPS));
	op->step = (int)at;
	if (!optional_truth(r, j, "overState", &state) ||
	    !optional_truth(r, j, "constant", &op->constant) ||
	    !optional_truth(r, j, "output", &op->output))
		return false;
	op->over = state ? COST_OVER_STATE : 0;
	if (json_object_get(j, "overId"))
		op->over = end_of(r, j, "overId") + 1;
	return op->over != 0 || !json_object_get(j, "overId");
}

/* Reads the forward node, and what stages need.  All nodes are known by now. */
static bool read_addition(reader *r, const json_t *j)
{
	double gradients;
	cost_op *op = cost_builder_at(r->b, (int)r->row - 1);
	if (!number(r, j, "gradientSize", COST_GRAPH_MAX_BYTES, 0,
		    &gradients) ||
	    !optional_truth(r, j, "oncePerStep", &op->once) ||
	    !read_program(r, j, op))
		return false;
	op->gradient_nbytes = (int64_t)floor(gradients + 0.5);
	int of = json_object_get(j, "forwardId") ? end_of(r, j, "forwardId") :
						    -2;
	if (of >= 0 && cost_builder_at(r->b, of)->backward)
		return wrong(r, "'forwardId' is not a node of the forward "
				"pass");
	if (of >= 0 && !op->backward)
		return wrong(r, "'forwardId' is of the backward pass's nodes");
	if (of >= 0)
		op->mirror = of;
	return of != -1;
}

/* Reads the result of a node, with or without readers. */
static bool read_result(reader *r, const json_t *j)
{
	double ms, bytes;
	int v = end_of(r, j, "id");
	if (v < 0 || !number(r, j, "cost", COST_GRAPH_MAX_MS, NAN, &ms) ||
	    !number(r, j, "size", COST_GRAPH_MAX_BYTES, NAN, &bytes))
		return false;
	if (r->has_result[v])
		return wrong(r, "this node has a result already");
	r->has_result[v] = true;
	cost_builder_result(r->b, v, bytes, ms);
	return true;
}

static bool read_model(reader *r, const json_t *j)
{
	if (json_integer_value(json_object_get(j, "version")) != 1)
		return wrong(r, "the version of the format is not 1");
	r->has_result = ARENA_ARRAY(r->a, bool, cost_builder_count(r->b));
	return read_rows(r, json_object_get(j, "nodes"), "node",
			 read_addition) &&
	       read_rows(r, json_object_get(j, "results"), "result",
			 read_result);
}

/* ---- all ----------------------------------------------------------------- */

/* Reports where edges from one source disagree. */
static void say_claims(const reader *r, const claim *c, size_t n)
{
	int costs = 0, sizes = 0;
	for (size_t i = 0; i < n; i++) {
		costs += c[i].cost_differs;
		sizes += c[i].bytes_differ;
	}
	if (costs > 0)
		diag_warning_in(r->s, DIAG_COST_GRAPH_REPAIRED, r->path,
				"the edges of %d nodes differ in 'cost'; a "
				"result has one: the last counts", costs);
	if (sizes > 0)
		diag_warning_in(r->s, DIAG_COST_GRAPH_REPAIRED, r->path,
				"the edges of %d nodes differ in 'size'; a "
				"result has one: the largest counts", sizes);
}

/* No accelerator has faster links than this. */
#define MOST_BYTES_PER_SECOND 1e12

/* Warns if transfers cost next to nothing. */
static void say_bandwidth(const reader *r, const claim *c, size_t n)
{
	double bytes = 0, seconds = 0;
	for (size_t i = 0; i < n; i++)
		if (c[i].ms > 0 && c[i].bytes > 0) {
			bytes += c[i].bytes;
			seconds += c[i].ms * 1e-3;
		}
	if (bytes > MOST_BYTES_PER_SECOND * seconds)
		diag_warning_in(r->s, DIAG_COST_GRAPH_DOUBTFUL, r->path,
				"the costs of edges are their sizes at %.0f "
				"GB/s: without a link of your own, transfers "
				"take next to nothing", bytes / seconds * 1e-9);
}

/* Whether the backward pass is a second copy of the forward pass, with no edges
 * between them, as in layer training graphs. */
static bool is_mirrored(const cost_graph *g)
{
	bool forward = false;
	for (int u = 0; u < g->nops; u++) {
		forward |= !g->ops[u].backward;
		for (int i = g->first_succ[u]; i < g->first_succ[u + 1]; i++)
			if (!g->ops[u].backward &&
			    g->ops[g->succ[i].op].backward)
				return false;
	}
	return forward && g->training;
}

/* Pairs each operator with the last one of its colour in the other pass. */
static void pair_passes(cost_graph *g)
{
	arena *work = arena_new();
	int *last[2] = { ARENA_ARRAY(work, int, g->ncolours),
			 ARENA_ARRAY(work, int, g->ncolours) };
	for (int v = 0; v < g->nops; v++)
		last[g->ops[v].backward][g->ops[v].colour] = v + 1;
	for (int v = 0; v < g->nops; v++)
		g->ops[v].mirror =
			last[!g->ops[v].backward][g->ops[v].colour] - 1;
	arena_free(work);
}

static bool read_lists(reader *r, const json_t *j, bool model)
{
	if (!read_rows(r, json_object_get(j, "nodes"), "node", read_node))
		return false;
	size_t n = (size_t)cost_builder_count(r->b);
	r->claims = ARENA_ARRAY(r->a, claim, n);
	for (size_t v = 0; v < n; v++)
		r->claims[v].ms = -1;
	if (!read_rows(r, json_object_get(j, "edges"), "edge", read_edge))
		return false;
	say_claims(r, r->claims, n);
	if (model)
		return read_model(r, j);
	say_bandwidth(r, r->claims, n);
	return true;
}

static cost_graph *read_graph(reader *r, const json_t *j)
{
	double memory, accelerators, cores;
	const char *format = json_string_value(json_object_get(j, "format"));
	bool model = format && !strcmp(format, "tdl-costs");
	if (!json_is_object(j)) {
		wrong(r, "this is not a cost graph: an object is expected");
		return NULL;
	}
	if (!read_lists(r, j, model) ||
	    !number(r, j, "maxSizePerFPGA", 0x1p62, -1, &memory) ||
	    !number(r, j, "maxFPGAs", 1 << 24, -1, &accelerators) ||
	    !number(r, j, "maxCPUs", 1 << 24, -1, &cores))
		return NULL;
	cost_graph *g = cost_builder_finish(r->b, model ? COST_FORMAT_MODEL :
							  COST_FORMAT_DNN);
	if (!g)
		return NULL;
	g->integer_ids = true;
	g->resident_has_results = !model;
	g->bound = model;
	g->memory_nbytes = (int64_t)memory;
	g->accelerators = (int64_t)accelerators;
	g->cores = (int64_t)cores;
	g->mirrored = !model && is_mirrored(g);
	if (g->mirrored)
		pair_passes(g);
	return g;
}

cost_graph *cost_graph_read_dnn(arena *a, diag_sink *s, const char *path,
				const char *text, size_t len)
{
	reader r = { .a = a, .s = s, .path = path,
		     .b = cost_builder_new(a, s, path) };
	json_error_t e;
	json_t *j = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
	if (!j)
		diag_error_in(s, DIAG_COST_GRAPH_SYNTAX,
			      arena_printf(a, "%s:%d:%d", path, e.line,
					   e.column),
			      "this is not JSON: %s", e.text);
	cost_graph *g = j ? read_graph(&r, j) : NULL;
	json_decref(j);
	return g;
}

/* Cost graphs: operators with their times and bytes, without their kernels.
 *
 * A cost graph has for each operator its time and the bytes that lie on its
 * device, and for each result its size, its readers, and, if the file gives it,
 * the time of a transfer to another device.  It is acyclic.
 *
 * Operators and edges are numbered in the order of the file; ties everywhere
 * are broken by these numbers.  Times are whole nanoseconds, rounded once,
 * halves up; the numbers of the file are kept for machines that round anew (a
 * device twice as fast, a link with a bandwidth). */
#ifndef TDL_COMPILER_PLACEMENT_COST_GRAPH_H
#define TDL_COMPILER_PLACEMENT_COST_GRAPH_H

#include "base/json.h"
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"

enum {
	COST_GRAPH_MAX_FILE = 128 << 20, /* bytes */
	COST_GRAPH_MAX_OPS = 1 << 20,
	COST_GRAPH_MAX_EDGES = 1 << 23,
};

/* Limits of a single cost in a file.  The sum of all times, each transfer
 * counted once per reader, is at most COST_GRAPH_MAX_NS, so that no sum over a
 * schedule can overflow. */
#define COST_GRAPH_MAX_MS 1e9	   /* 11 days */
#define COST_GRAPH_MAX_BYTES 0x1p50
#define COST_GRAPH_MAX_NS ((int64_t)1 << 61)

typedef struct cost_op {
	const char *id;	  /* as in the file; of a profile's backward operators
			     the layer's with a ' */
	const char *name; /* for people */
	double ms, core_ms;	  /* on an accelerator; on a processor core,
				     < 0 if the file does not say */
	int64_t ns, core_ns;	  /* the same, rounded; -1 */
	int64_t resident_nbytes;  /* on its device all the time */
	int64_t gradient_nbytes;  /* of the gradients of weights among these,
				     where they count for themselves */
	int64_t activation_nbytes; /* of a profile's layer, on its forward
				     operator */
	int colour; /* operators of equal colour may have to lie together; one
		       that the file gives none has one of its own */
	int mirror; /* the operator of the other pass that belongs to it: of
		       profiles, the same layer's; of a model's backward
		       operators, the one of the forward pass that they are
		       there for; -1 if there is none */
	bool backward;
	bool once; /* runs once per step, not with each micro-batch: updates */
	/* Of a model's operators: */
	int step;  /* the place in the order of the program for one device, from
		      1; 0: before all others, or the file does not say */
	int over;  /* the operator, + 1, in whose result's place this one's
		      result lies in that program; COST_OVER_STATE where that
		      is a state's; 0 */
	bool constant; /* its result is there all the time, where it is read */
	bool output;   /* .. is needed after the pass */
} cost_op;

enum { COST_OVER_STATE = -1 };

/* A tensor: it goes from its producer to each other device with a reader, once.
 * Its readers are readers[first_reader .. + nreaders), in order of edges. */
typedef struct cost_result {
	int producer;
	double bytes;	/* as in the file */
	int64_t nbytes; /* rounded */
	double ms;	/* over one link, by the file; < 0 if it says nothing */
	int first_reader, nreaders;
} cost_result;

/* One end of an edge: the operator at the other, and the result on it. */
typedef struct cost_edge {
	int op, result;
} cost_edge;

typedef enum cost_format {
	COST_FORMAT_DNN,       /* dnn-partitioning's JSON */
	COST_FORMAT_PIPEDREAM, /* a profile, graph.txt */
	COST_FORMAT_MODEL,     /* a model of ours, or `tdlc show --costs' */
} cost_format;

typedef struct cost_graph {
	const char *path, *name; /* of the file; without folders */
	const struct cost_graph *file; /* as in the file, for loads; itself
					  unless that was tied */
	cost_format format;
	int nops, nresults, nedges, ncolours;
	cost_op *ops;
	cost_result *results; /* of operator v: first_result[v] .. [v + 1] */
	int *first_result;
	int *readers;
	cost_edge *succ, *pred; /* of v: first_succ[v] .. first_succ[v + 1], in
				   the order of the file; each pair once */
	int *first_succ, *first_pred;
	int *order; /* topological: of what is ready, the lowest number first */
	bool integer_ids;
	bool resident_has_results; /* resident_nbytes counts results already, so
				      that they have no lifetimes */
	bool resident_is_weights;  /* .. counts weights alone: their gradients
				      and an optimizer's states come to that */
	bool bound; /* operators of one colour share memory: no placement parts
		       them */
	bool training;		   /* has a backward pass */
	bool mirrored; /* edges of the backward pass run as the forward ones do
			  and nothing ties the two: no graph that can be run
			  (cost_graph_tie_training()) */
	/* The file's machine; -1 where the file gives no value. */
	int64_t accelerators, cores, memory_nbytes;
} cost_graph;

/* Reads a cost graph.  Repairs are reported as warnings.  NULL when errors were
 * added. */
cost_graph *cost_graph_read(arena *a, diag_sink *s, const char *path);

/* dnn-partitioning's layer training graphs as graphs that can be run: the
 * gradient of a result of u goes from v' to u' (a result of its own, of the
 * size and time that the file gives for u'), and u' reads u's result; u' is the
 * backward operator of u's colour.  Adds a warning that says so.  A graph that
 * is not `mirrored` is returned as it is; NULL when errors were added. */
const cost_graph *cost_graph_tie_training(arena *a, diag_sink *s,
					  const cost_graph *g);

/* Milliseconds as whole nanoseconds, halves up. */
int64_t cost_ns(double ms);

/* ---- building, for readers ----------------------------------------------- */

typedef struct cost_builder cost_builder;

/* `path' is the place of the diagnostics added to s. */
cost_builder *cost_builder_new(arena *a, diag_sink *s, const char *path);

/* Adds an operator; id, name, ms, core_ms, resident_nbytes, activation_nbytes,
 * backward, mirror are copied, colour too unless it is < 0.  Returns its
 * number; -1 after an error (a duplicate id, too many operators). */
int cost_builder_op(cost_builder *b, const cost_op *op);

/* The number of the operator with an id; -1 if there is none. */
int cost_builder_find(const cost_builder *b, const char *id);
int cost_builder_count(const cost_builder *b);
cost_op *cost_builder_at(cost_builder *b, int op);

/* v reads the first result of u, whose bytes and ms are those of the last call
 * of cost_builder_result(). */
bool cost_builder_edge(cost_builder *b, int u, int v);
void cost_builder_result(cost_builder *b, int u, double bytes, double ms);
/* v reads a result of u that no other operator reads. */
bool cost_builder_own(cost_builder *b, int u, int v, double bytes, double ms);

/* The graph.  NULL when errors were added: a cycle, or too much in all. */
cost_graph *cost_builder_finish(cost_builder *b, cost_format format);

/* The graph as JSON, of COST_FORMAT_MODEL: dnn-partitioning's keys and some
 * more (docs/placement.md).  machine: the name of what its times are for. */
json_t *cost_graph_json(const cost_graph *g, const char *machine);

/* The readers of formats; a zero follows the len bytes of text. */
cost_graph *cost_graph_read_dnn(arena *a, diag_sink *s, const char *path,
				const char *text, size_t len);
cost_graph *cost_graph_read_profile(arena *a, diag_sink *s, const char *path,
				    char *text, size_t len);

#endif

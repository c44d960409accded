/* Cost graphs: operators with their times and bytes, without their kernels.
 *
 * A cost graph has the time of each operator and the bytes that it keeps on its
 * device; the size and the readers of each result; and, if the file gives it,
 * the time of the result's transfer to another device.  It is acyclic.
 *
 * Operators and edges are numbered in the order of the file; ties are always
 * broken by these numbers.  Times are whole nanoseconds, rounded once, halves
 * up.  The numbers of the file are kept for machines that need to scale before
 * rounding (a device twice as fast, a link with a bandwidth). */
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

/* Limits of a single cost in a file.  The sum of all times, with each transfer
 * counted once per reader, is at most COST_GRAPH_MAX_NS, so that no sum over a
 * schedule can overflow. */
#define COST_GRAPH_MAX_MS 1e9	   /* 11 days */
#define COST_GRAPH_MAX_BYTES 0x1p50
#define COST_GRAPH_MAX_NS ((int64_t)1 << 61)

typedef struct cost_op {
	/* as in the file; a profile's backward operators have the layer's with
	 * a ' appended */
	const char *id;
	const char *name; /* for people */
	/* on an accelerator; on a processor core, < 0 if the file does not
	 * say */
	double ms, core_ms;
	int64_t ns, core_ns;	  /* the same, rounded; -1 */
	int64_t resident_nbytes;  /* always on its device */
	/* of these, gradients of weights, if they are counted separately */
	int64_t gradient_nbytes;
	/* of a profile's layer; on its forward operator */
	int64_t activation_nbytes;
	/* operators of equal colour may have to share a device; an operator
	 * without a colour in the file has a unique one */
	int colour;
	/* the corresponding operator of the other pass: in profiles, of the
	 * same layer; for a model's backward operators, the forward operator
	 * they serve; -1 if there is none */
	int mirror;
	bool backward;
	bool once; /* runs once per step, not for each micro-batch: updates */
	/* For a model's operators: */
	/* position in the program for one device, from 1; 0: before all others,
	 * or not in the file */
	int step;
	/* 1 + the operator whose result this one's result replaces in place in
	 * that program; COST_OVER_STATE if it replaces a state; 0 for
	 * neither */
	int over;
	bool constant; /* its result is always present where it is read */
	bool output;   /* its result is needed after the pass */
} cost_op;

enum { COST_OVER_STATE = -1 };

/* A tensor, which its producer sends once to each other device that has a
 * reader.  Its readers are readers[first_reader .. + nreaders), in the order of
 * edges. */
typedef struct cost_result {
	int producer;
	double bytes;	/* as in the file */
	int64_t nbytes; /* rounded */
	double ms;	/* over one link, as in the file; < 0 if not given */
	int first_reader, nreaders;
} cost_result;

/* An edge as seen from one end: the operator at the other end, and its
 * result. */
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
	/* as in the file, for loads; the graph itself unless
	 * cost_graph_tie_training() changed it */
	const struct cost_graph *file;
	cost_format format;
	int nops, nresults, nedges, ncolours;
	cost_op *ops;
	cost_result *results; /* of operator v: first_result[v] .. [v + 1] */
	int *first_result;
	int *readers;
	/* of v: first_succ[v] .. first_succ[v + 1], in the order of the file,
	 * without repeated pairs */
	cost_edge *succ, *pred;
	int *first_succ, *first_pred;
	/* topological; of the operators that are ready, the lowest number
	 * first */
	int *order;
	bool integer_ids;
	/* resident_nbytes includes results, which therefore have no
	 * lifetimes */
	bool resident_has_results;
	/* .. counts weights only, without their gradients and the optimizer's
	 * states */
	bool resident_is_weights;
	/* operators of one colour share memory, so every placement keeps them
	 * together */
	bool bound;
	bool training;		   /* has a backward pass */
	/* edges of the backward pass have the direction of the forward ones,
	 * and nothing connects the passes, so that it cannot be run
	 * (cost_graph_tie_training()) */
	bool mirrored;
	/* The file's machine; -1 for values that the file does not give. */
	int64_t accelerators, cores, memory_nbytes;
} cost_graph;

/* Reads a cost graph, in a.  Repairs are reported as warnings.  Returns NULL
 * after adding errors. */
cost_graph *cost_graph_read(arena *a, diag_sink *s, const char *path);

/* Turns dnn-partitioning's layer training graphs into graphs that can be run:
 * the gradient of a result of u goes from v' to u' (as a separate result, with
 * the size and time that the file gives for u'), and u' reads u's result; u' is
 * the backward operator of u's colour.  Adds a warning that says so.  A graph
 * that is not `mirrored' is returned unchanged.  Returns NULL after adding
 * errors. */
const cost_graph *cost_graph_tie_training(arena *a, diag_sink *s,
					  const cost_graph *g);

/* Milliseconds as whole nanoseconds, halves up. */
int64_t cost_ns(double ms);

/* ---- building, for readers ----------------------------------------------- */

typedef struct cost_builder cost_builder;

/* A new builder, in a.  `path' is the place of the diagnostics added to s. */
cost_builder *cost_builder_new(arena *a, diag_sink *s, const char *path);

/* Adds an operator: copies id, name, ms, core_ms, resident_nbytes,
 * activation_nbytes, backward, mirror, and colour unless it is < 0.  Returns
 * its number; -1 after an error (a duplicate id, too many operators). */
int cost_builder_op(cost_builder *b, const cost_op *op);

/* The number of the operator with an id; -1 if there is none. */
int cost_builder_find(const cost_builder *b, const char *id);
int cost_builder_count(const cost_builder *b);
cost_op *cost_builder_at(cost_builder *b, int op);

/* Makes v a reader of u's first result, whose bytes and ms are those of the
 * last call of cost_builder_result(). */
bool cost_builder_edge(cost_builder *b, int u, int v);
void cost_builder_result(cost_builder *b, int u, double bytes, double ms);
/* Makes v the only reader of a new result of u. */
bool cost_builder_own(cost_builder *b, int u, int v, double bytes, double ms);

/* Returns the graph.  NULL after adding errors: a cycle, or sums that are too
 * large. */
cost_graph *cost_builder_finish(cost_builder *b, cost_format format);

/* The graph as JSON of COST_FORMAT_MODEL: dnn-partitioning's keys and some more
 * (docs/placement.md). machine: the name of the machine to which its times
 * apply. */
json_t *cost_graph_json(const cost_graph *g, const char *machine);

/* The readers of the formats. text has len bytes and a zero after them. */
cost_graph *cost_graph_read_dnn(arena *a, diag_sink *s, const char *path,
				const char *text, size_t len);
cost_graph *cost_graph_read_profile(arena *a, diag_sink *s, const char *path,
				    char *text, size_t len);

#endif

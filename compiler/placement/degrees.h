/* Layers with their needs at each tensor degree, in each of several ways (with
 * and without recomputation, for example): Piper's JSON (Tarnawski, Narayanan,
 * Phanishayee, Piper: Multidimensional Planner for DNN Parallelization, NeurIPS
 * 2021). */
#ifndef TDL_COMPILER_PLACEMENT_DEGREES_H
#define TDL_COMPILER_PLACEMENT_DEGREES_H

#include "base/json.h"

#include "compiler/placement/ideals.h"
#include "compiler/placement/layers.h"

enum {
	DEGREES_MAX_EDGES = 1 << 14,
	DEGREES_MAX_CHOICES = 16, /* of a layer at one degree */
};

/* One way to compute a layer on `degree' devices together. */
typedef struct degree_way {
	int degree;
	const char *name;
	double seconds;	   /* per micro-batch, forward and backward */
	double parameters; /* bytes that replicas exchange */
	double kept;	   /* bytes per micro-batch in flight .. */
	double fixed;	   /* .. and in addition to these */
	/* by edge of the layer, in order: bytes that cutting the edge costs in
	 * addition to its own */
	double *sync;
} degree_way;

typedef struct degree_edge {
	int from, to;
	double bytes;
} degree_edge;

typedef struct degree_layer {
	const char *id, *name;
	int nways;
	degree_way *ways; /* ways of equal degree are adjacent */
	/* incoming and outgoing, in the order of the file */
	int nedges, *edges;
} degree_layer;

typedef struct degree_table {
	const char *name; /* of the file, without folders */
	int n, nedges;
	degree_layer *at;
	degree_edge *edges;
	int devices, micro_batches;
	double memory;	  /* bytes per device */
	double bandwidth; /* bytes/s per device */
} degree_table;

/* Whether a file is meant to be a degree table. */
bool degrees_are_meant(const json_t *j);

/* Reads a table, in a.  Repairs are reported as warnings.  Returns NULL after
 * adding errors. */
degree_table *degrees_read(arena *a, diag_sink *s, const char *path,
			   const json_t *j);

#endif

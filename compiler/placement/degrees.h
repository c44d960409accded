/* Layers by what they need at each tensor degree, in each of several ways
 * (with and without recomputation, say): Piper's JSON (Tarnawski, Narayanan,
 * Phanishayee, Piper: Multidimensional Planner for DNN Parallelization,
 * NeurIPS 2021). */
#ifndef TDL_COMPILER_PLACEMENT_DEGREES_H
#define TDL_COMPILER_PLACEMENT_DEGREES_H

#include "base/json.h"

#include "compiler/placement/ideals.h"
#include "compiler/placement/layers.h"

enum {
	DEGREES_MAX_EDGES = 1 << 14,
	DEGREES_MAX_CHOICES = 16, /* of a layer at one degree */
};

/* A choice: one way to compute a layer on `degree` devices together. */
typedef struct degree_way {
	int degree;
	const char *name;
	double seconds;	   /* of a micro-batch, forward and backward */
	double parameters; /* bytes that replicas exchange */
	double kept;	   /* bytes of each micro-batch in flight .. */
	double fixed;	   /* .. and beside these */
	double *sync;	   /* bytes of each edge of the layer, in the order of
			      its edges, that a cut of it costs beside the
			      edge's own */
} degree_way;

typedef struct degree_edge {
	int from, to;
	double bytes;
} degree_edge;

typedef struct degree_layer {
	const char *id, *name;
	int nways;
	degree_way *ways; /* those of one degree follow each other */
	int nedges, *edges; /* into and out of it, in the order of the file */
} degree_layer;

typedef struct degree_table {
	const char *name; /* of the file, without folders */
	int n, nedges;
	degree_layer *at;
	degree_edge *edges;
	int devices, micro_batches;
	double memory;	  /* bytes of a device */
	double bandwidth; /* bytes/s of a device */
} degree_table;

/* Whether a file is meant to be one. */
bool degrees_are_meant(const json_t *j);

/* Says in warnings what it repaired; NULL when errors were added. */
degree_table *degrees_read(arena *a, diag_sink *s, const char *path,
			   const json_t *j);

#endif

/* Layer tables: models as lists of layers with their costs, for plans over
 * replicas, tensors and stages (capture.h). {"format": "tdl-layers", "version":
 * 1, "layers": [{"params", "flops", "act", "rep", "edge", "ar"}, ..],
 * "machine": {"devices", "node", "flops", "intra", "inter", "memory"}, "batch":
 * B}.  Layers that share their parameters have the same "tie".  "skips":
 * [{"from", "to", "act"}, ..] are tensors read by a layer other than the next
 * one. */
#ifndef TDL_COMPILER_PLACEMENT_LAYERS_H
#define TDL_COMPILER_PLACEMENT_LAYERS_H

#include "base/json.h"

#include "base/arena.h"
#include "base/diag.h"

enum {
	LAYERS_MAX_FILE = 16 << 20, /* bytes */
	LAYERS_MAX = 1024,
	LAYERS_MAX_SKIPS = 1024,
	LAYERS_MAX_DEVICES = 1 << 12,
	LAYERS_MAX_BATCH = 1 << 20,
};

typedef struct layer {
	double params; /* bytes of weights, in the type used for computing */
	double flops;  /* forward, per sample */
	/* bytes kept for the backward pass, per sample; divided by the tensor
	 * degree */
	double act;
	double rep;    /* the same, but on every device of a tensor group */
	double edge;   /* bytes of the output, per sample */
	/* bytes summed by each all-reduce, per sample; there are two forward
	 * and two backward */
	double ar;
	/* from 1 on: the layers with the same number share all params; 0: they
	 * are the layer's own */
	int tie;
} layer;

/* A tensor of layer `from' that layer `to' reads, in addition to the edge. */
typedef struct layer_skip {
	int from, to;
	double act; /* bytes per sample */
} layer_skip;

typedef struct layer_table {
	const char *name; /* of the file, without folders */
	int n;
	layer *at;
	int nties; /* numbers 1 .. nties */
	int nskips;
	layer_skip *skips;
	int devices, node; /* devices of the machine; devices per node */
	double flops;	   /* FLOP/s per device */
	double intra, inter; /* bytes/s within a node and between nodes */
	double memory;	   /* bytes per device */
	int batch;	   /* samples per step */
} layer_table;

/* The JSON of a file; the caller calls json_decref().  NULL after adding an
 * error. */
json_t *layers_load(arena *a, diag_sink *s, const char *path);

/* Reads a table, in a.  Returns NULL after adding errors. */
layer_table *layers_read(arena *a, diag_sink *s, const char *path,
			 const json_t *j);

#endif

/* Layer tables: models as lists of layers with their costs, for plans over
 * replicas, tensors and stages (capture.h).  {"format": "tdl-layers",
 * "version": 1, "layers": [{"params", "flops", "act", "rep", "edge", "ar"},
 * ..], "machine": {"devices", "node", "flops", "intra", "inter", "memory"},
 * "batch": B}; layers that share their parameters have the same "tie", and
 * "skips": [{"from", "to", "act"}, ..] are tensors that are read by another
 * layer than the next one. */
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
	double params; /* bytes of weights, in the type that is computed in */
	double flops;  /* forward, of a sample */
	double act;    /* bytes kept for the backward pass, of a sample;
			  divided by the tensor degree */
	double rep;    /* the same, on every device of a tensor group */
	double edge;   /* bytes of the output, of a sample */
	double ar;     /* bytes that each all-reduce sums, of a sample; two
			  forward, two backward */
	int tie;       /* from 1 on: all params are those of the layers with
			  the same number; 0: they are the layer's own */
} layer;

/* A tensor of layer `from' that layer `to' reads as well, beside the edge. */
typedef struct layer_skip {
	int from, to;
	double act; /* bytes, of a sample */
} layer_skip;

typedef struct layer_table {
	const char *name; /* of the file, without folders */
	int n;
	layer *at;
	int nties; /* numbers 1 .. nties */
	int nskips;
	layer_skip *skips;
	int devices, node; /* devices of the machine, and of a node */
	double flops;	   /* FLOP/s of a device */
	double intra, inter; /* bytes/s within a node and between nodes */
	double memory;	   /* bytes of a device */
	int batch;	   /* samples of a step */
} layer_table;

/* The JSON of a file, for the caller to json_decref(); NULL when an error was
 * added. */
json_t *layers_load(arena *a, diag_sink *s, const char *path);

/* NULL when errors were added. */
layer_table *layers_read(arena *a, diag_sink *s, const char *path,
			 const json_t *j);

#endif

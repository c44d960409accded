/* Profiles and models as sequences of layers, and the costs of their stages.
 *
 * The layers of a profile, in topological order with ties in the order of the
 * file, are cut into stages.  Stage s with the layers [i, j) takes
 *
 *	memory	factor * parameters + n(s) * (activations + incoming)
 *	time	forward + backward + 2 * (incoming + outgoing) / bandwidth
 *
 * where incoming are the tensors computed before i and read in [i, j), outgoing
 * those computed in [i, j) and read from j on, each once, and n(s) the
 * micro-batches in flight.  With recomputation only incoming tensors are kept
 * for each micro-batch, activations are present once, and the forward pass
 * counts twice.  A micro-batch is the minibatch that was profiled.
 *
 * The layers of a model are the operators of its forward pass.  Parameters are
 * the states of a layer and the gradients of its weights, with a factor of 1;
 * those that several layers share are present once in each stage that has one
 * of these layers.  All other memory is derived from the model's program
 * (stage_memory.h).  Updates are not part of the time: they run once per
 * step. */
#ifndef TDL_COMPILER_PLACEMENT_STAGES_H
#define TDL_COMPILER_PLACEMENT_STAGES_H

#include "compiler/placement/cost_graph.h"
#include "compiler/cost/schedule.h"
#include "compiler/placement/split.h"
#include "compiler/placement/stage_memory.h"

typedef struct layer_chain {
	int n;
	int *op;		 /* forward operators of the graph */
	double *forward, *backward; /* ns */
	double *parameters, *activation; /* bytes */
	/* parameters that only this layer has, in addition */
	double *alone;
	/* the next layer with the same parameters; n if none */
	int *next_tied;
	/* reads[first_read[v] .. first_read[v + 1]): the distinct layers .. */
	int *first_read;
	int *reads;	 /* .. whose tensors v reads */
	int *last_reader; /* of its tensor; -1 if there is none */
	const stage_memory *memory; /* for a model; else NULL */
} layer_chain;

typedef struct stage_model {
	pipeline_schedule schedule;
	int micro_batches;
	bool recompute;
	double factor;	  /* bytes of states per byte of parameters */
	double bandwidth; /* bytes/s; INFINITY: transfers take no time */
	int chunks;	  /* per device; 1 unless interleaved */
} stage_model;

/* The layers of a profile, or of a model, in a. */
layer_chain *layer_chain_new(arena *a, const cost_graph *g);

/* The costs of stages, in a; times in whole ns, transfers rounded halves up.
 * For an interleaved schedule it sets `running': what a device needs once for
 * all its chunks, as it runs one at a time. */
intervals *layer_intervals(arena *a, const layer_chain *l,
			   const stage_model *m);

/* An upper bound of the bytes of a stage, whether exact or predicted. */
double stages_most_bytes(const layer_chain *l, const stage_model *m);

/* Micro-batches in flight by stage, in a. */
int *stage_in_flight(arena *a, const stage_model *m, int nstages);

/* The stage of each operator of the graph, in a: a layer has that of its
 * forward operator, and so have all operators that serve it. */
int *stages_placement(arena *a, const cost_graph *g, const layer_chain *l,
		      const split *s, int nstages);

/* mCAP's memory predictor (Dreuning, Bal, van Nieuwpoort 2022), in a: the first
 * layer alone, plus the increase from each further layer.  Times are those of
 * t. */
intervals *intervals_predicted(arena *a, const intervals *t);

/* Simulates a step of a split into nstages, which is chunks times the number of
 * devices.  Messages run concurrently with computation instead of within the
 * stages' times.  A backward pass that a schedule splits counts as two halves.
 * Returns NULL, with the reason in *why, if the schedule is refused. */
const pipeline_run *stages_simulate(arena *a, const layer_chain *l,
				    const stage_model *m, const split *s,
				    int nstages, const char **why);

#endif

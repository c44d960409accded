/* Profiles and models as sequences of layers, and the costs of their stages.
 *
 * The layers of a profile, in topological order with ties in the order of the
 * file, are cut into stages.  Stage s with the layers [i, j) takes
 *
 * 	memory	factor * parameters + n(s) * (activations + incoming)
 * 	time	forward + backward + 2 * (incoming + outgoing) / bandwidth
 *
 * where incoming are the tensors made before i and read in [i, j), outgoing
 * those made in [i, j) and read from j on, each once, and n(s) the
 * micro-batches in flight.  With recomputation only incoming tensors are kept
 * of each micro-batch, the activations are there once, and the forward pass
 * counts twice.  A micro-batch is the minibatch that was profiled.
 *
 * The layers of a model are the operators of its forward pass.  Parameters are
 * the states of a layer and the gradients of its weights, with a factor of 1,
 * and those that several layers share are there once in each stage that has one
 * of these.  All else that is in memory is read off the model's program
 * (stage_memory.h).  Updates are no part of the time: they come once per
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
	double *alone;	   /* of parameters that the layer has in addition */
	int *next_tied;	   /* the next layer with the same parameters; n */
	int *first_read; /* reads[first_read[v] .. first_read[v + 1]): the */
	int *reads;	 /* layers, each once, whose tensors v reads */
	int *last_reader; /* of its tensor; -1 if it has no reader */
	const stage_memory *memory; /* of a model; else NULL */
} layer_chain;

typedef struct stage_model {
	pipeline_schedule schedule;
	int micro_batches;
	bool recompute;
	double factor;	  /* bytes of states per byte of parameters */
	double bandwidth; /* bytes/s; INFINITY if transfers take no time */
	int chunks;	  /* of a device; 1 unless interleaved */
} stage_model;

/* The layers of a profile, or of a model. */
layer_chain *layer_chain_new(arena *a, const cost_graph *g);

/* The costs of stages; times in whole ns, transfers rounded halves up.  Of
 * an interleaved schedule they have `running': what a device needs once for all
 * its chunks, as it runs one at a time. */
intervals *layer_intervals(arena *a, const layer_chain *l,
			   const stage_model *m);

/* An upper bound of the bytes of a stage, exact or predicted. */
double stages_most_bytes(const layer_chain *l, const stage_model *m);

/* Micro-batches in flight by stage. */
int *stage_in_flight(arena *a, const stage_model *m, int nstages);

/* The stage of each operator of the graph: a layer's is that of its forward
 * operator, and of all that are there for it. */
int *stages_placement(arena *a, const cost_graph *g, const layer_chain *l,
		      const split *s, int nstages);

/* mCAP's predictor of memory (Dreuning, Bal, van Nieuwpoort 2022): the first
 * layer alone, plus the increase that each other layer adds to the one before
 * it.  Times are those of t. */
intervals *intervals_predicted(arena *a, const intervals *t);

/* A step of a split into nstages, chunks times as many as devices, simulated,
 * with messages concurrent to the computation instead of within the stages'
 * times.  A backward pass that a schedule splits counts as two halves.  NULL
 * if the schedule is refused; with the reason in
 * *why. */
const pipeline_run *stages_simulate(arena *a, const layer_chain *l,
				    const stage_model *m, const split *s,
				    int nstages, const char **why);

#endif

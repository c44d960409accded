/* A plan of several stages: sub-meshes of devices, each with a part of the
 * operators, which hand micro-batches on to each other.  A plan file of version
 * 4; one of an earlier version is a pipeline of one stage.
 *
 * Each stage is a plan of its own, for the workers of its mesh, whose loop is
 * over the pipeline's micro-batches and whose body is in segments (plan.h).
 * Workers are numbered through all stages, in order.  What is between stages
 * goes through channels: SEND and RECEIVE are for all turns if they are in the
 * body, and once per run if they are not.  Neither tables nor messages grow
 * with the number of workers, or of micro-batches.
 *
 * Waits.  A RECEIVE waits until the turn's value has been sent.  A SEND does
 * not wait; but what writes a place out of which was sent waits until all
 * receivers have taken it.  There are no other waits between stages.
 *
 * Names.  A result is computed in one stage, and has the same name in those
 * that receive it.  A state lies in one stage.  An input, or a constant, may be
 * in several. */
#ifndef TDL_PLAN_PIPELINE_H
#define TDL_PLAN_PIPELINE_H

#include "plan/plan.h"

enum {
	PLAN_PIPELINE_VERSION = 4, /* of the file */
	PLAN_MAX_STAGES = 4096,
};

typedef struct plan_channel {
	int from, to;	    /* stages */
	int source, target; /* the tensor there */
} plan_channel;

typedef struct plan_pipeline {
	const char *model, *algorithm;
	const char *schedule; /* its name, for people */
	int nstages;
	plan *stages; /* their kernels are one table */
	int nchannels;
	plan_channel *channels;
	/* Names, in the model's order. */
	int ninputs, noutputs;
	const char **inputs, **outputs;
	plan_prediction predicted;
	int nfixed; /* as of a plan */
	const char **fixed;
	int64_t communication_bytes; /* within stages and between them */
	uint64_t digest;	     /* as of a plan */
} plan_pipeline;

/* The first worker of a stage; of stage nstages, the number of all. */
int pipeline_first(const plan_pipeline *p, int stage);

/* The tensor of a name in a stage; -1: it has none. */
int pipeline_tensor(const plan *stage, const char *name);

/* The stage of a worker, whose number in it is *local. */
int pipeline_stage_of(const plan_pipeline *p, int worker, int *local);

/* ---- plans of one stage ------------------------------------------------- */

/* A plan, with a loop or without, as a pipeline of one stage that has no
 * schedule: plan.stage is NULL.  In a; it shares p's tables. */
plan_pipeline *pipeline_of_plan(arena *a, const plan *p);

/* Whether it is that, and its file of version 3. */
bool pipeline_is_plan(const plan_pipeline *p);

/* ---- what is run, and what it is compared with --------------------------- */

/* The stages unrolled, plan_unroll(), as workers run them.  Such a pipeline can
 * be neither checked nor merged, and says nothing of turns. */
plan_pipeline *pipeline_unroll(arena *a, const plan_pipeline *p);

/* All stages as one plan.  Tensor t of stage s is its number tensors[s][t], and
 * those of one name are one; node n is nodes[s][n], -1 if it is not run. */
typedef struct pipeline_whole {
	plan *plan;
	int **tensors, **nodes;
} pipeline_whole;

/* In a, of a pipeline that was checked.  Nothing is cut in it, nothing moves,
 * and it has no places: it has the inputs, outputs and states of all stages,
 * and its program is their runs, in an order in which each comes behind those
 * whose results it reads, with the stages' loop.  plan_one_device() and
 * plan_one_turn() make of it what one worker runs, with all turns and with
 * one. */
const pipeline_whole *pipeline_merge(arena *a, const plan_pipeline *p);

/* ---- channels ---------------------------------------------------------- */

/* The pieces that a worker of a channel's receiving stage takes in a turn, each
 * element once; peers are workers of the sending stage, numbered in it.  Where
 * several have an element, one whose number fits the receiver's. */
int pipeline_pieces(arena *a, const plan_pipeline *p, int channel, int turn,
		    int worker, piece **pieces);

/* Whether the body sends on a channel, and not only what is once per run. */
bool pipeline_in_turns(const plan_pipeline *p, int channel);

/* Of an unrolled pipeline, by stage and instruction: for a RECEIVE the
 * instruction of the sending stage that sends what it takes, for a SEND the one
 * of the receiving stage that takes it; else -1.  In a. */
int **pipeline_partners(arena *a, const plan_pipeline *p);

/* Bytes of a channel to all its receivers in one run, all turns. */
int64_t pipeline_channel_bytes(const plan_pipeline *p, int channel);

/* Those of all channels, and those that move within the stages. */
int64_t pipeline_communication(const plan_pipeline *p);

/* ---- files ------------------------------------------------------------- */

/* As plan_read() and its companions, of files of version 4, and of those that
 * plan_read() takes: pipeline_of_plan(). */
plan_pipeline *pipeline_read(arena *a, diag_sink *s, const char *path);
plan_pipeline *pipeline_parse(arena *a, diag_sink *s, const char *path,
			      const char *text, size_t len);
char *pipeline_text(arena *a, const plan_pipeline *p, const char *path,
		    size_t *len);
bool pipeline_write(const plan_pipeline *p, const char *path);

/* The checks of pipeline_parse() after the syntax, of a pipeline that has a
 * schedule: those of each stage, that stages agree on what they share, and that
 * no stages wait for each other in a circle. */
bool pipeline_check(const plan_pipeline *p, diag_sink *s, const char *path);

/* Whether the stages, each going through its program in the order of its
 * schedule, all come to the end.  If not, *stage and *instr are a wait that
 * never ends; one to write where a message was sent, if there is one. */
bool pipeline_ends(const plan_pipeline *p, int *stage, int *instr);

#endif

/* A plan of several stages: sub-meshes of devices that have a part of the
 * operators each and pass micro-batches on.  Stored in plan files of version 4;
 * a file of an earlier version is a pipeline of one stage.
 *
 * Each stage is a plan for the workers of its mesh.  Its loop runs over the
 * pipeline's micro-batches, and its body is in segments (plan.h).  Workers are
 * numbered through all stages, in order.  Stages communicate through channels:
 * a SEND or RECEIVE in the body is executed in every turn, one outside of it
 * once per run.  The size of tables and the number of messages in them do not
 * depend on the number of workers or of micro-batches.
 *
 * Waits: a RECEIVE waits until the turn's value has been sent.  A SEND does not
 * wait, but an instruction that overwrites the source of a SEND waits until all
 * receivers have taken the value.  There are no other waits between stages.
 *
 * Names: a result is computed in one stage, and has the same name in the stages
 * that receive it.  A state is in one stage.  An input or a constant may be in
 * several. */
#ifndef TDL_PLAN_PIPELINE_H
#define TDL_PLAN_PIPELINE_H

#include "plan/plan.h"

enum {
	PLAN_PIPELINE_VERSION = 4, /* of the file format */
	PLAN_MAX_STAGES = 4096,
};

typedef struct plan_channel {
	int from, to;	    /* stages */
	int source, target; /* numbers of the tensor in these stages */
} plan_channel;

typedef struct plan_pipeline {
	const char *model, *algorithm;
	const char *schedule; /* its name, for people */
	int nstages;
	plan *stages; /* they share one table of kernels */
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

/* The first worker of a stage; for stage nstages, the number of workers. */
int pipeline_first(const plan_pipeline *p, int stage);

/* The number of the tensor with a name in a stage; -1 if there is none. */
int pipeline_tensor(const plan *stage, const char *name);

/* The stage of a worker; *local receives the worker's number in the stage. */
int pipeline_stage_of(const plan_pipeline *p, int worker, int *local);

/* ---- plans of one stage ------------------------------------------------- */

/* A plan, with or without a loop, as a pipeline of one stage without a schedule
 * (plan.stage is NULL).  In a; shares p's tables. */
plan_pipeline *pipeline_of_plan(arena *a, const plan *p);

/* Whether p is such a pipeline.  It is written as a file of version 3. */
bool pipeline_is_plan(const plan_pipeline *p);

/* ---- what is run, and what it is compared with --------------------------- */

/* The pipeline with unrolled stages (plan_unroll()), as workers run them, in a.
 * It cannot be checked or merged, and has no loop. */
plan_pipeline *pipeline_unroll(arena *a, const plan_pipeline *p);

/* All stages as one plan.  Tensor t of stage s has the number tensors[s][t];
 * tensors with the same name have the same number.  Node n has the number
 * nodes[s][n], -1 if it is not run. */
typedef struct pipeline_whole {
	plan *plan;
	int **tensors, **nodes;
} pipeline_whole;

/* Merges a checked pipeline; the result is in a.  It has no cuts, no transfers
 * and no places in memory.  It has the inputs, outputs and states of all stages
 * and the stages' loop; its program consists of their runs, ordered so that
 * each comes after those whose results it reads. plan_one_device() and
 * plan_one_turn() turn it into what one worker runs, with all turns and with
 * one. */
const pipeline_whole *pipeline_merge(arena *a, const plan_pipeline *p);

/* ---- channels ---------------------------------------------------------- */

/* The pieces that a worker of a channel's receiving stage takes in a turn, each
 * element once, in a.  Peers are workers of the sending stage, numbered within
 * it.  If several have an element, the one whose number matches the receiver's
 * best sends it.  Returns the number of pieces. */
int pipeline_pieces(arena *a, const plan_pipeline *p, int channel, int turn,
		    int worker, piece **pieces);

/* Whether the body sends on a channel: in every turn, rather than once per
 * run. */
bool pipeline_in_turns(const plan_pipeline *p, int channel);

/* The other end of each message of an unrolled pipeline, by stage and
 * instruction: for a RECEIVE the instruction of the sending stage, for a SEND
 * that of the receiving stage; -1 for other instructions.  In a. */
int **pipeline_partners(arena *a, const plan_pipeline *p);

/* Bytes sent on a channel to all its receivers in one run, all turns. */
int64_t pipeline_channel_bytes(const plan_pipeline *p, int channel);

/* Bytes of all channels, and of the transfers within stages. */
int64_t pipeline_communication(const plan_pipeline *p);

/* ---- files ------------------------------------------------------------- */

/* As plan_read() and its companions, for files of version 4 and, by
 * pipeline_of_plan(), for those that plan_read() accepts. */
plan_pipeline *pipeline_read(arena *a, diag_sink *s, const char *path);
plan_pipeline *pipeline_parse(arena *a, diag_sink *s, const char *path,
			      const char *text, size_t len);
char *pipeline_text(arena *a, const plan_pipeline *p, const char *path,
		    size_t *len);
bool pipeline_write(const plan_pipeline *p, const char *path);

/* The checks of pipeline_parse() after the syntax, for a pipeline that has a
 * schedule: each stage is valid, stages agree on what they share, and no stages
 * wait for each other in a cycle. */
bool pipeline_check(const plan_pipeline *p, diag_sink *s, const char *path);

/* Whether all stages reach the end if each follows its schedule.  If not,
 * *stage and *instr are a wait that never ends; a wait to overwrite the source
 * of a message, if there is one. */
bool pipeline_ends(const plan_pipeline *p, int *stage, int *instr);

#endif

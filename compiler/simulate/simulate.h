/* Discrete-event simulation of a plan: the instants at which the stages of a
 * pipeline do what their programs and schedules say, on a machine.
 *
 * The workers of a stage are alike: one of each stage is simulated, so that
 * the number of devices costs nothing.  Its device has two streams, as in
 * compiler/lower/timeline.h: one computes, and copies within the worker's
 * memory, one does the collectives of the stage; each goes through its
 * instructions in the order of the program, turns in the order of the
 * schedule.  An instruction begins when its stream is free, what it reads is
 * written, and nothing earlier still reads or writes the memory that it
 * writes.
 *
 * A message, from a SEND to its RECEIVE, is on no stream.  It begins when what
 * is sent is written, when its place at the receiver is no longer in use (a
 * RECEIVE is posted ahead), and when the channel's message before it has
 * ended.  It takes the latency of the outermost level of links that it
 * crosses, and its bytes over the level's bandwidth, of the slowest worker of
 * both stages.  What reads the place waits for its end, and so does what
 * writes the place out of which it is sent.
 *
 * A device sends over a link of its own at each level, and receives over
 * another; where a level says what the devices of one of its parts share
 * (topology_level.shared), they have two links more together.  A message is on
 * the links of both of its stages, and of their parts, a collective on all of
 * its stage, each during the time in which its bytes move, the last part of
 * it: before that come its latencies and copies.  Who is on a link at the same
 * time gets a fair share of it (flows.h).  Nobody waits on purpose.
 *
 * On a machine that does not communicate while it computes (topology.overlap)
 * all is on one stream.  A RECEIVE has its place there and takes the message's
 * time: a core copies what it receives itself. */
#ifndef TDL_COMPILER_SIMULATE_SIMULATE_H
#define TDL_COMPILER_SIMULATE_SIMULATE_H

#include "compiler/cost/topology.h"
#include "plan/pipeline.h"

enum { SIMULATED_STREAMS = 2 }; /* 0 computes, 1 communicates */

/* Instructions [instr, end) of a stage's program in a turn: one, or a bucket.
 * Seconds count from the beginning of the step, here and below. */
typedef struct simulated_unit {
	int instr, end;
	int turn; /* -1 outside of the body */
	int task;
	int stream;
	double begin_seconds, end_seconds;
} simulated_unit;

/* A segment of a stage in a turn.  What is outside of the body has turn -1 and
 * segment -1, before it, or nsegments, behind it.  It begins with the first
 * unit that computes behind the messages that it receives, and ends with the
 * last; what needs no message may be done before, and what communicates
 * beside. */
typedef struct simulated_task {
	int segment, turn;
	int first, nunits;
	double begin_seconds, end_seconds;
} simulated_task;

typedef struct simulated_message {
	int channel;
	int turn;     /* -1: it is sent once */
	int receiver; /* of the receiving stage, the unit that copies it; -1 on
			 machines that overlap */
	double begin_seconds, end_seconds;
} simulated_message;

typedef struct simulated_stage {
	int first, ndevices; /* workers first .. first + ndevices - 1 */
	int nunits, ntasks;  /* in the order of the program */
	simulated_unit *units;
	simulated_task *tasks;
	/* Sums over its instructions; messages are in neither, but on machines
	 * that do not overlap in the second. */
	double computing_seconds, communicating_seconds;
	/* The time in which a stream is at work, and all other time of the
	 * step: of that, the time before its last instruction has ended. */
	double busy_seconds, idle_seconds, waiting_seconds;
} simulated_stage;

typedef struct simulation {
	double seconds; /* of a step */
	/* Part of all devices' time in which they are idle. */
	double bubble;
	int nstages, nmessages;
	simulated_stage *stages;
	simulated_message *messages; /* by channel, then by turn */
} simulation;

/* Why a plan is not simulated, in a: it has more instructions in a step than
 * SIMULATE_MAX_UNITS.  NULL if it is. */
enum { SIMULATE_MAX_UNITS = 1 << 25 };
const char *simulate_refused(arena *a, const plan_pipeline *p);

/* A step of a pipeline that pipeline_check() accepts, and that is not refused,
 * on a machine; in a.  A stage without a schedule, as that of
 * pipeline_of_plan(), is done turn by turn. */
const simulation *simulate_pipeline(arena *a, const plan_pipeline *p,
				    const topology *t);

/* ---- seconds ----------------------------------------------------------- */

/* Turns have one of two lengths. */
typedef enum turn_length { TURN_SHORT, TURN_LONG, TURN_LENGTHS } turn_length;

/* The length of a turn of a loop; of those outside of the body, turn -1, that
 * of the last. */
turn_length simulated_length(const plan_loop *l, int turn);

/* A link, and the seconds for which a transfer keeps it busy. */
typedef struct simulated_load {
	int link;
	double seconds;
} simulated_load;

/* The links of a transfer, each once.  It is on all of them during the last
 * part of its time, as long as the longest of its loads, and longer where it
 * is not alone. */
typedef struct simulated_links {
	int n;
	const simulated_load *at;
	double rate; /* bytes/s of one of its devices, alone; not 0 */
} simulated_links;

/* Seconds of each instruction of a stage, and of each channel's messages, by
 * the length of the turn.  Of a phase of a bucket one instruction has all. */
typedef struct simulated_seconds {
	double **instrs[TURN_LENGTHS]; /* by stage and instruction */
	double *messages[TURN_LENGTHS]; /* by channel */
	/* The same of their links; NULL: they have none. */
	simulated_links **instr_links[TURN_LENGTHS];
	simulated_links *message_links[TURN_LENGTHS];
	int nlinks; /* numbers of links are below */
} simulated_seconds;

/* Those of the time model (compiler/cost/instr_time.h), in a.  A stage runs as
 * fast as its slowest device. */
simulated_seconds simulated_seconds_of(arena *a, const plan_pipeline *p,
				       const topology *t);

/* The simulation with given seconds, at least 0. */
const simulation *simulate_with(arena *a, const plan_pipeline *p,
				const simulated_seconds *seconds, bool overlap);

/* ---- memory ------------------------------------------------------------ */

/* The bytes in use on a device of a stage from an instant on, up to that of
 * the next. */
typedef struct simulated_use {
	double seconds;
	int64_t nbytes;
} simulated_use;

/* Of a stage during a simulated step, in a: *n of them, the first at 0.  A
 * result is in use from the begin of the instruction that writes it to the end
 * of the last that reads it, or to that of the last message with it; buffers
 * that take over a place from each other (plan/lifetimes.h) count once.  It is
 * at most what the stage's arena has. */
simulated_use *simulated_memory(arena *a, const plan_pipeline *p,
				const simulation *s, int stage, int *n);

#endif

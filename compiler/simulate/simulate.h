/* Discrete-event simulation of a plan: the instants at which the stages of a
 * pipeline do what their programs and schedules say, on a machine.
 *
 * The workers of a stage are alike, so one of each stage is simulated, and the
 * number of devices costs nothing.  Its device has two streams, as in
 * compiler/lower/timeline.h.  One computes, and copies within the worker's
 * memory; the other does the collectives of the stage.  Each runs its
 * instructions in the order of the program, and turns in the order of the
 * schedule.  An instruction begins when its stream is free, what it reads is
 * written, and nothing earlier still reads or writes the memory that it writes.
 *
 * A message, from a SEND to its RECEIVE, is on no stream.  It begins when what
 * is sent is written, its place at the receiver is no longer in use (a RECEIVE
 * is posted ahead), and the channel's previous message has ended.  It takes the
 * latency of the outermost level of links that it crosses, plus its bytes over
 * the level's bandwidth, for the slowest worker of both stages.  Readers of its
 * place wait for its end; so do instructions that overwrite the place from
 * which it is sent.
 *
 * At each level a device sends over a link of its own and receives over
 * another.  If a level limits what the devices of one of its parts share
 * (topology_level.shared), they have two further links together.  A message
 * uses the links of both of its stages and of their parts, a collective all
 * links of its stage, while its bytes move: the last part of its time, after
 * latencies and copies.  Transfers on a link at the same time get fair shares
 * of it (flows.h).  Nothing waits on purpose.
 *
 * On a machine that does not communicate while it computes (topology.overlap)
 * everything is on one stream.  A RECEIVE has its place there and takes the
 * message's time: a core copies what it receives itself. */
#ifndef TDL_COMPILER_SIMULATE_SIMULATE_H
#define TDL_COMPILER_SIMULATE_SIMULATE_H

#include "compiler/cost/topology.h"
#include "plan/pipeline.h"

enum { SIMULATED_STREAMS = 2 }; /* 0 computes, 1 communicates */

/* Instructions [instr, end) of a stage's program in a turn: one, or a bucket.
 * Here and below, seconds count from the beginning of the step. */
typedef struct simulated_unit {
	int instr, end;
	int turn; /* -1 outside of the body */
	int task;
	int stream;
	double begin_seconds, end_seconds;
} simulated_unit;

/* A segment of a stage in a turn.  Outside of the body turn is -1, and segment
 * is -1 before the body, nsegments after it.  A task begins with its first
 * computing unit that follows the messages it receives, and ends with its last
 * computing unit.  What needs no message may run before, and communication in
 * parallel. */
typedef struct simulated_task {
	int segment, turn;
	int first, nunits;
	double begin_seconds, end_seconds;
} simulated_task;

typedef struct simulated_message {
	int channel;
	int turn;     /* -1: sent once */
	/* in the receiving stage, the unit that copies it; -1 on machines that
	 * overlap */
	int receiver;
	double begin_seconds, end_seconds;
} simulated_message;

typedef struct simulated_stage {
	int first, ndevices; /* workers first .. first + ndevices - 1 */
	int nunits, ntasks;  /* in program order */
	simulated_unit *units;
	simulated_task *tasks;
	/* Sums over its instructions.  Messages are in neither, except that
	 * machines that do not overlap count them in the second. */
	double computing_seconds, communicating_seconds;
	/* The time in which a stream is busy, and the rest of the step; of
	 * that, the time before its last instruction has ended. */
	double busy_seconds, idle_seconds, waiting_seconds;
} simulated_stage;

typedef struct simulation {
	double seconds; /* of a step */
	/* The fraction of all devices' time in which they are idle. */
	double bubble;
	int nstages, nmessages;
	simulated_stage *stages;
	simulated_message *messages; /* by channel, then by turn */
} simulation;

/* The reason why a plan is not simulated, in a: it has more than
 * SIMULATE_MAX_UNITS instructions in a step.  NULL if it is. */
enum { SIMULATE_MAX_UNITS = 1 << 25 };
const char *simulate_refused(arena *a, const plan_pipeline *p);

/* Simulates a step, on a machine, of a pipeline that pipeline_check() accepts
 * and that is not refused; the result is in a.  A stage without a schedule,
 * such as that of pipeline_of_plan(), runs turn by turn. */
const simulation *simulate_pipeline(arena *a, const plan_pipeline *p,
				    const topology *t);

/* ---- seconds ----------------------------------------------------------- */

/* Turns have one of two lengths. */
typedef enum turn_length { TURN_SHORT, TURN_LONG, TURN_LENGTHS } turn_length;

/* The length of a turn of a loop; for turn -1, outside of the body, that of the
 * last. */
turn_length simulated_length(const plan_loop *l, int turn);

/* A link, and the seconds for which a transfer keeps it busy. */
typedef struct simulated_load {
	int link;
	double seconds;
} simulated_load;

/* The distinct links of a transfer.  It is on all of them during the last part
 * of its time, which is as long as the longest of its loads, and longer if it
 * shares a link. */
typedef struct simulated_links {
	int n;
	const simulated_load *at;
	double rate; /* bytes/s per device when alone; not 0 */
} simulated_links;

/* Seconds of each instruction of a stage, and of each channel's messages, by
 * the length of the turn.  One instruction of a phase of a bucket has the
 * seconds of the whole phase. */
typedef struct simulated_seconds {
	double **instrs[TURN_LENGTHS]; /* by stage and instruction */
	double *messages[TURN_LENGTHS]; /* by channel */
	/* Their links; NULL: none. */
	simulated_links **instr_links[TURN_LENGTHS];
	simulated_links *message_links[TURN_LENGTHS];
	int nlinks; /* links are numbered below this */
} simulated_seconds;

/* The seconds of the time model (compiler/cost/instr_time.h), in a.  A stage
 * runs as fast as its slowest device. */
simulated_seconds simulated_seconds_of(arena *a, const plan_pipeline *p,
				       const topology *t);

/* The simulation with given seconds, >= 0. */
const simulation *simulate_with(arena *a, const plan_pipeline *p,
				const simulated_seconds *seconds, bool overlap);

/* ---- memory ------------------------------------------------------------ */

/* The bytes in use on a device of a stage from an instant to that of the next
 * element. */
typedef struct simulated_use {
	double seconds;
	int64_t nbytes;
} simulated_use;

/* The memory of a stage during a simulated step, in a: *n elements, the first
 * at 0.  A result is in use from the begin of the instruction that writes it to
 * the end of the last that reads it, or of the last message that carries it;
 * buffers that take over a place from each other (plan/lifetimes.h) count once.
 * The use is never more than the stage's arena. */
simulated_use *simulated_memory(arena *a, const plan_pipeline *p,
				const simulation *s, int stage, int *n);

#endif

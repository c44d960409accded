/* The workers' parts of tensors, between their memory and whole arrays of the
 * host.  Shared by the files executor*.c alone. */
#ifndef TDL_RUNTIME_EXEC_EXECUTOR_PARTS_H
#define TDL_RUNTIME_EXEC_EXECUTOR_PARTS_H

#include "runtime/exec/executor.h"

struct executor {
	arena *a;
	const plan *asked, *p; /* as it is, and without a loop */
	const backend *backend;
	void *device;
	const communicator *comm;
	void *link;
	int nworkers;
	int first, end; /* those that are in this process */
	int neighbours; /* those on this machine */
	unsigned char **arenas;
	int64_t *used; /* by worker: its arena up to the last byte touched */
	const array *inputs, *outputs;
	double seconds;
	const bool *disturbed; /* nodes; see machine_disturb() */
	double noise;
	uint64_t seed; /* of the next result that is disturbed */
};

/* Whether the host reads and writes the workers' memory itself; whether all
 * workers are in this process. */
bool executor_is_host(const executor *m);
bool executor_is_alone(const executor *m);

/* Where a worker, one that is here, has a buffer. */
unsigned char *part_place(const executor *m, int worker, int buffer);

/* Notes that a worker uses a region of a buffer. */
void part_touch(executor *m, int worker, int buffer, const region *r);

/* Host memory in place of a worker's own; NULL with *f set. */
void *part_stage(int64_t nbytes, failure *f);

/* Copies a worker's part of a tensor, made on the host, to where it lies. */
bool part_put(executor *m, int worker, int buffer, const void *part,
	      int64_t nbytes, failure *f);

/* Copies the worker's part in a stored block out of a whole tensor. */
bool part_scatter(executor *m, int worker, int buffer, const void *whole,
		  failure *f);

/* Makes a tensor whole out of the workers' parts, in every process. */
bool part_gather(const executor *m, int tensor, void *whole, failure *f);

/* ---- turns of a loop --------------------------------------------------- */

/* Whether each turn has its part of a tensor only. */
bool part_is_in_turns(const plan *p, const plan_tensor *t);

/* Feeds the turn's part of an input. */
bool part_feed(executor *m, int worker, const plan_instr *in, failure *f);

/* Copies a worker's part of an output that has been computed for one turn, if
 * the buffer is that, to where the whole output goes. */
void part_hand_out(executor *m, int worker, int buffer);

/* Makes an output whole that has been handed out in turns, in every process. */
bool part_spread(const executor *m, const plan_tensor *t, void *whole,
		 failure *f);

#endif

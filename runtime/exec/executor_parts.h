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

/* Feeds the turn's part of an input: FEED instruction `instr'. */
void part_feed(executor *m, int worker, int instr);

/* Copies a worker's part of an output that instruction `instr' has computed for
 * one turn, if it has, to where the whole output goes. */
void part_hand_out(executor *m, int worker, int instr);

/* Makes an output whole that has been handed out in turns, in every process. */
bool part_spread(const executor *m, const plan_tensor *t, void *whole,
		 failure *f);

#endif

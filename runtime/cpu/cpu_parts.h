/* The state of the backend `cpu`, shared by the files cpu.c and chains.c
 * alone. */
#ifndef TDL_RUNTIME_CPU_CPU_PARTS_H
#define TDL_RUNTIME_CPU_CPU_PARTS_H

#include "runtime/cpu/build.h"
#include "runtime/cpu/onednn.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/thread_pool.h"

/* The work space of a thread of a worker's pool. */
typedef struct bench {
	void *scratch; /* TDL_SCRATCH bytes */
	double busy;   /* seconds of the run's parts, where they are asked for:
			  of packing, too */
	eval_status status;
	eval_fault fault;
	bool failed; /* in oneDNN */
	/* Of chains: what is inner in a part, the run at hand, and the seconds
	 * of each. */
	void *inner;
	int64_t inner_bytes;
	int run;
	double seconds[MAX_CHAIN];
} bench;

typedef struct cpu {
	arena *a;
	const plan *p;
	kernels_from kernels;
	int nworkers, thread_pool_size;
	cpu_kernel **generated; /* by kernel; NULL where it is evaluated, or
				   only computed with an epilogue */
	int *epilogues; /* by kernel: where its first one is in generated */
	bool joins;
	tdl_keeps *keeps;	/* [kernel * KEPT_SIDES + side] */
	uint32_t **reads;	/* by kernel: shares_reads() */
	opaque_fn *opaque;
	void *built, *library; /* handles of dlopen() */
	onednn *onednn;	       /* NULL unless it is asked for */
	box *parts;	       /* as benches: of the run at hand */
	thread_pool **teams;   /* by worker */
	bench *benches;	       /* [worker * thread_pool_size + thread] */
} cpu;

/* Computes all of a run's space, by one thread; the status is the bench's. */
void cpu_compute(cpu *c, const kernel_run *r, bench *at);

/* backend.run_chain */
bool cpu_run_chain(void *state, int worker, const kernel_chain *c, int *failed,
		   failure *f);

#endif

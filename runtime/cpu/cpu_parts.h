/* The state of the backend `cpu`, shared by the files cpu.c and chains.c
 * alone. */
#ifndef TDL_RUNTIME_CPU_CPU_PARTS_H
#define TDL_RUNTIME_CPU_CPU_PARTS_H

#include "runtime/cpu/build.h"
#include "runtime/cpu/onednn.h"
#include "runtime/exec/backend.h"
#include "runtime/exec/thread_pool.h"

/* The work space of one thread of a worker's pool. */
typedef struct bench {
	void *scratch; /* TDL_SCRATCH bytes */
	/* seconds of the run's parts, including packing, if requested */
	double busy;
	eval_status status;
	eval_fault fault;
	bool failed; /* oneDNN has failed */
	/* For chains: memory for the inner results of a part, the current run,
	 * and the seconds of each run. */
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
	/* by kernel; NULL: interpreted, or computed only with an epilogue */
	cpu_kernel **generated;
	/* by kernel: index in generated of its first epilogue */
	int *epilogues;
	bool joins;
	tdl_keeps *keeps;	/* [kernel * KEPT_SIDES + side] */
	uint32_t **reads;	/* by kernel: shares_reads() */
	opaque_fn *opaque;
	void *built, *library; /* handles of dlopen() */
	onednn *onednn;	       /* NULL unless requested */
	box *parts;	       /* by bench: its part of the current run */
	thread_pool **teams;   /* by worker */
	bench *benches;	       /* [worker * thread_pool_size + thread] */
} cpu;

/* Computes the whole space of a run in one thread; stores the status in the
 * bench. */
void cpu_compute(cpu *c, const kernel_run *r, bench *at);

/* backend.run_chain */
bool cpu_run_chain(void *state, int worker, const kernel_chain *c, int *failed,
		   failure *f);

#endif

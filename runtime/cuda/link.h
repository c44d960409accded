/* Links: the exchange of regions between workers on GPUs, within a process or
 * by NCCL. */
#ifndef TDL_RUNTIME_CUDA_LINK_H
#define TDL_RUNTIME_CUDA_LINK_H

#include "runtime/cuda/cuda.h"
#include "runtime/exec/communicator.h"

typedef struct cuda_link {
	/* Memory of the GPU that is entered, n > 0 bytes, for arenas, and for
	 * what open() allocates; NULL where it is the driver's. */
	bool (*alloc)(const cuda *c, CUdeviceptr *to, size_t n, failure *f);
	void (*free)(const cuda *c, CUdeviceptr at);
	/* For the workers first .. first + n, whose arenas are in device
	 * memory.  Allocates all that transfers need.  `comm` is the state of
	 * communicator c.  NULL with *f set. */
	void *(*open)(cuda *dev, const plan *p, const communicator *c,
		      void *comm, failure *f);
	/* Called before the first transfer of a step, on its stream; may be
	 * NULL. */
	bool (*begin)(void *l, CUstream s, failure *f);
	/* Enqueues n transfers, MOVE or COMBINE, as one bucket, for the
	 * workers here, on a stream, which may be capturing. */
	bool (*transfer)(void *l, const int *instrs, int n, CUstream s,
			 failure *f);
	/* Waits until the stream is done, or can no longer finish. */
	bool (*wait)(void *l, CUstream s, failure *f);
	/* Bytes that the workers here receive from others in an instruction,
	 * each time that it is run. */
	int64_t (*received)(void *l, int instr);
	/* After a failure, once no graph has transfers any more: nothing on
	 * the stream waits for others from then on, nor does close().  May be
	 * NULL. */
	void (*abandon)(void *l);
	void (*close)(void *l);
} cuda_link;

/* link_local has all workers in one process, link_nccl one in each. */
extern const cuda_link link_local, link_nccl;

/* The link of processes that a communicator joins. */
const cuda_link *link_of(const communicator *c);

#endif

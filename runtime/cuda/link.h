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
	/* For the workers here, whose arenas are in device memory.  Allocates
	 * all that transfers need.  `comm' is the state of communicator c.
	 * NULL with *f set. */
	void *(*open)(cuda *dev, const communicator *c, void *comm,
		      failure *f);
	/* Called at the begin of a step, on a stream for which all wait then;
	 * may be NULL. */
	bool (*begin)(void *l, CUstream s, failure *f);
	/* Enqueues n transfers of a stage, MOVE or COMBINE, as one bucket, for
	 * its workers here, on a stream, which may be capturing. */
	bool (*transfer)(void *l, int part, const int *instrs, int n,
			 CUstream s, failure *f);
	/* Enqueues a message of a link of the pipeline, a RECEIVE, and where a
	 * process is on one side alone a SEND, on the link's streams, or, where
	 * GPUs have one for all, that. */
	bool (*message)(void *l, int part, int instr, int link, failure *f);
	/* Waits until the stream is done, or can no longer finish. */
	bool (*wait)(void *l, CUstream s, failure *f);
	/* Bytes that a stage's workers here receive from others in an
	 * instruction, each time that it is run. */
	int64_t (*received)(void *l, int part, int instr);
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

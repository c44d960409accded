/* Links: the exchange of regions between workers on GPUs, within a process or
 * by NCCL. */
#ifndef TDL_RUNTIME_CUDA_LINK_H
#define TDL_RUNTIME_CUDA_LINK_H

#include "runtime/cuda/cuda.h"
#include "runtime/exec/communicator.h"

typedef struct cuda_link {
	/* Allocates n > 0 bytes on the current GPU, for arenas and for what
	 * open() allocates; NULL: use the driver's functions. */
	bool (*alloc)(const cuda *c, CUdeviceptr *to, size_t n, failure *f);
	void (*free)(const cuda *c, CUdeviceptr at);
	/* Opens the link for the workers here, whose arenas are in device
	 * memory, and allocates all that transfers need.  `comm' is the state
	 * of communicator c.  NULL with *f set on failure. */
	void *(*open)(cuda *dev, const communicator *c, void *comm,
		      failure *f);
	/* Called at the beginning of a step, on a stream for which all others
	 * then wait; may be NULL. */
	bool (*begin)(void *l, CUstream s, failure *f);
	/* Enqueues n transfers of a stage, MOVE or COMBINE, as one bucket, for
	 * its workers here, on a stream, which may be capturing. */
	bool (*transfer)(void *l, int part, const int *instrs, int n,
			 CUstream s, failure *f);
	/* Enqueues a message of a link of the pipeline on the link's streams,
	 * or on the GPUs' only stream: a RECEIVE; or a SEND if this process is
	 * only on its side. */
	bool (*message)(void *l, int part, int instr, int link, failure *f);
	/* Waits until the stream is done, or can no longer finish. */
	bool (*wait)(void *l, CUstream s, failure *f);
	/* Bytes that a stage's workers here receive from others each time an
	 * instruction is run. */
	int64_t (*received)(void *l, int part, int instr);
	/* Called after a failure, when no graph has transfers any more: from
	 * then on nothing on the stream, nor close(), waits for others.  May be
	 * NULL. */
	void (*abandon)(void *l);
	void (*close)(void *l);
} cuda_link;

/* link_local has all workers in one process, link_nccl one in each process. */
extern const cuda_link link_local, link_nccl;

/* The link for processes that a communicator joins. */
const cuda_link *link_of(const communicator *c);

#endif

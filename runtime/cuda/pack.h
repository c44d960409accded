/* Boxes of elements in device memory, copied from place to place or combined,
 * many at a time by one kernel.
 *
 * All copies are known before the first step: lists are made, uploaded to the
 * GPUs, and then run any number of times, by kernel launches alone, which a
 * stream may be capturing. */
#ifndef TDL_RUNTIME_CUDA_PACK_H
#define TDL_RUNTIME_CUDA_PACK_H

#include "runtime/cuda/cuda.h"

typedef struct packer packer;
typedef struct pack_list pack_list;

/* A region of a tensor in device memory: its first element is at data. */
typedef struct pack_block {
	CUdeviceptr data;
	region held;
} pack_block;

/* Loads the kernels that copy and, where that is asked for, those for all that
 * transfers of the stages here combine.  NULL with *f set. */
packer *pack_open(cuda *c, bool combines, failure *f);
void pack_close(packer *k);

/* A list for a GPU, which lives as long as k.  The jobs of one list run in any
 * order, so that none may write memory that another one reads or writes. */
pack_list *pack_new(packer *k, int gpu);

/* Adds a box that all blocks hold: copied, or combined by r in the order of
 * from[], as reducer_combine() does that; nfrom >= 1.  A block may be memory of
 * another GPU that the list's can access, or of the host that is mapped. An
 * empty box adds nothing. */
void pack_copy(pack_list *l, dtype t, const box *at, const pack_block *to,
	       const pack_block *from);
void pack_combine(pack_list *l, dtype t, reducer r, const box *at,
		  const pack_block *to, int nfrom, const pack_block *from);

/* Fills a box with zeros. */
void pack_zeros(pack_list *l, dtype t, const box *at, const pack_block *to);

/* The same of count[0] x .. elements, ndim <= MAX_NDIM, that begin at addresses
 * and lie to_step[], from_step[] elements after each other. */
void pack_strided(pack_list *l, dtype t, int ndim, const int64_t *count,
		  CUdeviceptr to, const int64_t *to_step, CUdeviceptr from,
		  const int64_t *from_step);

/* Brings all lists to their GPUs, once, before the first of them is run. */
bool pack_upload(packer *k, failure *f);

/* Enqueues a list on a stream of its GPU, whose context is the thread's.  An
 * empty list does nothing. */
bool pack_run(packer *k, const pack_list *l, CUstream s, failure *f);
bool pack_is_empty(const pack_list *l);

/* Sets *at, mapped memory of the host, to `number' when the stream reaches this
 * point. */
bool pack_reached(packer *k, int gpu, CUdeviceptr at, int number, CUstream s,
		  failure *f);

#endif

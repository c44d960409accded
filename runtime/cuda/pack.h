/* Boxes of elements in device memory that one kernel copies or combines, many
 * at a time.
 *
 * All copies are known before the first step: lists are made, uploaded to the
 * GPUs, and then run any number of times by kernel launches alone, on streams
 * that may be capturing. */
#ifndef TDL_RUNTIME_CUDA_PACK_H
#define TDL_RUNTIME_CUDA_PACK_H

#include "runtime/cuda/cuda.h"

typedef struct packer packer;
typedef struct pack_list pack_list;

/* A region of a tensor in device memory; its first element is at data. */
typedef struct pack_block {
	CUdeviceptr data;
	region held;
} pack_block;

/* Loads the kernels that copy and, with `combines', those for everything that
 * transfers of the stages here combine.  NULL with *f set on failure. */
packer *pack_open(cuda *c, bool combines, failure *f);
void pack_close(packer *k);

/* A new list for a GPU, which lives as long as k.  The jobs of a list run in
 * any order, so none may write memory that another one reads or writes. */
pack_list *pack_new(packer *k, int gpu);

/* Adds a box that all blocks hold: copied, or combined by r in the order of
 * from[], like reducer_combine(); nfrom >= 1.  A block may be in memory of
 * another GPU that the list's GPU can access, or in mapped memory of the host.
 * An empty box adds nothing. */
void pack_copy(pack_list *l, dtype t, const box *at, const pack_block *to,
	       const pack_block *from);
void pack_combine(pack_list *l, dtype t, reducer r, const box *at,
		  const pack_block *to, int nfrom, const pack_block *from);

/* Fills a box with zeros. */
void pack_zeros(pack_list *l, dtype t, const box *at, const pack_block *to);

/* Adds a copy of count[0] x .. elements, ndim <= MAX_NDIM, from address `from'
 * to address `to', with strides to_step[] and from_step[] in elements. */
void pack_strided(pack_list *l, dtype t, int ndim, const int64_t *count,
		  CUdeviceptr to, const int64_t *to_step, CUdeviceptr from,
		  const int64_t *from_step);

/* Uploads all lists to their GPUs; once, before the first is run. */
bool pack_upload(packer *k, failure *f);

/* Enqueues a list on a stream of its GPU, whose context is current.  An empty
 * list does nothing. */
bool pack_run(packer *k, const pack_list *l, CUstream s, failure *f);
bool pack_is_empty(const pack_list *l);

/* Enqueues the writing of `number' to *at, mapped memory of the host. */
bool pack_reached(packer *k, int gpu, CUdeviceptr at, int number, CUstream s,
		  failure *f);

#endif

/* Shared by the files of fusion alone. */
#ifndef TDL_COMPILER_LOWER_FUSE_PARTS_H
#define TDL_COMPILER_LOWER_FUSE_PARTS_H

#include "base/hash.h"
#include "compiler/graph/turns.h"
#include "compiler/lower/fuse.h"

enum { FUSE_LONGEST_NAME = 48 }; /* bytes of a part of a name */

/* A kernel made of two, kept so that nodes with the same two kernels share
 * it. */
typedef struct pairing {
	const kernel *first, *second, *made;
	int slot;
	/* of the first kernel: their numbers in `made' */
	int inputs[MAX_NINPUTS];
} pairing;

typedef struct fuser {
	arena *a, *tmp;
	const graph *g;
	const assignment *as;
	node *nodes;   /* as changed so far */
	bool *gone;    /* by node: it became part of another */
	int *readers;  /* by tensor: number of inputs that read it */
	bool *is_next; /* by tensor: it is the next value of a state */
	int *last;     /* by tensor: the last node that reads it */
	VEC(pairing) pairs;
	hash_table by_kernels;
} fuser;

/* The number of reads of an input; *read is set to one of them.  If the reads
 * differ, a number greater than any. */
int fuse_count_reads(const kexpr *e, int input, const kexpr **read);

bool fuse_is_plain(const kernel *k);

/* Whether two nodes are divided alike: if the first is divided along a
 * dimension of the tensor, the second is divided along the variable that reads
 * it.  Nodes that pass on partial values are not fused. */
bool fuse_divided_alike(const fuser *x, node_id first, node_id second,
			tensor_id t, const kexpr *read);
/* The same for turns: both nodes are in the body, before or after it. */
bool fuse_in_turns_alike(const fuser *x, node_id first, node_id second,
			 const kexpr *read);

/* The box that the worker at coords reads of a node's input i, through all
 * inputs that are the same tensor. */
box fuse_read_by(const fuser *x, node_id id, int i, const int *coords);
/* Whether no worker fetches more of tensors that both nodes read for the fused
 * node than for the two. */
bool fuse_fetch_no_more(const fuser *x, node_id first, node_id second);

/* Makes the producer of an input a part of the node. */
void fuse_node(fuser *x, node_id second, int slot);
/* The kernel of such a pair, which is made if there is none yet.
 * (fuse_kernel.c) */
const kernel *fuse_kernel(fuser *x, pairing *p);

/* Whether fuse_copies() may merge the node of t, under some assignment. */
bool fuse_may_be_copy(const fuser *x, tensor_id t);
/* Makes copies that only change the order of elements a part of the products
 * of matrices that read them, however many these are. (fuse_copies.c) */
void fuse_copies(fuser *x);

#endif

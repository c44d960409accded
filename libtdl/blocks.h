/* The blocks of a network, as the names of its operators tell them: all of
 * layer_0.q.add, layer_0.k.add and layer_0.norm is layer_0, and equal layers
 * are drawn once.  A drawing of every operator is not read. */
#ifndef TDL_LIBTDL_BLOCKS_H
#define TDL_LIBTDL_BLOCKS_H

#include <stdbool.h>

#include "base/arena.h"

/* Operators in an order in which each stands behind those that it reads. */
typedef struct named_graph {
	int n;
	const char *const *names; /* parts end in '.' or '/' */
	const char *const *kinds; /* equal ones may be drawn as one */
	const int *first;	  /* by operator, n + 1 of them: its reads */
	const int *reads;	  /* operators */
} named_graph;

/* Equal blocks. */
typedef struct block_group {
	const char *name; /* layer_{0..11}; the operator's, if a block is one */
	int part;	  /* 1: what a block computes before others read it; 2:
			     when it has read what these computed, as in a
			     backward pass; and so on */
	int nblocks;
	int n; /* operators of each block */
	const int *members; /* the first block's operators, ascending */
} block_group;

typedef struct blocks {
	const int *block; /* by operator */
	const int *group; /* by operator */
	int ngroups;
	const block_group *groups; /* in the order of their first operators */
} blocks;

/* The smallest blocks whose groups are at most `most`, each operator one of its
 * own if it can be; the largest, if theirs are still more.  0: each operator is
 * a block, however many there are. */
blocks blocks_of(arena *a, const named_graph *g, int most);

/* Whether some block has several operators. */
bool blocks_are_folded(const blocks *b);

#endif

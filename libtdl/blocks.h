/* Blocks of a network, recognized by the names of its operators: layer_0.q.add,
 * layer_0.k.add and layer_0.norm are all in layer_0, and equal layers are drawn
 * once.  Nobody reads a drawing of every operator. */
#ifndef TDL_LIBTDL_BLOCKS_H
#define TDL_LIBTDL_BLOCKS_H

#include <stdbool.h>

#include "base/arena.h"

/* Operators in an order in which each comes after those that it reads. */
typedef struct named_graph {
	int n;
	const char *const *names; /* parts end in '.' or '/' */
	/* only operators of equal kind may be drawn as one */
	const char *const *kinds;
	const int *first;	  /* by operator, n + 1 elements: its reads */
	const int *reads;	  /* operators */
} named_graph;

/* Equal blocks. */
typedef struct block_group {
	/* layer_{0..11}; the operator's name if a block is one operator */
	const char *name;
	/* 1: what a block computes before others read it; 2: after it has read
	 * what these computed, as in a backward pass; and so on */
	int part;
	int nblocks;
	int n; /* operators per block */
	const int *members; /* the first block's operators, ascending */
} block_group;

typedef struct blocks {
	const int *block; /* by operator */
	const int *group; /* by operator */
	int ngroups;
	const block_group *groups; /* ordered by their first operators */
} blocks;

/* The smallest blocks that form at most `most' groups, single operators if
 * possible; the largest blocks if even these form more. 0: each operator is a
 * block, whatever their number. */
blocks blocks_of(arena *a, const named_graph *g, int most);

/* Whether some block has several operators. */
bool blocks_are_folded(const blocks *b);

#endif

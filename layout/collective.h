/* Collectives: the patterns that transfers between the workers of a mesh
 * follow. */
#ifndef TDL_LAYOUT_COLLECTIVE_H
#define TDL_LAYOUT_COLLECTIVE_H

/* The pattern of a transfer.  It affects only speed: the pieces of transfer.h
 * describe the transfer completely without it. */
typedef enum collective {
	COLL_LOCAL,	     /* nobody receives anything */
	COLL_ALL_GATHER,
	COLL_ALL_TO_ALL,
	COLL_REDUCE_SCATTER,
	COLL_HALO,	     /* own block, and a rim from neighbours */
	COLL_SEND_RECEIVE,   /* by pieces: fits none of the others */
	COLL_COUNT
} collective;

const char *collective_name(collective c); /* "all-gather" */
int collective_parse(const char *name);	   /* -1 for none */

#endif

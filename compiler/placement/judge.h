/* The judge of placements: one pass of a cost graph on a machine, simulated.
 *
 *  1. A device runs one operator at a time, to its end.
 *  2. A result goes from its producer to each other device that has a reader
 *     of it, once.
 *  3. An operator is ready when all results that it reads are on its device.
 *  4. Network "free": a transfer begins when its producer ends.  "ports": each
 *     device sends one transfer at a time and receives one at a time; a
 *     transfer has the sender's and the receiver's port from begin to end.
 *  5. Nobody waits on purpose: a device that is free begins the ready operator
 *     of the greatest level, two ports that are free the waiting transfer of
 *     the greatest level.  Ties: the lower number (of a transfer: of producer,
 *     result, receiver).
 *     level(v) = time(v) + max over readers c of (level(c) + the move to c)
 *     of a transfer: the greatest level of its readers on that device.
 *  6. At one instant: all ends first, then begins of transfers, then begins of
 *     operators.
 *
 * Memory of a device: its operators' resident bytes and, where results have
 * lifetimes, each result from the begin of its producer to the end of its last
 * local reader and last transfer (one that nobody reads: to the end of the
 * pass), a copy from the begin of its transfer to the end of its last reader
 * there.
 *
 * O((V + E) log V) for a fixed number of devices.  The judge knows nothing of
 * the algorithms that it judges, and none of their functions. */
#ifndef TDL_COMPILER_PLACEMENT_JUDGE_H
#define TDL_COMPILER_PLACEMENT_JUDGE_H

#include "compiler/placement/machine.h"

/* Work space of one machine, for any number of placements. */
typedef struct judge judge;

judge *judge_new(arena *a, const machine *m);

typedef struct transfer {
	int result, to;
	int64_t level, begin, end;
} transfer;

/* The result of a simulated pass; arrays are the judge's own, and valid until
 * it runs again. */
typedef struct verdict {
	int64_t makespan;	  /* ns; INT64_MAX where it was given up */
	int64_t *begin, *end;	  /* of operators */
	const int64_t *level;	  /* of operators */
	const transfer *transfers; /* by producer, result, receiver */
	const int *first_transfer; /* of each result, and one past the last */
	int ntransfers;
	int64_t *peak;	   /* bytes of each device */
	int64_t *resident; /* bytes of each device, of operators alone */
	int64_t *work;	   /* ns of each device */
} verdict;

/* Simulates a placement; gives up as soon as it is sure to take more than
 * `most` ns (INT64_MAX: never). */
verdict judge_run(judge *j, const int *place, int64_t most);

/* Whether each device keeps to the machine's limit of memory. */
bool judge_fits(const machine *m, const verdict *v);

#endif

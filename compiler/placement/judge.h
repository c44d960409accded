/* The judge of placements: simulates one pass of a cost graph on a machine.
 *
 * 1.  A device runs one operator at a time, to its end. 2.  A producer sends a
 * result once to each other device that has a reader
 *     of it.
 * 3.  An operator is ready when all results that it reads are on its device. 4.
 * Network "free": a transfer begins when its producer ends.  "ports": each
 *     device sends one transfer at a time and receives one at a time; a
 *     transfer holds the sender's and the receiver's port from begin to end.
 * 5.  Nothing waits on purpose: a free device begins the ready operator of
 *     the greatest level, two free ports the waiting transfer of the greatest
 *     level.  Ties: the lower number (of a transfer: of producer, result,
 *     receiver).
 *     level(v) = time(v) + max over readers c of (level(c) + the move to c);
 *     of a transfer: the greatest level of its readers on that device.
 * 6.  At one instant: all ends first, then begins of transfers, then begins
 *     of operators.
 *
 * Memory of a device: its operators' resident bytes and, if results have
 * lifetimes, each result from the begin of its producer to the end of its last
 * local reader and last transfer (to the end of the pass if nobody reads it),
 * and each copy from the begin of its transfer to the end of its last reader
 * there.
 *
 * O((V + E) log V) for a fixed number of devices.  The judge shares no
 * functions with the algorithms that it judges. */
#ifndef TDL_COMPILER_PLACEMENT_JUDGE_H
#define TDL_COMPILER_PLACEMENT_JUDGE_H

#include "compiler/placement/machine.h"

/* Work space for one machine, for any number of placements. */
typedef struct judge judge;

judge *judge_new(arena *a, const machine *m);

typedef struct transfer {
	int result, to;
	int64_t level, begin, end;
} transfer;

/* The result of a simulated pass.  The arrays belong to the judge and are valid
 * until its next run. */
typedef struct verdict {
	/* ns; INT64_MAX if the simulation was given up */
	int64_t makespan;
	int64_t *begin, *end;	  /* of operators */
	const int64_t *level;	  /* of operators */
	const transfer *transfers; /* ordered by producer, result, receiver */
	const int *first_transfer; /* of each result, and one past the last */
	int ntransfers;
	int64_t *peak;	   /* bytes of each device */
	int64_t *resident; /* bytes on each device, of operators only */
	int64_t *work;	   /* ns of each device */
} verdict;

/* Simulates a placement; gives up once it is certain to take more than `most'
 * ns (INT64_MAX: never). */
verdict judge_run(judge *j, const int *place, int64_t most);

/* Whether each device stays within the machine's memory limit. */
bool judge_fits(const machine *m, const verdict *v);

#endif

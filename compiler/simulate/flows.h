/* All that takes time in a simulation, and the links on which it meets.
 *
 * Who is on a link at an instant shares it: each has the greatest rate, in
 * bytes per second of a device, that is not at the expense of one that has
 * less (max-min fairness; Bertsekas, Gallager 1992, 6.5.2), and none has more
 * than it would have alone.  All links of a transfer carry its bytes at the
 * same pace.  Rates are found anew whenever a transfer begins or ends, of
 * those that its links connect with it. */
#ifndef TDL_COMPILER_SIMULATE_FLOWS_H
#define TDL_COMPILER_SIMULATE_FLOWS_H

#include "compiler/simulate/simulate.h"

typedef struct flows flows;

/* In a.  What runs has a number below `most', links one below nlinks. */
flows *flows_new(arena *a, int most, int nlinks);

/* Number `which' begins; it ends at `end', later, if it has its links alone.
 * They have to stay as long.  NULL: it is on none. */
void flows_begin(flows *f, int which, const simulated_links *links,
		 double begin, double end);

/* The next instant at which something may end; -1: nothing runs. */
double flows_next(flows *f);

/* A number that has ended at that instant; -1: no more have. */
int flows_ended(flows *f);

#endif

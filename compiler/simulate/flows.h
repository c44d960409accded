/* Everything that takes time in a simulation, and the links that it shares.
 *
 * What is on a link at the same time shares it by max-min fairness (Bertsekas,
 * Gallager 1992, 6.5.2): each has the greatest rate, in bytes per second of a
 * device, that does not reduce the rate of one that has less; none has more
 * than it would have alone.  All links of a transfer carry its bytes at the
 * same pace.  Whenever a transfer begins or ends, rates are recomputed for
 * those connected with it by links. */
#ifndef TDL_COMPILER_SIMULATE_FLOWS_H
#define TDL_COMPILER_SIMULATE_FLOWS_H

#include "compiler/simulate/simulate.h"

typedef struct flows flows;

/* In a.  Numbers of what runs are below `most', of links below nlinks. */
flows *flows_new(arena *a, int most, int nlinks);

/* Number `which' begins.  It ends at `end', or later if it has to share its
 * links, which must stay valid meanwhile.  NULL: it uses no links. */
void flows_begin(flows *f, int which, const simulated_links *links,
		 double begin, double end);

/* The next instant at which something may end; -1 if nothing runs. */
double flows_next(flows *f);

/* A number that has ended by that instant; -1 if there are no more. */
int flows_ended(flows *f);

#endif

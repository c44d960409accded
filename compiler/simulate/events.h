/* The event loop of the simulation: sets the instants of units and messages. */
#ifndef TDL_COMPILER_SIMULATE_EVENTS_H
#define TDL_COMPILER_SIMULATE_EVENTS_H

#include "compiler/simulate/stage_units.h"

/* A message before it is simulated. */
typedef struct event_message {
	int from, to; /* stages */
	double seconds;
	const simulated_links *links; /* NULL: it shares no link */
} event_message;

/* Simulates the units of all stages and their messages.  Messages are ordered
 * by channel, then by turn, with channel and turn set. */
void events_run(int nstages, stage_units *stages, int nmessages,
		const event_message *messages, simulated_message *out,
		int nlinks, bool overlap);

#endif

/* A cost graph on a machine as a request has it, and placements of it with
 * their figures. */
#ifndef TDL_COMPILER_PLACEMENT_PLACED_H
#define TDL_COMPILER_PLACEMENT_PLACED_H

#include "base/vec.h"
#include "compiler/placement/task.h"

typedef struct place_input {
	const cost_graph *file; /* as read from the file: for loads */
	const machine *m;	/* as a graph that can be run */
	const machine *load;	/* of `file` */
} place_input;

/* The graph of a file, tied so that it can be run, on the machine of the
 * request.  False when errors were added. */
bool placed_input(arena *a, diag_sink *s, const cost_graph *file,
		  const machine_request *r, place_input *to);

/* A placement and its figures; an algorithm that found none has no `place'. */
typedef struct place_report {
	const char *algorithm;
	const int *place;
	int64_t makespan, max_load; /* ns; makespan < 0: it has none, for it
				       uses processor cores */
	int64_t *peak;		    /* bytes of each device */
	bool fits;
	double seconds; /* of the search */
} place_report;

typedef VEC(place_report) place_reports;

/* The algorithm of a name; NULL. */
const place_algorithm *placed_algorithm(const char *name);

/* Runs an algorithm; colours lie together with `colocation', or where the
 * graph asks for that.  The search ends after `seconds'; 0: no limit. */
place_report placed_by(arena *a, const place_input *in,
		       const place_algorithm *by, bool colocation,
		       double seconds);

/* Judges a placement. */
place_report placed_judged(arena *a, const place_input *in, judge *j,
			   const char *algorithm, const int *place);

/* The number of processor cores of the file, devices after the others; 0 where
 * its operators cannot run on them. */
int placed_cores(const place_input *in);

/* Judges a placement on so many cores beside the devices; *ncores becomes 0 if
 * it uses none.  With them it has loads and sums of bytes, and no makespan. */
place_report placed_given(arena *a, const place_input *in, const int *place,
			  int *ncores);

/* Bytes that operators keep all the time: of all, and of the largest. */
typedef struct place_need {
	int64_t all, most;
} place_need;

place_need placed_needs(const machine *m);

#endif

/* A cost graph on a requested machine, and placements of it with their
 * figures. */
#ifndef TDL_COMPILER_PLACEMENT_PLACED_H
#define TDL_COMPILER_PLACEMENT_PLACED_H

#include "base/vec.h"
#include "compiler/placement/task.h"

typedef struct place_input {
	const cost_graph *file; /* as read from the file: for loads */
	const machine *m;	/* with the graph made so that it can be run */
	const machine *load;	/* of `file` */
} place_input;

/* Prepares the graph of a file, tied so that it can be run, on the requested
 * machine.  Returns false after adding errors. */
bool placed_input(arena *a, diag_sink *s, const cost_graph *file,
		  const machine_request *r, place_input *to);

/* A placement and its figures.  `place' is NULL if the algorithm found none. */
typedef struct place_report {
	const char *algorithm;
	const int *place;
	/* ns; makespan < 0: none, because it uses processor cores */
	int64_t makespan, max_load;
	int64_t *peak;		    /* bytes of each device */
	bool fits;
	double seconds; /* of the search */
} place_report;

typedef VEC(place_report) place_reports;

/* The algorithm with that name; NULL if there is none. */
const place_algorithm *placed_algorithm(const char *name);

/* Runs an algorithm.  Colours stay together with `colocation', or if the graph
 * requires it.  The search ends after `seconds'; 0: no limit. */
place_report placed_by(arena *a, const place_input *in,
		       const place_algorithm *by, bool colocation,
		       double seconds);

/* Judges a placement. */
place_report placed_judged(arena *a, const place_input *in, judge *j,
			   const char *algorithm, const int *place);

/* The number of processor cores in the file, devices after the others; 0 if its
 * operators cannot run on them. */
int placed_cores(const place_input *in);

/* Judges a placement on *ncores cores in addition to the devices; *ncores
 * becomes 0 if it uses none.  With cores it has loads and sums of bytes, but no
 * makespan. */
place_report placed_given(arena *a, const place_input *in, const int *place,
			  int *ncores);

/* Bytes that operators keep all the time: of all operators, and of the
 * largest. */
typedef struct place_need {
	int64_t all, most;
} place_need;

place_need placed_needs(const machine *m);

#endif

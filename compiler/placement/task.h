/* The placement problem, as all algorithms for whole operators receive it, and
 * the table of these algorithms. */
#ifndef TDL_COMPILER_PLACEMENT_TASK_H
#define TDL_COMPILER_PLACEMENT_TASK_H

#include "base/clock.h"
#include "compiler/placement/judge.h"

typedef struct place_task {
	const machine *m;
	judge *j;
	/* Each unit is placed on one device: with --colocation units are
	 * colours, else single operators.  Members of u:
	 * member[first_member[u]] .. [u + 1]. */
	int nunits, *unit_of, *first_member, *member;
	int64_t *unit_nbytes; /* resident */
	deadline deadline;
} place_task;

const place_task *place_task_new(arena *a, const machine *m, bool colocation,
				 deadline end);

/* Whether a search must stop at its deadline.  Otherwise searches are limited
 * by counts of evaluations, so that their results are reproducible. */
bool place_is_late(const place_task *t);

/* Returns a device for each operator, in a; NULL if the algorithm finds none
 * within the memory limit. */
typedef int *place_function(arena *a, const place_task *t);

place_function place_best, place_single, place_balanced, place_heft,
	place_list, place_metf, place_msct, place_pardnn, place_least_load,
	place_least_peak;

typedef struct place_algorithm {
	const char *name;
	place_function *run;
	/* Whether the algorithm accepts the graph on the machine; NULL:
	 * always. */
	bool (*takes)(const machine *m);
} place_algorithm;

bool place_takes_loads(const machine *m), place_takes_stages(const machine *m);

/* The last entry has no name. */
extern const place_algorithm place_algorithms[];

/* Assigns units to devices so that resident bytes stay within the limit,
 * regardless of time.  Exact up to 20 million steps of a search; NULL if
 * nothing is found. */
int *place_packed(arena *a, const place_task *t);

/* m-ETF, or m-SCT: favourite[v] is the edge of g->succ to the child for which
 * v's device is kept free, or -1; NULL for m-ETF. */
int *place_earliest(arena *a, const place_task *t, const int *favourite);

/* Favourites of m-SCT: by the linear program, NULL if it is too large; or along
 * longest paths. */
int *place_program_favourites(arena *a, const machine *m);
int *place_path_favourites(arena *a, const machine *m);

/* ---- parts of algorithms ------------------------------------------------- */

/* Nanoseconds of an operator, the mean over devices; of a result's transfer,
 * the mean over all other devices; and the mean over all devices including its
 * own. */
int64_t place_mean_ns(const machine *m, int op);
int64_t place_mean_move(const machine *m, int result);
int64_t place_expected_move(const machine *m, int result);

/* For each operator, the longest path from its begin to the end, with `move' as
 * the time of a transfer: the upward rank of Topcuoglu et al. 2002.  In a. */
int64_t *place_ranks(arena *a, const machine *m,
		     int64_t (*move)(const machine *m, int result));

/* A depth-first topological order, in a: the operator that became ready last
 * comes first. */
int *place_depth_first(arena *a, const cost_graph *g);

/* The bytes that remain on each device while an algorithm places units. */
typedef struct place_room {
	const place_task *t;
	int *device;	/* of each unit; -1 until one member is placed */
	int64_t *nbytes; /* of each device */
} place_room;

place_room place_room_new(arena *a, const place_task *t);

/* Whether an operator can go to a device: its unit is there, or is not placed
 * and fits. */
static inline bool place_has_room(const place_room *r, int op, int d)
{
	int u = r->t->unit_of[op];
	return r->device[u] >= 0 ? r->device[u] == d :
				   r->t->unit_nbytes[u] <= r->nbytes[d];
}

void place_take_room(place_room *r, int op, int d);

#endif

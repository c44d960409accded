/* Ways to divide a stage over its devices: into replicas, each of which has a
 * part of a micro-batch, and within these by the layouts of a planner.
 * Replicas may also divide what runs once per step: each then has a part of the
 * optimizer's states. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_WAYS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_WAYS_H

#include "compiler/portfolio/request.h"

typedef struct pipeline_way {
	int devices, replicas; /* replicas divides devices */
	const char *algorithm; /* planner for the devices of a replica */
	search_variant variant;
	bool sharded; /* replicas divide the optimizer's states */
} pipeline_way;

/* The planners tried within a replica if none is requested; the last divides
 * any graph. */
typedef struct pipeline_inside {
	const char *algorithm;
	search_variant variant;
} pipeline_inside;

enum { PIPELINE_INSIDES = 4 };
extern const pipeline_inside pipeline_insides[PIPELINE_INSIDES];
extern const pipeline_inside *const pipeline_any_inside; /* the last */

/* Whether that many replicas have states to divide: in training, with states
 * other than weights. */
bool pipeline_way_shards(const graph *g, int replicas);

bool pipeline_way_equal(const pipeline_way *x, const pipeline_way *y);

/* The layouts of a graph by a way, in how->arena, for the machine of how.  The
 * result has an error if there are none; NULL after adding errors. */
const search_result *pipeline_way_search(const plan_request *how,
					 const graph *g,
					 const pipeline_way *way);

/* The same in two steps: the layouts within a replica, which do not depend on
 * the number of replicas; then the whole with replicas. */
const search_result *pipeline_way_inside(const plan_request *how,
					 const graph *g,
					 const pipeline_way *way);
const search_result *pipeline_way_with(const plan_request *how, const graph *g,
				       const pipeline_way *way,
				       const search_result *inside);

/* The number of leading axes, of the mesh of all devices, that belong to
 * replicas; -1 if the machine has no such mesh. */
int pipeline_way_axes(const topology *t, const pipeline_way *way);

/* Whether devices [begin, end) fill levels of the machine, or are within
 * one. */
bool pipeline_is_aligned(const topology *t, int begin, int end);

#endif

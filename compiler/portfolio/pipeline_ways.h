/* Ways to divide a stage over its devices: replicas, each of which has a part
 * of a micro-batch, and within these the layouts of a planner.  Replicas may
 * divide what is once per step, too: each has a part of the optimizer's
 * states. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_WAYS_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_WAYS_H

#include "compiler/portfolio/request.h"

typedef struct pipeline_way {
	int devices, replicas; /* the second divides the first */
	const char *algorithm; /* of the devices of a replica */
	search_variant variant;
	bool sharded; /* replicas divide the optimizer's states */
} pipeline_way;

/* The planners that are tried in a replica where none is asked for; the last
 * divides any graph. */
typedef struct pipeline_inside {
	const char *algorithm;
	search_variant variant;
} pipeline_inside;

enum { PIPELINE_INSIDES = 4 };
extern const pipeline_inside pipeline_insides[PIPELINE_INSIDES];
extern const pipeline_inside *const pipeline_any_inside; /* the last */

/* Whether so many replicas have states to divide: of a training with some that
 * are no weights. */
bool pipeline_way_shards(const graph *g, int replicas);

bool pipeline_way_equal(const pipeline_way *x, const pipeline_way *y);

/* The layouts of a graph by a way, in how->arena, for the machine of how.  With
 * an error where there are none; NULL when errors were added. */
const search_result *pipeline_way_search(const plan_request *how,
					 const graph *g,
					 const pipeline_way *way);

/* The same in two steps: the layouts within a replica, which have nothing to do
 * with the number of these, and with replicas the whole. */
const search_result *pipeline_way_inside(const plan_request *how,
					 const graph *g,
					 const pipeline_way *way);
const search_result *pipeline_way_with(const plan_request *how, const graph *g,
				       const pipeline_way *way,
				       const search_result *inside);

/* The number of leading axes of the mesh of all devices that are replicas'; -1
 * where the machine has no such mesh. */
int pipeline_way_axes(const topology *t, const pipeline_way *way);

/* Whether devices [begin, end) fill levels of the machine, or are a part of
 * one. */
bool pipeline_is_aligned(const topology *t, int begin, int end);

#endif

/* Pipelines as published planners divide them: mcap, pipedream, capture of
 * compiler/placement, on the layers of a model, as plans that run. */
#ifndef TDL_LIBTDL_PLAN_PUBLISHED_H
#define TDL_LIBTDL_PLAN_PUBLISHED_H

#include "libtdl/plan_search.h"

/* The name of the i-th; NULL behind the last.  All of them, with commas. */
const char *plan_published_name(int i);
const char *plan_published_names(arena *a);

bool plan_is_published(const char *algorithm);

/* The reason why options do not go with it, in words; NULL.  Some choose the
 * number of stages. */
const char *plan_published_misfit(job *d, const char *algorithm, int k,
				  const pipeline_aims *aims);

/* The plan that how->algorithm makes of how->graph, which is in turns; as
 * pipeline_search(). */
bool plan_published_find(const plan_request *how, const pipeline_aims *aims,
			 pipeline_result *r);

/* ---- what they choose --------------------------------------------------- */

/* A division: the part of each node of stage_layers(), of nstages * chunks; the
 * replicas of each stage, and the devices of each of these. */
typedef struct published_cut {
	const char *refused; /* why there is none */
	int nstages;
	int *part, *replicas, *tensors;
	int *nlayers; /* of each stage, as the planner counts them */
	bool recompute;
} published_cut;

/* Chooses; false when errors were added. */
bool plan_published_cut(const plan_request *how, const pipeline_aims *aims,
			published_cut *to);

#endif

/* Pipelines divided as published planners do (mcap, pipedream, capture of
 * compiler/placement, applied to the layers of a model), as plans that run. */
#ifndef TDL_LIBTDL_PLAN_PUBLISHED_H
#define TDL_LIBTDL_PLAN_PUBLISHED_H

#include "libtdl/plan_search.h"

/* The name of the i-th of these planners, NULL after the last; all names,
 * separated by commas. */
const char *plan_published_name(int i);
const char *plan_published_names(arena *a);

bool plan_is_published(const char *algorithm);

/* The reason why options do not suit it, in words; NULL.  Some of them choose
 * the number of stages. */
const char *plan_published_misfit(job *d, const char *algorithm, int k,
				  const pipeline_aims *aims);

/* The plan that how->algorithm makes of how->graph, which is in turns;
 * otherwise like pipeline_search(). */
bool plan_published_find(const plan_request *how, const pipeline_aims *aims,
			 pipeline_result *r);

/* ---- what they choose --------------------------------------------------- */

/* A division: the part, of nstages * chunks, of each node of stage_layers();
 * the replicas of each stage; the devices of each replica. */
typedef struct published_cut {
	const char *refused; /* why there is no division */
	int nstages;
	int *part, *replicas, *tensors;
	int *nlayers; /* per stage, as the planner counts them */
	bool recompute;
} published_cut;

/* Chooses the division.  Returns false after adding errors. */
bool plan_published_cut(const plan_request *how, const pipeline_aims *aims,
			published_cut *to);

#endif

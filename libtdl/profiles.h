/* The profiles of a job (--profile): machines with their measurements, and how
 * much of a predicted time these cover. */
#ifndef TDL_LIBTDL_PROFILES_H
#define TDL_LIBTDL_PROFILES_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/cost/topology.h"
#include "libtdl/job.h"
#include "plan/pipeline.h"

/* The machine with k of its devices at work, with the job's profiles; NULL with
 * errors added. */
const topology *profiles_machine(job *d, const topology *t, int64_t k);

/* The seconds of all instructions of a step, by source.  For n plans: the
 * stages of one plan, or several plans. */
typedef struct profiles_share {
	double seconds[TIME_SOURCES];
} profiles_share;

profiles_share profiles_share_of(const plan *stages, int n, const topology *t);

/* "81.2 % of the instructions' time measured, 12.0 % interpolated, 6.8 %
 * modelled"; in a. */
const char *profiles_share_text(arena *a, const profiles_share *s);

/* {"measured": seconds, ..} */
json_t *profiles_share_json(const profiles_share *s);

#endif

/* The gain of many devices over one, and the fraction of a machine that a plan
 * uses. */
#ifndef TDL_LIBTDL_PLAN_SPEED_H
#define TDL_LIBTDL_PLAN_SPEED_H

#include "base/json.h"
#include "compiler/portfolio/request.h"
#include "libtdl/profiles.h"

/* Each figure is NAN if it is not known. */
typedef struct plan_speed {
	double speedup;	   /* ratio to one device alone */
	double efficiency; /* speedup divided by the number of devices */
	/* the fraction of all devices' peak, in the types used, that the
	 * model's operations need (Chowdhery et al., PaLM, 2022) */
	double mfu;
	double samples;	   /* per second */
	int64_t batch;	   /* samples per run; 0: not known */
} plan_speed;

plan_speed plan_speed_of(const plan_result *r);

/* Whether the result is for the default machine, from whose round numbers
 * nothing should be concluded. */
bool plan_speed_is_default(const topology *t);

/* The sources of the predicted time, on a machine with profiles. */
profiles_share plan_speed_share(const plan_result *r);
const char *plan_speed_share_text(arena *a, const plan_result *r);

/* Adds its members. */
void plan_speed_json(json_t *to, const plan_result *r);

/* "6.44 times one device alone, 80.5 % of 8; ..", or "" if nothing is known; in
 * a. */
const char *plan_speed_text(arena *a, const plan_result *r);

#endif

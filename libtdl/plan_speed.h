/* The gain of many devices over one, and the part of a machine that a plan
 * uses. */
#ifndef TDL_LIBTDL_PLAN_SPEED_H
#define TDL_LIBTDL_PLAN_SPEED_H

#include "base/json.h"
#include "compiler/portfolio/request.h"
#include "libtdl/profiles.h"

/* Each is NAN where it is not known. */
typedef struct plan_speed {
	double speedup;	   /* times as fast as one device alone */
	double efficiency; /* that, of the number of devices */
	double mfu; /* the part of all devices' peak that the model's operations
		       need, in their types (Chowdhery et al., PaLM, 2022) */
	double samples;	   /* per second */
	int64_t batch;	   /* samples of a run; 0: not known */
} plan_speed;

plan_speed plan_speed_of(const plan_result *r);

/* Whether the result is for the machine that is meant where none is named, of
 * whose round numbers nothing is to be concluded. */
bool plan_speed_is_default(const topology *t);

/* The sources of its predicted time, on a machine with profiles. */
profiles_share plan_speed_share(const plan_result *r);
const char *plan_speed_share_text(arena *a, const plan_result *r);

/* Adds its members. */
void plan_speed_json(json_t *to, const plan_result *r);

/* "6.44 times one device alone, 80.5 % of 8; ..", or "" where nothing is
 * known; in a. */
const char *plan_speed_text(arena *a, const plan_result *r);

#endif

/* The cost, on a machine, of a plan read from a file. */
#ifndef TDL_LIBTDL_PLAN_SCORE_H
#define TDL_LIBTDL_PLAN_SCORE_H

#include "libtdl/profiles.h"
#include "libtdl/stages_view.h"

typedef struct plan_score {
	const stages_view *v;
	double alone; /* seconds of the same program on one device */
	const profiles_share *by; /* NULL: no profiles */
} plan_score;

/* The cost on the machine of v; NULL with errors added. */
const plan_score *plan_score_of(job *d, const stages_view *v);

/* The output of `tdlc score PLAN --json', and without. */
json_t *plan_score_json(const plan_score *x);
void plan_score_text(FILE *to, const plan_score *x);

#endif

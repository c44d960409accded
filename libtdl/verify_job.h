/* Verification of many operators, and its result as JSON. */
#ifndef TDL_LIBTDL_VERIFY_JOB_H
#define TDL_LIBTDL_VERIFY_JOB_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/verify/verify.h"
#include "libtdl/job.h"

typedef struct verify_request {
	int64_t seed, trials;
	/* strategies missed, regions too large and gradients compared nowhere
	 * count as differences too */
	bool strict;
	bool gradients;
} verify_request;

#define VERIFY_REQUEST { .seed = 1, .trials = 25 }

#define VERIFY_OPTIONS(r)                                                    \
	{ CLI_INT, 0, "seed", "N",                                           \
	  "the seed of the random numbers (1)", &(r)->seed,                  \
	  .min = 0, .max = INT32_MAX },                                      \
	{ CLI_INT, 0, "trials", "N",                                         \
	  "the number of shapes for each operator (25)", &(r)->trials,       \
	  .min = 1, .max = 100000 },                                         \
	{ CLI_FLAG, 0, "strict", NULL,                                       \
	  "end with status 5 also if a strategy is missed, a region is "     \
	  "too large, or a gradient is compared nowhere", &(r)->strict },    \
	{ CLI_FLAG, 0, "gradients", NULL,                                    \
	  "also compare the derived gradients with differences, and "        \
	  "those in f32, bf16 and f16 with those in f64", &(r)->gradients }

typedef VEC(const ast_op *) op_list;

typedef struct verify_totals {
	int operators, shapes, strategies, untried, unchecked;
	int64_t elements;
	int found[VERIFY_KINDS];
	bool bad; /* there is a difference */
} verify_totals;

extern const char *const verify_kind_names[]; /* "wrong", .. */

/* Findings of a kind. */
int verify_count(const verify_result *r, verify_kind kind);

/* Verifies the operators.  Calls see() with each result, which is valid only
 * during the call. */
verify_totals verify_ops(tdl_modules *m, const op_list *ops,
			 const verify_request *r,
			 void (*see)(void *to, arena *a,
				     const verify_result *one), void *to);

/* The output of `tdlc verify --json': for one operator; for all, whose list it
 * steals. */
json_t *verify_result_json(const verify_result *r);
json_t *verify_json(const verify_request *r, const verify_totals *t,
		    json_t *all);

/* The same without --json. */
void verify_result_text(FILE *to, arena *a, const verify_result *r);
void verify_text(FILE *to, arena *a, const verify_totals *t);

#endif

/* The reasons for a tensor's layout in a plan: the alternatives, their costs,
 * and the operators that would pay them. */
#ifndef TDL_LIBTDL_PLAN_REASONS_H
#define TDL_LIBTDL_PLAN_REASONS_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/cost/topology.h"
#include "compiler/planners/search.h"
#include "libtdl/job.h"
#include "plan/plan.h"

/* A possible layout of a tensor along one axis; the other axes are as in the
 * plan. */
typedef struct plan_choice {
	int dim;	     /* an element of cuts */
	/* the reason why it is impossible or has no plan; NULL */
	const char *refused;
	/* by the byte model, of the best plan with it; -1 if it is refused */
	int64_t bytes;
	double seconds;	     /* predicted, for a run of that plan; NAN */
	const char *by;	     /* the planner that found it */
} plan_choice;

/* The dimensions, replicated, partial by each reducer. */
enum { PLAN_MAX_CHOICES = MAX_NDIM + 1 + RED_COUNT };

/* The bytes that an operator which reads or computes the tensor moves on the
 * axes up to this one: all other tensors are as in the plan; so is the operator
 * on the axes before, and along this one it is divided in the best way. */
typedef struct plan_neighbour {
	node_id node;
	int64_t bytes[PLAN_MAX_CHOICES]; /* by choice; -1 if it is refused */
	int64_t spread;		     /* the greatest minus the least of them */
} plan_neighbour;

typedef struct plan_step {
	/* the dimensions in order, then replicated, then partial by each
	 * reducer by which it may stay so */
	int nchoices;
	plan_choice choices[PLAN_MAX_CHOICES];
	plan_neighbour *neighbours; /* by decreasing spread */
} plan_step;

/* A variable of an operator that none of its axes can divide. */
typedef struct plan_undivided {
	node_id node;
	const char *variable, *why;
} plan_undivided;

typedef struct plan_reasons {
	const char *algorithm; /* that made the plan */
	const char *planner;   /* with which the choices were completed */
	const graph *graph;
	assignment as; /* the plan's */
	tensor_id tensor;
	int64_t bytes; /* by the byte model, of the plan */
	const topology *machine; /* for which times are predicted */
	/* per run of the plan; of all plans without buckets, .. */
	double seconds;
	bool buckets; /* .. which the plan has */
	const struct partial_values *partial;
	int bucket; /* that combines its partial results; 0: none */
	int chain;  /* that computes it part by part; 0: none; .. */
	bool inner; /* .. and it is never in memory whole */
	plan_step *steps; /* one per axis of the mesh */
	int nneighbours;
	VEC(plan_undivided) undivided; /* variables of the neighbours */
} plan_reasons;

/* The planners that complete choices, the first by default; ends with NULL.
 * They count only bytes, by which choices are compared. */
extern const char *const plan_reasons_planners[];

#define PLAN_REASONS_OPTION_ALGORITHM(i)                                     \
	{ CLI_CHOICE, 0, "algorithm", "A",                                   \
	  "with --plan, the planner that completes each choice: tofu "       \
	  "(default), joint", (i), .choices = plan_reasons_planners }

/* Tries all choices for the tensor of that name in a plan from the file
 * `where', completing each with planner `by' (NULL: the first), on a machine.
 * Returns false, with *status: after a message if there is no such tensor, or
 * with errors added. */
bool plan_reasons_of(job *d, const plan *p, const char *where,
		     const char *name, const char *by, const topology *t,
		     plan_reasons *r, cli_status *status);

/* Whether devices of a stage have the tensor of that name, if it exists; if
 * not, prints what they have in its place. */
bool plan_reasons_held(job *d, const plan *stages, int n, const char *where,
		       const char *name);

/* For the number of a tensor that no device has: ": 'x' is computed of it once,
 * and lies there in its place"; "" if nothing is. */
const char *plan_reasons_folded(arena *a, const plan *p, int of);

/* "cut 0", "replicated", "partial(Sum)" */
const char *plan_reasons_dim(arena *a, int dim);

/* The variable of an operator that an axis divides; NULL if none. */
const char *plan_reasons_variable(arena *a, const plan_reasons *r, node_id n,
				  int axis);

/* The output of `tdlc explain --plan --json'. */
json_t *plan_reasons_json(arena *a, const plan_reasons *r);
/* The same without --json. */
void plan_reasons_text(FILE *to, arena *a, const plan_reasons *r);

#endif

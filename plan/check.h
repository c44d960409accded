/* The state of the plan checker, shared by plan/check*.c alone. */
#ifndef TDL_PLAN_CHECK_H
#define TDL_PLAN_CHECK_H

#include "plan/plan.h"

typedef struct plan_checker {
	const plan *p;
	const plan *rolled; /* of which p is plan_in_order(), with `most';
				NULL */
	int most;
	diag_sink *sink;
	const char *path;
	int stage;	   /* of a pipeline; -1 */
	const char *table; /* and row, that are being looked at; a row of -1:
			      a member that is no table */
	int row;
} plan_checker;

/* Adds an error at the place that is being looked at; returns false. */
bool flaw(plan_checker *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether a tensor has a type and a shape. */
bool plan_tensor_is(const plan_tensor *t, dtype type, int ndim,
		    const int64_t *dims);

static inline bool is_index(int i, int n)
{
	return i >= 0 && i < n;
}

/* Cuts name what exists of n extents, of which time divides one or none, and
 * leave no worker without a part of it. */
bool plan_check_cuts(plan_checker *c, const cuts *x, int time, int n,
		     const int64_t *whole);

/* The folds, and that what has no elements gets some by them. */
bool plan_check_folds(plan_checker *c, arena *tmp);

/* The table of nodes. */
bool plan_check_nodes(plan_checker *c, arena *tmp);

/* The buckets of a program that is right otherwise. */
bool plan_check_buckets(plan_checker *c, arena *tmp);

/* The same of its chains; those on a worker. */
bool plan_check_chains(plan_checker *c, arena *tmp);
bool plan_check_chains_at(plan_checker *c, arena *tmp, int worker);

/* ---- check_loop.c: each accepts a plan without a loop ------------------- */

/* The elements of the smallest turn of an extent that time divides. */
int64_t loop_smallest_turn(const plan_loop *o, int64_t extent);

/* Number `time' of n extents has equally many elements for each sample. */
bool loop_check_time(plan_checker *c, int time, int n, const int64_t *extents);

/* Whether u is a result that may become the value of t. */
bool loop_may_follow(const plan *p, const plan_tensor *t, const plan_tensor *u);

/* The value of a result in the next turn, which is that of no other. */
bool loop_check_then(plan_checker *c, const plan_tensor *t, bool *taken);

/* Whether a tensor's value is that of the one that is read, in some turn. */
bool loop_stands_for(const plan *p, int tensor, int read);

bool loop_check_feed(plan_checker *c, const plan_instr *in);

/* The loop, and the indices that unrolling uses. */
bool loop_check(plan_checker *c, arena *tmp);

/* ---- check_stage.c: each accepts a plan that is no stage ---------------- */

/* The segments and the order of their turns, before the body is looked at. */
bool stage_check_schedule(plan_checker *c, arena *tmp);

/* Each buffer that is in use in several segments has slots for all turns that
 * are under way between them, and so have sent and received ones; no others
 * have any. */
bool stage_check_slots(plan_checker *c, arena *tmp);

/* A SEND, or a RECEIVE, of a stored block. */
bool stage_check_message(plan_checker *c, const plan_instr *in);

/* Kernels that are computed with those before them.  (check_epilogue.c) */
bool plan_check_epilogues(plan_checker *c);

/* plan_check() of a stage; `stage' is its number, -1 for a plan that is no
 * stage. */
bool plan_check_stage(const plan *p, int stage, diag_sink *s,
		      const char *path);

#endif

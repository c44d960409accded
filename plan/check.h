/* The state of the plan checker, shared by plan/check*.c alone. */
#ifndef TDL_PLAN_CHECK_H
#define TDL_PLAN_CHECK_H

#include "plan/plan.h"

typedef struct plan_checker {
	const plan *p;
	/* the plan with its loop, of which p is plan_in_order() with `most'
	 * turns; NULL */
	const plan *rolled;
	int most;
	diag_sink *sink;
	const char *path;
	int stage;	   /* number of the stage in its pipeline; -1 */
	/* the table and row being checked; row -1: a member that is not a
	 * table */
	const char *table;
	int row;
} plan_checker;

/* Adds an error at the place being checked; returns false. */
bool flaw(plan_checker *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Whether a tensor has this type and shape. */
bool plan_tensor_is(const plan_tensor *t, dtype type, int ndim,
		    const int64_t *dims);

static inline bool is_index(int i, int n)
{
	return i >= 0 && i < n;
}

/* Checks cuts of n extents: they name existing dimensions, `time' among them is
 * divided by time or CUT_NONE, and every worker gets a part. */
bool plan_check_cuts(plan_checker *c, const cuts *x, int time, int n,
		     const int64_t *whole);

/* Checks the folds, and that every constant without elements gets some from a
 * fold. */
bool plan_check_folds(plan_checker *c, arena *tmp);

/* Checks the table of nodes. */
bool plan_check_nodes(plan_checker *c, arena *tmp);

/* Checks the buckets of a program that is otherwise valid. */
bool plan_check_buckets(plan_checker *c, arena *tmp);

/* The same for its chains; for those on one worker. */
bool plan_check_chains(plan_checker *c, arena *tmp);
bool plan_check_chains_at(plan_checker *c, arena *tmp, int worker);

/* ---- check_loop.c: each accepts a plan without a loop ------------------- */

/* The elements that the smallest turn has of an extent divided by time. */
int64_t loop_smallest_turn(const plan_loop *o, int64_t extent);

/* Checks that extent number `time' of n has equally many elements for each
 * sample. */
bool loop_check_time(plan_checker *c, int time, int n, const int64_t *extents);

/* Whether u is a result that may become the value of t. */
bool loop_may_follow(const plan *p, const plan_tensor *t, const plan_tensor *u);

/* Checks that the value which t gets in the next turn is not that of another
 * tensor. */
bool loop_check_then(plan_checker *c, const plan_tensor *t, bool *taken);

/* Whether `tensor' has, in some turn, the value of the tensor `read'. */
bool loop_stands_for(const plan *p, int tensor, int read);

bool loop_check_feed(plan_checker *c, const plan_instr *in);

/* Checks the loop, and the indices that unrolling uses. */
bool loop_check(plan_checker *c, arena *tmp);

/* ---- check_stage.c: each accepts a plan that is no stage ---------------- */

/* Checks the segments and the order of their turns.  Runs before the body is
 * checked. */
bool stage_check_schedule(plan_checker *c, arena *tmp);

/* Checks slots: a buffer in use in several segments, and one that is sent or
 * received, has slots for all turns in flight between them; no other buffer has
 * any. */
bool stage_check_slots(plan_checker *c, arena *tmp);

/* Checks that a SEND or RECEIVE has a stored block. */
bool stage_check_message(plan_checker *c, const plan_instr *in);

/* Checks the kernels that are computed as epilogues (check_epilogue.c). */
bool plan_check_epilogues(plan_checker *c);

/* plan_check() for stage number `stage'; -1 for a plan that is not a stage. */
bool plan_check_stage(const plan *p, int stage, diag_sink *s,
		      const char *path);

#endif

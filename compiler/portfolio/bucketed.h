/* Plans with their reductions in buckets, and the fastest candidate with
 * buckets.
 *
 * Programs are compared without buckets, which take several tries each.
 * Afterwards the programs that buckets might make faster than the best one with
 * its own are tried with them, the most promising first. */
#ifndef TDL_COMPILER_PORTFOLIO_BUCKETED_H
#define TDL_COMPILER_PORTFOLIO_BUCKETED_H

#include "compiler/portfolio/candidates.h"

/* The plan with its reductions in buckets as far as how->bucket asks for it and
 * how->memory allows; f: the classes of its layouts.  A plan for least memory
 * does not take more memory for them. */
plan *plan_in_buckets(const plan_request *how, plan *p, layout_classes *f);

/* *best is the candidate of plan_best() for objective time.  Replaces it by the
 * one that is fastest with buckets; its program has the figures without them.
 * May make more programs of candidates.  Returns false after adding errors. */
bool plan_best_in_buckets(const plan_request *how, plan_candidates *all,
			  plan_candidate *best);

/* Sets the seconds, and the bytes of the arena, of a plan's program with its
 * reductions in buckets, if that makes it faster within how->memory; sets
 * *faster to false otherwise.  Returns false after adding errors. */
bool program_in_buckets(const plan_request *how, const assignment *as,
			plan_program *p, bool *faster);

#endif

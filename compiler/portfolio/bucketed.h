/* Plans with their reductions in buckets, and the fastest of the candidates
 * with theirs.
 *
 * Programs are compared without buckets, which take several tries each.  Those
 * that buckets might make faster than the best with its own are tried with them
 * afterwards, the most promising first. */
#ifndef TDL_COMPILER_PORTFOLIO_BUCKETED_H
#define TDL_COMPILER_PORTFOLIO_BUCKETED_H

#include "compiler/portfolio/candidates.h"

/* The plan with its reductions in buckets, as far as how->bucket asks for that
 * and how->memory allows; f: the classes of its layouts.  One that is to need
 * the least memory takes no more for them. */
plan *plan_in_buckets(const plan_request *how, plan *p, layout_classes *f);

/* *best is the candidate of plan_best() for objective time, and is replaced by
 * the one that is the fastest with buckets; its program has the figures of that
 * without.  More programs of candidates that might win are made.  False when
 * errors were added. */
bool plan_best_in_buckets(const plan_request *how, plan_candidates *all,
			  plan_candidate *best);

/* The seconds, and the bytes of the arena, of a program of a plan with its
 * reductions in buckets, where these make it faster within how->memory; *faster
 * is false elsewhere.  False when errors were added. */
bool program_in_buckets(const plan_request *how, const assignment *as,
			plan_program *p, bool *faster);

#endif

/* The progress of a long search: a line on standard error, where that is a
 * terminal. */
#ifndef TDL_COMPILER_DRIVER_PROGRESS_H
#define TDL_COMPILER_DRIVER_PROGRESS_H

#include "compiler/portfolio/request.h"

/* An observer that shows each step in place of the one before; in a.  NULL if
 * standard error is no terminal. */
plan_observer *progress_begin(arena *a);

/* Erases the line and sets *o to NULL, which it may be. */
void progress_end(plan_observer **o);

#endif

/* The progress of a search that may take long, on a terminal. */
#ifndef TDL_COMPILER_DRIVER_PROGRESS_H
#define TDL_COMPILER_DRIVER_PROGRESS_H

#include "include/tdl/tdl.h"

/* Shows the steps of the context's calls on standard error, in one line which
 * each replaces, and erases it; nothing where that is no terminal. */
void progress_begin(tdl_context *c);
void progress_end(tdl_context *c);

#endif

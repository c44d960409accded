/* The progress of a long call, on standard error. */
#ifndef TDL_COMPILER_DRIVER_PROGRESS_H
#define TDL_COMPILER_DRIVER_PROGRESS_H

#include "compiler/driver/page.h"

/* Shows the steps of the page's calls, once they have taken a second, and their
 * time.  On a terminal it is one line, which is erased at the end; elsewhere,
 * with --progress, a line for each step that takes long; otherwise nothing. */
void progress_begin(page *p);
void progress_end(page *p);

#endif

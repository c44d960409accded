/* The progress of a call that may take long, on standard error. */
#ifndef TDL_COMPILER_DRIVER_PROGRESS_H
#define TDL_COMPILER_DRIVER_PROGRESS_H

#include "compiler/driver/page.h"

/* Shows the steps of the page's calls, once they have taken a second, and how
 * long that is: on a terminal in one line, which is erased in the end; else,
 * with --progress, a line for each step that takes long.  Nothing otherwise. */
void progress_begin(page *p);
void progress_end(page *p);

#endif

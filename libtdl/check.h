/* Checks files for faults. */
#ifndef TDL_LIBTDL_CHECK_H
#define TDL_LIBTDL_CHECK_H

#include "libtdl/job.h"

/* Loads n files and everything they import, checks their operators, and builds
 * the graphs of their models with default arguments. */
tdl_modules *check_files(job *d, const char *const *paths, int n);

#endif

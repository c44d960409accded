/* The faults of files. */
#ifndef TDL_LIBTDL_CHECK_H
#define TDL_LIBTDL_CHECK_H

#include "libtdl/job.h"

/* Loads n files and all that they import, checks their operators, and builds
 * the graphs of their models for the defaults of their arguments. */
tdl_modules *check_files(job *d, const char *const *paths, int n);

#endif

/* A plan as a CUDA program, written to files. */
#ifndef TDL_LIBTDL_PROGRAM_FILES_H
#define TDL_LIBTDL_PROGRAM_FILES_H

#include "libtdl/job.h"
#include "plan/plan.h"

/* Writes the program's files to a folder, which is created if missing.  Returns
 * CLI_INPUT with errors added, or the status after a message. */
cli_status program_write(job *d, const plan *p, const char *folder);

#endif

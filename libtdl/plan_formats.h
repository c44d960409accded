/* The formats in which plans are written for other programs. */
#ifndef TDL_LIBTDL_PLAN_FORMATS_H
#define TDL_LIBTDL_PLAN_FORMATS_H

#include "libtdl/job.h"
#include "plan/pipeline.h"

typedef struct plan_format {
	const char *name;
	/* Writes a plan to a file, or to a folder.  Returns CLI_INPUT with
	 * errors added, or the status after a message. */
	cli_status (*write)(job *d, const plan *p, const char *path);
	/* The same for a plan with several stages; NULL: the format allows one
	 * only. */
	cli_status (*write_stages)(job *d, const plan_pipeline *p,
				   const char *path);
} plan_format;

/* The format with that name; NULL if there is none. */
const plan_format *plan_format_of(const char *name);

#endif

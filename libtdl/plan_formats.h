/* The formats that plans are written in for other programs. */
#ifndef TDL_LIBTDL_PLAN_FORMATS_H
#define TDL_LIBTDL_PLAN_FORMATS_H

#include "libtdl/job.h"
#include "plan/pipeline.h"

typedef struct plan_format {
	const char *name;
	/* Writes a plan to a file, or to a folder.  CLI_INPUT with errors
	 * added, or the status after a message. */
	cli_status (*write)(job *d, const plan *p, const char *path);
	/* The same of a plan of several stages; NULL: it has to be of one. */
	cli_status (*write_stages)(job *d, const plan_pipeline *p,
				   const char *path);
} plan_format;

/* NULL for an unknown name. */
const plan_format *plan_format_of(const char *name);

#endif

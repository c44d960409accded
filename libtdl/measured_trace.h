/* Reads a step measured by `tdlrun --trace'.  Nothing in the file is
 * trusted. */
#ifndef TDL_LIBTDL_MEASURED_TRACE_H
#define TDL_LIBTDL_MEASURED_TRACE_H

#include "base/diag.h"
#include "base/json.h"
#include "base/vec.h"
#include "plan/pipeline.h"

/* An instruction on a device, in a turn: seconds. */
typedef struct measured_span {
	int device, row;
	int turn; /* -1 outside of the body */
	double begin, seconds;
} measured_span;

typedef struct measured_spans {
	VEC(measured_span) all; /* device after device */
} measured_spans;

typedef struct measured_trace {
	double seconds; /* of the step */
	measured_spans *stages;
} measured_trace;

/* Reads the trace in a file, for a plan, in a; NULL with errors added. */
const measured_trace *measured_trace_read(arena *a, diag_sink *s,
					  const char *path,
					  const plan_pipeline *p);

/* Whether an object is about the plan's model and number of devices; adds an
 * error if not. */
bool measured_trace_fits(arena *a, diag_sink *s, const char *path,
			 const plan_pipeline *p, const json_t *about);

#endif

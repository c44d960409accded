/* Explanations why layers lie in their stages, as JSON and as text. */
#ifndef TDL_LIBTDL_STAGES_REASONS_H
#define TDL_LIBTDL_STAGES_REASONS_H

#include <stdio.h>

#include "base/json.h"
#include "compiler/portfolio/pipeline_reasons.h"

/* The output of `tdlc explain MODEL --stages --json' for a plan that was found
 * for the machine of that name. */
json_t *stages_reasons_json(const pipeline_result *r, const pipeline_reasons *x,
			    const char *machine);
/* The same without --json. */
void stages_reasons_text(FILE *to, arena *a, const pipeline_result *r,
			 const pipeline_reasons *x, const char *machine);

#endif

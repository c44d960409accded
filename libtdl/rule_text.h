/* An operator's sharding rule in the notation of another system. */
#ifndef TDL_LIBTDL_RULE_TEXT_H
#define TDL_LIBTDL_RULE_TEXT_H

#include "libtdl/explain.h"

/* The names of explain_format, "text" first; ends with NULL. */
extern const char *const explain_formats[];

/* The output of `tdlc explain --format', for formats other than EXPLAIN_TEXT.
 * NULL, with *status, after a message or with errors added. */
const char *rule_text(job *d, const explain_request *r, cli_status *status);

#endif

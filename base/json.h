/* JSON values of text that may be anything. */
#ifndef TDL_BASE_JSON_H
#define TDL_BASE_JSON_H

#include <jansson.h>

/* A string of any bytes.  JSON is UTF-8: of other text, each byte that is not
 * ASCII becomes '?'. */
json_t *json_of_text(const char *text);

#endif

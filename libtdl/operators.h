/* The list of the operators of a set of modules. */
#ifndef TDL_LIBTDL_OPERATORS_H
#define TDL_LIBTDL_OPERATORS_H

#include <stdio.h>

#include "base/json.h"
#include "libtdl/onnx_uses.h"

/* The first line of a doc comment, which may be NULL; "" if there is none. */
const char *operator_summary(arena *a, const char *doc);

/* The output of `tdlc ops' without and with --json; onnx is from
 * mapped_from(). */
void operators_text(FILE *to, arena *a, const tdl_modules *m,
		    const strmap *onnx);
json_t *operators_json(arena *a, const tdl_modules *m, const strmap *onnx);

#endif

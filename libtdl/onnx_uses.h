/* The ONNX operators that are mapped to each operator of the library. */
#ifndef TDL_LIBTDL_ONNX_USES_H
#define TDL_LIBTDL_ONNX_USES_H

#include "base/intern.h"
#include "base/vec.h"
#include "dsl/dsl.h"

typedef VEC(const char *) mapped_names;

/* Maps the name of each operator that an onnx entry calls to the mapped_names
 * of those entries: "Conv", "com.microsoft.FusedConv"; each once, in the order
 * of the files. */
strmap *mapped_from(arena *a, const tdl_modules *m);

#endif

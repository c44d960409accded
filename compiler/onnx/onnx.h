/* Reads ONNX models, and models in either language. */
#ifndef TDL_COMPILER_ONNX_ONNX_H
#define TDL_COMPILER_ONNX_ONNX_H

#include "compiler/model/model.h"

/* Reads an ONNX model.  Returns NULL after adding errors. */
graph *onnx_import(arena *a, tdl_modules *m, diag_sink *s,
		   const char *path, const model_options *o);


/* Reads a model, in TDL or ONNX.  A TDL file is added to m.  Returns NULL after
 * adding errors. */
graph *model_import(arena *a, tdl_modules *m, diag_sink *s, const char *path,
		    const model_options *o);

#endif

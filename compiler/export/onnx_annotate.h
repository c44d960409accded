/* Adds the layouts of a plan to an ONNX model as multi-device annotations: IR
 * version 11, ModelProto.configuration and NodeProto.device_configurations.
 * Edits the encoded file, so that nothing else in it changes and its weights
 * are copied as they are. */
#ifndef TDL_COMPILER_EXPORT_ONNX_ANNOTATE_H
#define TDL_COMPILER_EXPORT_ONNX_ANNOTATE_H

#include "base/vec.h"
#include "plan/plan.h"

enum { ONNX_ANNOTATED_IR = 11 };

/* The name of the configuration. */
extern const char onnx_configuration[];

typedef struct onnx_bytes {
	arena *a;
	VEC(uint8_t) b;
	int nspecs; /* number of layouts written */
} onnx_bytes;

/* Appends the n bytes of a model to `to', adding the layout of each tensor of
 * the plan to the nodes that read or compute it.  Existing annotations are
 * dropped.  Returns false if the bytes are not a valid encoding. */
bool onnx_annotate(onnx_bytes *to, const uint8_t *data, size_t n,
		   const plan *p);

#endif

/* ONNX models with the layouts of a plan, as multi-device annotations: IR
 * version 11, ModelProto.configuration and NodeProto.device_configurations.
 *
 * A file is edited as it is encoded, so that nothing else of it changes and its
 * weights are copied as they are. */
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
	int nspecs; /* layouts that were written */
} onnx_bytes;

/* Adds the n bytes of a model to `to', with the layout of each tensor of the
 * plan in the nodes that read or make it; what was annotated before is left
 * out.  False where the bytes are no encoding. */
bool onnx_annotate(onnx_bytes *to, const uint8_t *data, size_t n,
		   const plan *p);

#endif

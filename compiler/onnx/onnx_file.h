/* An ONNX file as bytes, and the part of it that is safe to unpack.
 *
 * protobuf-c has neither a limit on nesting nor one on memory, and copies
 * every payload.  So a file is walked first, along protobuf-c's own
 * descriptors: lengths, nesting and the memory that unpacking will take are
 * checked, and a slim copy is made in which the elements of each tensor are
 * replaced by where they lie in the file. */
#ifndef TDL_COMPILER_ONNX_ONNX_FILE_H
#define TDL_COMPILER_ONNX_ONNX_FILE_H

#include "base/diag.h"
#include "compiler/onnx/onnx-ml.pb-c.h"

enum {
	ONNX_MAX_NESTING = 64,	      /* messages within messages */
	ONNX_MAX_MEMORY = 96 << 20,   /* that unpacking may take, bytes */
	ONNX_MAX_SLIM = 48 << 20,     /* of the slim copy, bytes */
	ONNX_MAX_STREAM = 64 << 20,   /* of a file that cannot be mapped */
};

typedef struct onnx_file {
	const char *path;
	const uint8_t *data;
	size_t size;
	bool mapped; /* else data is in an arena, or there is none */
} onnx_file;

/* Maps the file; a file that is not regular is read into a.  Returns false when
 * errors were added; else onnx_file_close() is due. */
bool onnx_file_open(arena *a, diag_sink *s, const char *path, onnx_file *f);
void onnx_file_close(onnx_file *f);

/* The model, unpacked in a; NULL when errors were added. */
const Onnx__ModelProto *onnx_file_unpack(arena *a, diag_sink *s,
					 const onnx_file *f);

/* The place of a tensor's elements in the file: the contents of raw_data after
 * onnx_file_unpack(). */
typedef struct onnx_payload {
	uint64_t offset, nbytes;
	uint8_t field; /* of TensorProto: raw_data, float_data, double_data */
} onnx_payload;

enum {
	ONNX_FIELD_FLOAT_DATA = 4,
	ONNX_FIELD_RAW_DATA = 9,
	ONNX_FIELD_DOUBLE_DATA = 10,
};

/* Returns false where the tensor has no such elements. */
bool onnx_payload_of(const Onnx__TensorProto *t, onnx_payload *p);

#endif

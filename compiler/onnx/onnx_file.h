/* An ONNX file as bytes, and the part of it that is safe to unpack.
 *
 * protobuf-c limits neither nesting nor memory, and copies every payload.  So
 * the file is first walked along protobuf-c's own descriptors.  This checks
 * lengths, nesting and the memory that unpacking will take, and makes a slim
 * copy in which the elements of each tensor are replaced by their place in the
 * file. */
#ifndef TDL_COMPILER_ONNX_ONNX_FILE_H
#define TDL_COMPILER_ONNX_ONNX_FILE_H

#include "base/diag.h"
#include "compiler/onnx/onnx-ml.pb-c.h"

enum {
	ONNX_MAX_NESTING = 64,	      /* of messages */
	ONNX_MAX_MEMORY = 96 << 20,   /* that unpacking may take, bytes */
	ONNX_MAX_SLIM = 48 << 20,     /* of the slim copy, bytes */
	ONNX_MAX_STREAM = 64 << 20,   /* of a file that cannot be mapped */
};

typedef struct onnx_file {
	const char *path;
	const uint8_t *data;
	size_t size;
	bool mapped; /* else data is in an arena, or NULL */
} onnx_file;

/* Maps a file; one that is not regular is read into a.  Returns false after
 * adding errors; after true the caller must call onnx_file_close(). */
bool onnx_file_open(arena *a, diag_sink *s, const char *path, onnx_file *f);
void onnx_file_close(onnx_file *f);

/* Unpacks the model in a; NULL after adding errors. */
const Onnx__ModelProto *onnx_file_unpack(arena *a, diag_sink *s,
					 const onnx_file *f);

/* The place of a tensor's elements in the file. onnx_file_unpack() stores it as
 * the content of raw_data. */
typedef struct onnx_payload {
	uint64_t offset, nbytes;
	uint8_t field; /* of TensorProto: raw_data, float_data, double_data */
} onnx_payload;

enum {
	ONNX_FIELD_FLOAT_DATA = 4,
	ONNX_FIELD_RAW_DATA = 9,
	ONNX_FIELD_DOUBLE_DATA = 10,
};

/* Returns false if the tensor has no such elements. */
bool onnx_payload_of(const Onnx__TensorProto *t, onnx_payload *p);

#endif

/* Element types of tensors. */
#ifndef TDL_BASE_DTYPE_H
#define TDL_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum dtype {
	DT_NONE = -1,
	DT_F64,
	DT_F32,
	DT_F16,
	DT_BF16,
	DT_I64,
	DT_I32,
	DT_I16,
	DT_I8,
	DT_U64,
	DT_U32,
	DT_U16,
	DT_U8,
	DT_BOOL,
	DT_COUNT
} dtype;

/* The name in TDL, "f32"; and back, DT_NONE for an unknown name. */
const char *dtype_name(dtype t);
dtype dtype_parse(const char *name);

/* Bytes per element. */
size_t dtype_size(dtype t);

bool dtype_is_float(dtype t);	/* f64 f32 f16 bf16 */
bool dtype_is_int(dtype t);	/* i64 .. u8, not bool */
bool dtype_is_signed(dtype t);	/* i64 i32 i16 i8 */

/* The type in which a reduction over elements of t accumulates: f32 for
 * f16 and bf16, i64 for the signed integers, u64 for the unsigned, else t. */
dtype dtype_accumulator(dtype t);

#endif

/* Element types of tensors.
 *
 * Floats of 8 bits and less have the names of ONNX and ml_dtypes, which give
 * the bits of exponent and mantissa.  "fn": finite numbers and NaN, no
 * infinity.  "fnuz": no infinity and no negative zero. f8e8m0: powers of two
 * only, unsigned.  Those of 6 and 4 bits: finite numbers only.  In memory, in
 * .npz files and in plans an element of less than 8 bits takes the lower bits
 * of a byte; i4 and i2 are sign-extended. */
#ifndef TDL_BASE_DTYPE_H
#define TDL_BASE_DTYPE_H

#include <stdbool.h>
#include <stddef.h>

/* In the order of include/tdl/kernel.h, which only grows at its end. */
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
	DT_F8E4M3FN,
	DT_F8E4M3FNUZ,
	DT_F8E5M2,
	DT_F8E5M2FNUZ,
	DT_F8E8M0,
	DT_F6E2M3,
	DT_F6E3M2,
	DT_F4E2M1,
	DT_I4,
	DT_U4,
	DT_I2,
	DT_U2,
	DT_COUNT
} dtype;

/* The name in TDL, "f32"; the type with that name, DT_NONE if there is none. */
const char *dtype_name(dtype t);
dtype dtype_parse(const char *name);

/* Bytes per element in memory; significant bits per element, 8 for bool. */
size_t dtype_size(dtype t);
int dtype_bits(dtype t);

bool dtype_is_float(dtype t);
bool dtype_is_int(dtype t); /* bool is none */
bool dtype_is_signed(dtype t);	/* i64 i32 i16 i8 i4 i2 */

/* Floats whose arithmetic is done in f32: all but f64 and f32. */
bool dtype_is_small_float(dtype t);

/* The type in which a reduction over elements of t accumulates: f32 for the
 * small floats, i64 for the signed integers, u64 for the unsigned, else t. */
dtype dtype_accumulator(dtype t);

#endif

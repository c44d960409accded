#include "config.h"

#include "base/dtype.h"

#include <string.h>

static const struct {
	const char *name;
	size_t size;
	dtype accumulator;
} types[DT_COUNT] = {
	[DT_F64] = { "f64", 8, DT_F64 },   [DT_F32] = { "f32", 4, DT_F32 },
	[DT_F16] = { "f16", 2, DT_F32 },   [DT_BF16] = { "bf16", 2, DT_F32 },
	[DT_I64] = { "i64", 8, DT_I64 },   [DT_I32] = { "i32", 4, DT_I64 },
	[DT_I16] = { "i16", 2, DT_I64 },   [DT_I8] = { "i8", 1, DT_I64 },
	[DT_U64] = { "u64", 8, DT_U64 },   [DT_U32] = { "u32", 4, DT_U64 },
	[DT_U16] = { "u16", 2, DT_U64 },   [DT_U8] = { "u8", 1, DT_U64 },
	[DT_BOOL] = { "bool", 1, DT_BOOL },
};

const char *dtype_name(dtype t)
{
	return t == DT_NONE ? "?" : types[t].name;
}

dtype dtype_parse(const char *name)
{
	for (int t = 0; t < DT_COUNT; t++)
		if (!strcmp(types[t].name, name))
			return (dtype)t;
	return DT_NONE;
}

size_t dtype_size(dtype t)
{
	return types[t].size;
}

bool dtype_is_float(dtype t)
{
	return t >= DT_F64 && t <= DT_BF16;
}

bool dtype_is_int(dtype t)
{
	return t >= DT_I64 && t <= DT_U8;
}

bool dtype_is_signed(dtype t)
{
	return t >= DT_I64 && t <= DT_I8;
}

dtype dtype_accumulator(dtype t)
{
	return types[t].accumulator;
}

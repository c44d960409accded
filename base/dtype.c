#include "config.h"

#include "base/dtype.h"

#include <string.h>

typedef enum kind { KIND_FLOAT, KIND_SIGNED, KIND_UNSIGNED, KIND_BOOL } kind;

static const struct {
	const char *name;
	int bits;
	kind kind;
} types[DT_COUNT] = {
	[DT_F64] = { "f64", 64, KIND_FLOAT },
	[DT_F32] = { "f32", 32, KIND_FLOAT },
	[DT_F16] = { "f16", 16, KIND_FLOAT },
	[DT_BF16] = { "bf16", 16, KIND_FLOAT },
	[DT_I64] = { "i64", 64, KIND_SIGNED },
	[DT_I32] = { "i32", 32, KIND_SIGNED },
	[DT_I16] = { "i16", 16, KIND_SIGNED },
	[DT_I8] = { "i8", 8, KIND_SIGNED },
	[DT_U64] = { "u64", 64, KIND_UNSIGNED },
	[DT_U32] = { "u32", 32, KIND_UNSIGNED },
	[DT_U16] = { "u16", 16, KIND_UNSIGNED },
	[DT_U8] = { "u8", 8, KIND_UNSIGNED },
	[DT_BOOL] = { "bool", 8, KIND_BOOL },
	[DT_F8E4M3FN] = { "f8e4m3fn", 8, KIND_FLOAT },
	[DT_F8E4M3FNUZ] = { "f8e4m3fnuz", 8, KIND_FLOAT },
	[DT_F8E5M2] = { "f8e5m2", 8, KIND_FLOAT },
	[DT_F8E5M2FNUZ] = { "f8e5m2fnuz", 8, KIND_FLOAT },
	[DT_F8E8M0] = { "f8e8m0", 8, KIND_FLOAT },
	[DT_F6E2M3] = { "f6e2m3", 6, KIND_FLOAT },
	[DT_F6E3M2] = { "f6e3m2", 6, KIND_FLOAT },
	[DT_F4E2M1] = { "f4e2m1", 4, KIND_FLOAT },
	[DT_I4] = { "i4", 4, KIND_SIGNED },
	[DT_U4] = { "u4", 4, KIND_UNSIGNED },
	[DT_I2] = { "i2", 2, KIND_SIGNED },
	[DT_U2] = { "u2", 2, KIND_UNSIGNED },
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
	return (size_t)(types[t].bits + 7) / 8;
}

int dtype_bits(dtype t)
{
	return types[t].bits;
}

bool dtype_is_float(dtype t)
{
	return t != DT_NONE && types[t].kind == KIND_FLOAT;
}

bool dtype_is_int(dtype t)
{
	return t != DT_NONE && (types[t].kind == KIND_SIGNED ||
				types[t].kind == KIND_UNSIGNED);
}

bool dtype_is_signed(dtype t)
{
	return t != DT_NONE && types[t].kind == KIND_SIGNED;
}

bool dtype_is_small_float(dtype t)
{
	return dtype_is_float(t) && types[t].bits < 32;
}

dtype dtype_accumulator(dtype t)
{
	switch (types[t].kind) {
	case KIND_SIGNED:
		return DT_I64;
	case KIND_UNSIGNED:
		return DT_U64;
	case KIND_FLOAT:
		return t == DT_F64 ? DT_F64 : DT_F32;
	case KIND_BOOL:
		break;
	}
	return t;
}

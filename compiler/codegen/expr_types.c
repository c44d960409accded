/* C types, constants, and conversions to integers. */
#include "config.h"

#include "compiler/codegen/expr_piece.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- types ------------------------------------------------------------- */

static const struct {
	const char *value, *element, *suffix, *least, *largest;
} types[DT_COUNT] = {
	[DT_F64] = {"double", "double", "f64", "-INFINITY", "INFINITY"},
	[DT_F32] = {"float", "float", "f32", "-INFINITY", "INFINITY"},
	[DT_F16] = {"float", "uint16_t", "f32", "-INFINITY", "INFINITY"},
	[DT_BF16] = {"float", "uint16_t", "f32", "-INFINITY", "INFINITY"},
	[DT_I64] = {"int64_t", "int64_t", "i64", "INT64_MIN", "INT64_MAX"},
	[DT_I32] = {"int32_t", "int32_t", "i64", "INT32_MIN", "INT32_MAX"},
	[DT_I16] = {"int16_t", "int16_t", "i64", "INT16_MIN", "INT16_MAX"},
	[DT_I8] = {"int8_t", "int8_t", "i64", "INT8_MIN", "INT8_MAX"},
	[DT_U64] = {"uint64_t", "uint64_t", "u64", "0", "UINT64_MAX"},
	[DT_U32] = {"uint32_t", "uint32_t", "u64", "0", "UINT32_MAX"},
	[DT_U16] = {"uint16_t", "uint16_t", "u64", "0", "UINT16_MAX"},
	[DT_U8] = {"uint8_t", "uint8_t", "u64", "0", "UINT8_MAX"},
	[DT_BOOL] = {"bool", "uint8_t", "bool", "false", "true"},
	[DT_F8E4M3FN] = {"float", "uint8_t", "f32", "-448.0f", "448.0f"},
	[DT_F8E4M3FNUZ] = {"float", "uint8_t", "f32", "-240.0f", "240.0f"},
	[DT_F8E5M2] = {"float", "uint8_t", "f32", "-INFINITY", "INFINITY"},
	[DT_F8E5M2FNUZ] = {"float", "uint8_t", "f32", "-57344.0f", "57344.0f"},
	[DT_F8E8M0] = {"float", "uint8_t", "f32", "0x1p-127f", "0x1p127f"},
	[DT_F6E2M3] = {"float", "uint8_t", "f32", "-7.5f", "7.5f"},
	[DT_F6E3M2] = {"float", "uint8_t", "f32", "-28.0f", "28.0f"},
	[DT_F4E2M1] = {"float", "uint8_t", "f32", "-6.0f", "6.0f"},
	[DT_I4] = {"int8_t", "int8_t", "i64", "-8", "7"},
	[DT_U4] = {"uint8_t", "uint8_t", "u64", "0", "15"},
	[DT_I2] = {"int8_t", "int8_t", "i64", "-2", "1"},
	[DT_U2] = {"uint8_t", "uint8_t", "u64", "0", "3"},
};

const char *type_of_value(dtype t)
{
	return types[t].value;
}

const char *type_of_element(dtype t)
{
	return types[t].element;
}

const char *type_suffix(dtype t)
{
	return types[t].suffix;
}

const char *print_limit(printer *p, dtype t, bool largest)
{
	(void)p;
	return largest ? types[t].largest : types[t].least;
}

/* Whether C computes in a wider type, so that results have to be truncated. */
bool is_narrow(dtype t)
{
	return dtype_is_int(t) && dtype_size(t) < 4;
}

/* Whether C has no type with this number of bits. */
bool is_part_of_byte(dtype t)
{
	return dtype_is_int(t) && dtype_bits(t) < 8;
}

/* ---- constants --------------------------------------------------------- */

expr_piece print_int(printer *p, int64_t i, dtype t)
{
	int bind = i < 0 ? BIND_UNARY : BIND_ATOM;
	if (t == DT_BOOL)
		return (expr_piece){i ? "true" : "false", BIND_ATOM};
	if (t == DT_U64)
		return (expr_piece){
			arena_printf(p->a, "%" PRIu64 "ULL", (uint64_t)i),
			BIND_ATOM};
	if (i == INT64_MIN)
		return (expr_piece){"INT64_MIN", BIND_ATOM};
	if (t == DT_U32)
		return (expr_piece){arena_printf(p->a, "%" PRId64 "U", i),
				    bind};
	int64_t limit = INT64_C(1) << (p->cuda && !p->wide ? 30 : 15);
	bool small = i > -limit && i < limit;
	return (expr_piece){
		arena_printf(p->a, "%" PRId64 "%s", i,
			     small || dtype_size(t) < 8 ? "" : "LL"),
		bind};
}

expr_piece print_float(printer *p, double f, dtype t)
{
	bool wide = t == DT_F64;
	int bind = signbit(f) ? BIND_UNARY : BIND_ATOM;
	if (isnan(f))
		return (expr_piece){"NAN", BIND_ATOM};
	if (isinf(f))
		return (expr_piece){f < 0 ? "-INFINITY" : "INFINITY", bind};
	const char *s = arena_printf(p->a, wide ? "%.17g" : "%.9g",
				     wide ? f : (double)(float)f);
	if (isinf((float)f) && !wide)
		return (expr_piece){f < 0 ? "-INFINITY" : "INFINITY", bind};
	return (expr_piece){arena_printf(p->a, "%s%s%s", s,
					 strpbrk(s, ".e") ? "" : ".0",
					 wide ? "" : "f"),
			    bind};
}

/* ---- to integers ------------------------------------------------------- */

/* A float value as an integer of type t. */
const char *print_to_int(printer *p, const char *x, dtype t)
{
	if (t == DT_U64)
		return arena_printf(p->a, "tdl_to_u64(%s)", x);
	return arena_printf(p->a, "(%s)tdl_to_int(%s, %s, %s)", types[t].value,
			    x, types[t].least, types[t].largest);
}

/* An integer of type t, which C computed in a wider type. */
expr_piece print_wrapped(printer *p, expr_piece x, dtype t)
{
	if (is_part_of_byte(t))
		return (expr_piece){arena_printf(p->a, "tdl_wrap_%s(%s)",
						 dtype_name(t), x.s),
				    BIND_ATOM};
	return (expr_piece){arena_printf(p->a, "(%s)%s", types[t].value,
					 wrap(p, x, BIND_UNARY)),
			    BIND_UNARY};
}

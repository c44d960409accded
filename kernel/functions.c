#include "config.h"

#include "kernel/functions.h"

#include <string.h>

#define CALL(text)	   { TEXT_CALL, text, BIND_ATOM }
#define BOUND(text, bind)  { TEXT_CALL, text, BIND_##bind }
#define TYPED(text)	   { TEXT_TYPED, text, BIND_ATOM }
#define INFIX(op, bind)	   { TEXT_INFIX, op, BIND_##bind }
#define PREFIX(op)	   { TEXT_PREFIX, op, BIND_UNARY }
#define SAME		   { TEXT_SAME, NULL, BIND_ATOM }
#define FLOATS(...)	   .f64 = __VA_ARGS__, .f32 = __VA_ARGS__
#define OPERATOR(op, bind) FLOATS(INFIX(op, bind)), .i = INFIX(op, bind)

/* Functions of C's library; with a version for f32 in tdl/functions.h; with
 * both versions in include/tdl. */
#define LIBRARY(name) .f64 = CALL(#name "($0)"), .f32 = CALL(#name "f($0)")
#define LIBRARY2(name)                      \
	.f64 = CALL(#name "($0, $1)"),      \
	.f32 = CALL(#name "f($0, $1)")
#define LIBRARY_F64(name)                   \
	.f64 = CALL(#name "($0)"),          \
	.f32 = CALL("tdl_" #name "_f32($0)")
#define OURS(name)                          \
	.f64 = CALL("tdl_" #name "_f64($0)"), \
	.f32 = CALL("tdl_" #name "_f32($0)")
#define OURS2(name)                             \
	.f64 = CALL("tdl_" #name "_f64($0, $1)"), \
	.f32 = CALL("tdl_" #name "_f32($0, $1)")
#define JAX(text)      .jax = text
#define JAX_INTS(text) .jax_i = text

const fn_facts fn_table[FN_COUNT] = {
#define FN(id, name, kind, least, most, rule, floats, ints, ...) \
	[FN_##id] = { name, least, most, FN_##rule, __VA_ARGS__ },
#include "kernel/functions.def"
#undef FN
};

int fn_parse(const char *name)
{
	for (int f = 0; f < FN_COUNT; f++)
		if (!strcmp(fn_table[f].name, name))
			return f;
	return -1;
}

/* The first of two texts that exists. */
static fn_text either(fn_text x, fn_text y)
{
	return x.form != TEXT_NONE ? x : y;
}

fn_text fn_text_of(fn f, dtype t)
{
	const fn_facts *r = &fn_table[f];
	if (t == DT_F64)
		return r->f64;
	if (dtype_is_float(t))
		return r->f32;
	if (t == DT_BOOL)
		return either(r->b, r->i);
	fn_text i = dtype_is_signed(t) ? r->i : either(r->u, r->i);
	return t == DT_U64 ? either(r->u64, i) : i;
}

bool fn_takes(fn f, dtype t)
{
	switch (fn_table[f].rule) {
	case FN_EQUALITY:
		return true;
	case FN_LOGIC:
		return t == DT_BOOL;
	case FN_INTEGER:
		return fn_table[f].of_indices ? t == DT_I64 : dtype_is_int(t);
	default:
		return t != DT_BOOL;
	}
}

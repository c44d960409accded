/* The facts of the scalar functions that a kernel may use: functions.def as a
 * table. */
#ifndef TDL_KERNEL_FUNCTIONS_H
#define TDL_KERNEL_FUNCTIONS_H

#include <stdbool.h>

#include "base/dtype.h"

typedef enum fn {
#define FN(id, ...) FN_##id,
#include "kernel/functions.def"
#undef FN
	FN_COUNT
} fn;

/* The types of the arguments and of the result; those from FN_TEST on give a
 * bool. */
typedef enum fn_rule {
	FN_FLOAT,
	FN_NUMBER,
	FN_INTEGER,
	FN_TEST,
	FN_ORDER,
	FN_EQUALITY,
	FN_LOGIC,
} fn_rule;

/* Whether the function selects the greatest or the least of its arguments. */
typedef enum fn_choice {
	FN_NO_CHOICE,
	FN_GREATEST,
	FN_LEAST,
} fn_choice;

/* The sign of a float result that is not NaN, from the signs of the arguments x
 * and y.  Underflow is ignored: exp(x) is never 0. */
typedef enum fn_sign {
	FN_SIGN_ANY,
	FN_SIGN_POSITIVE,
	FN_SIGN_NONNEGATIVE,
	FN_SIGN_MAGNITUDE, /* >= 0; 0 if x is */
	FN_SIGN_TURNED,	   /* that of -x */
	FN_SIGN_DIVISOR,   /* that of y, or 0 */
	FN_SIGN_SUM,
	FN_SIGN_DIFFERENCE,
	FN_SIGN_PRODUCT,
	FN_SIGN_QUOTIENT,
} fn_sign;

/* The direction of f(x, y), for all floats x and y that are not NaN.  Where f
 * is not defined everywhere, the result may be NaN.  For integers, whose
 * arithmetic wraps, only comparisons are monotone. */
typedef enum fn_monotone {
	FN_NOT_MONOTONE,
	FN_RISES, /* with each argument */
	FN_FALLS,
	FN_RISES_FALLS, /* it rises with x and falls with y */
	FN_FALLS_RISES,
	FN_SCALED,  /* rises with x where y >= 0, else falls; and the reverse */
	FN_DIVIDED, /* with x by the sign of y, which is not 0 */
} fn_monotone;

/* The arguments in which f(x, y) is linear. */
typedef enum fn_linear {
	FN_NOT_LINEAR,
	FN_LINEAR_SAME,	   /* x */
	FN_LINEAR_SUM,	   /* both together */
	FN_LINEAR_PRODUCT, /* each */
	FN_LINEAR_QUOTIENT, /* x, of floats */
} fn_linear;

/* Precedence in C of an expression's outermost operator. */
typedef enum c_binding {
	BIND_SELECT,
	BIND_OR,
	BIND_AND,
	BIND_BIT_OR,
	BIND_BIT_XOR,
	BIND_BIT_AND,
	BIND_EQUAL,
	BIND_LESS,
	BIND_ADD,
	BIND_MUL,
	BIND_UNARY,
	BIND_ATOM,
} c_binding;

typedef enum fn_text_form {
	TEXT_NONE,
	/* $0 and $1 in the text are the arguments, $b the number of bits of
	 * their type */
	TEXT_CALL,
	/* the same for integers; the value has the arguments' C type, whose
	 * name is $t */
	TEXT_TYPED,
	TEXT_INFIX,  /* an operator between the arguments */
	TEXT_PREFIX, /* an operator before the argument */
	TEXT_SAME,   /* the argument itself */
} fn_text_form;

/* A function in C and CUDA; include/tdl/ defines a common name where the two
 * differ. */
typedef struct fn_text {
	fn_text_form form;
	const char *c;
	c_binding bind;
} fn_text;

/* A row of functions.def. */
typedef struct fn_facts {
	const char *name;
	int nargs;
	/* arguments allowed in TDL, where f(x, y, z) is f(f(x, y), z) */
	int most;
	fn_rule rule;
	bool of_indices;
	int flops;
	fn_text f64, f32, i, u, u64, b;
	const char *jax, *jax_i; /* templates; NULL for none */
	bool exact, commutes;
	fn_choice choice;
	fn_sign sign;
	fn_monotone monotone;
	fn_linear linear;
	const char *by[2]; /* derivatives, TDL in x and y; NULL for none */
} fn_facts;

extern const fn_facts fn_table[FN_COUNT];

/* The name of a function; its number of arguments; the function of a name, -1
 * if there is none. */
static inline const char *fn_name(fn f)
{
	return fn_table[f].name;
}

static inline int fn_nargs(fn f)
{
	return fn_table[f].nargs;
}

int fn_parse(const char *name);

static inline int fn_flops(fn f)
{
	return fn_table[f].flops;
}

/* Whether a float function takes a series of operations, as exp does; + and
 * floor take one. */
static inline bool fn_is_transcendental(fn f)
{
	const fn_facts *x = &fn_table[f];
	return x->rule == FN_FLOAT && !x->exact && x->f64.form != TEXT_INFIX;
}

/* The text of a function for arguments of type t.  TEXT_NONE: convert the
 * arguments to f64, use the text for f64, and convert the result back. */
fn_text fn_text_of(fn f, dtype t);

static inline bool fn_is_comparison(fn f)
{
	return fn_table[f].rule == FN_ORDER || fn_table[f].rule == FN_EQUALITY;
}

static inline bool fn_gives_bool(fn f)
{
	return fn_table[f].rule >= FN_TEST;
}

/* Whether a function is defined on arguments of a type. */
bool fn_takes(fn f, dtype t);

#endif

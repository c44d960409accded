/* The facts of the reducers: reducers.def as a table. */
#ifndef TDL_KERNEL_REDUCERS_H
#define TDL_KERNEL_REDUCERS_H

#include "kernel/functions.h"

/* The reducers of kernels. */
typedef enum reducer {
	RED_NONE,
#define REDUCER(id, ...) RED_##id,
#define AVERAGE(...)
#include "kernel/reducers.def"
#undef AVERAGE
#undef REDUCER
	RED_COUNT
} reducer;

typedef enum reducer_rule {
	RED_OF_NUMBER,
	RED_OF_FLOAT,
	RED_OF_LOGIC,
	RED_OF_WHERE,
} reducer_rule;

/* The result of a reduction without terms.  For bool 1 is true; the least and
 * the greatest number are infinite in types with infinities. */
typedef enum reducer_neutral {
	NEUTRAL_ZERO,
	NEUTRAL_ONE,
	NEUTRAL_LEAST,
	NEUTRAL_GREATEST,
} reducer_neutral;

typedef enum reducer_gradient {
	RED_GRADIENT_CONSTANT,
	RED_GRADIENT_LINEAR,
	RED_GRADIENT_AVERAGE,
	RED_GRADIENT_PRODUCT,
	RED_GRADIENT_SHARED,
} reducer_gradient;

/* A row of reducers.def. */
typedef struct reducer_facts {
	const char *name;
	reducer kernel; /* the kernel reducer that it uses */
	/* the reduced value is divided by the number of terms */
	bool averages;
	reducer_rule rule;
	reducer_neutral neutral;
	fn combine;
	fn_choice choice;
	reducer_gradient gradient;
	/* NULL for averages, which kernels do not have */
	const char *c, *cuda, *jax;
} reducer_facts;

/* The facts of the kernel reducers, by number, then those of the averages.  The
 * row of RED_NONE has the name "" and no facts. */
extern const reducer_facts reducer_table[];

static inline const char *reducer_name(reducer r)
{
	return reducer_table[r].name;
}

/* The kernel reducer of a name; -1 if there is none. */
int reducer_parse(const char *name);

/* Whether elements of a type can be reduced by r. */
bool reducer_takes(reducer r, dtype t);

static inline bool reducer_is_logic(reducer r)
{
	return reducer_table[r].rule == RED_OF_LOGIC;
}

/* Whether it gives the position of a term.  Its partial results cannot be
 * combined. */
static inline bool reducer_is_where(reducer r)
{
	return reducer_table[r].rule == RED_OF_WHERE;
}

/* The reducer that selects the greatest or least of the terms; RED_NONE for
 * FN_NO_CHOICE. */
reducer reducer_of_choice(fn_choice c, bool logic);

/* The choice that a reducer makes among values; none if it gives a position. */
static inline fn_choice reducer_choice(reducer r)
{
	return reducer_is_where(r) ? FN_NO_CHOICE : reducer_table[r].choice;
}

#endif

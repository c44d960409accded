/* The facts of the reducers: reducers.def as a table. */
#ifndef TDL_KERNEL_REDUCERS_H
#define TDL_KERNEL_REDUCERS_H

#include "kernel/functions.h"

/* Those of kernels. */
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

/* The result without terms: of bool, 1 is true; the least and the greatest
 * number of the type are infinite where it has infinities. */
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
	reducer kernel; /* the reducer of a kernel that it is */
	bool averages;	/* which is divided by the number of terms */
	reducer_rule rule;
	reducer_neutral neutral;
	fn combine;
	fn_choice choice;
	reducer_gradient gradient;
	const char *c, *cuda, *jax; /* NULL for what kernels do not have */
} reducer_facts;

/* The facts of a kernel's reducer, and then those of the averages.  The row of
 * RED_NONE has the name "" and no facts. */
extern const reducer_facts reducer_table[];

static inline const char *reducer_name(reducer r)
{
	return reducer_table[r].name;
}

/* That of a kernel; -1 for none. */
int reducer_parse(const char *name);

/* Whether elements of a type can be reduced. */
bool reducer_takes(reducer r, dtype t);

static inline bool reducer_is_logic(reducer r)
{
	return reducer_table[r].rule == RED_OF_LOGIC;
}

/* Whether it gives the position of a term; partial results do not combine. */
static inline bool reducer_is_where(reducer r)
{
	return reducer_table[r].rule == RED_OF_WHERE;
}

/* The reducer that gives the greatest or least of terms; RED_NONE for
 * FN_NO_CHOICE. */
reducer reducer_of_choice(fn_choice c, bool logic);

/* The choice that a reducer makes of values: none where it gives a position. */
static inline fn_choice reducer_choice(reducer r)
{
	return reducer_is_where(r) ? FN_NO_CHOICE : reducer_table[r].choice;
}

#endif

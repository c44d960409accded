/* Partial values that pass an operator's stage, as text and as JSON. */
#ifndef TDL_LIBTDL_PASSING_H
#define TDL_LIBTDL_PASSING_H

#include "base/json.h"
#include "base/vec.h"
#include "kernel/kernel.h"

/* If exactly these inputs are partial by `by', the results are partial by
 * `to'. */
typedef struct said_passing {
	int n;
	const char **names;
	reducer by, to;
} said_passing;

/* Those of one input first; those of the same inputs are adjacent. */
typedef VEC(said_passing) said_passings;

/* "x (Sum, Max), b (Max as Min), {x, b} (Sum)"; "" for none. */
const char *passing_text(arena *a, const said_passings *all);

/* The keys "passes_partial", of one input, and "passes_jointly", of several. */
void passing_add_json(json_t *j, const said_passings *all);

#endif

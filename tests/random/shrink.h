/* Shrinking: a smaller operator that shows the same fault. */
#ifndef TDL_TESTS_RANDOM_SHRINK_H
#define TDL_TESTS_RANDOM_SHRINK_H

#include "tests/random/judge.h"

/* Whether an operator still shows the fault. */
typedef bool shows(const random_operator *o, const void *context);

/* Takes away the parts that do not matter to it: results, lets, parameters,
 * parts of expressions, elements.  Lives in arena a. */
random_operator shrink(arena *a, const random_operator *o, shows *test,
		       const void *context);

#endif

/* The checker: whether each definition of a module means something.  The front
 * end (dsl/dsl.h) calls it once per module; all later stages rely on it: an
 * operator that passed has every name bound to something that fits. */
#ifndef TDL_DSL_CHECK_H
#define TDL_DSL_CHECK_H

#include "dsl/dsl.h"

/* Checks the definitions of a module, all of which have been added to m. */
void check_module(tdl_modules *m, const ast_module *module);

#endif

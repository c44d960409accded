/* The checker: decides whether each definition of a module is valid.  The front
 * end (dsl/dsl.h) calls it once per module.  All later stages rely on it: every
 * name in an operator that passed is bound to something that fits. */
#ifndef TDL_DSL_CHECK_H
#define TDL_DSL_CHECK_H

#include "dsl/dsl.h"

/* Checks the definitions of a module, all of which have been added to m. */
void check_module(tdl_modules *m, const ast_module *module);

#endif

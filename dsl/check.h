/* The checker: whether a definition means something. */
#ifndef TDL_DSL_CHECK_H
#define TDL_DSL_CHECK_H

#include "dsl/dsl.h"

/* Checks the definitions of a module, which are in m already. */
void check_module(tdl_modules *m, const ast_module *module);

#endif

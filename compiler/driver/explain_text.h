/* The strategies of an operator for given shapes, as text. */
#ifndef TDL_COMPILER_DRIVER_EXPLAIN_TEXT_H
#define TDL_COMPILER_DRIVER_EXPLAIN_TEXT_H

#include "compiler/driver/driver.h"
#include "libtdl/explain.h"

/* The strategies for the shapes and attributes that are given. */
cli_status explain_concrete(driver *d, const explain_request *r);

#endif

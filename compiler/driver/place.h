/* The common parts of the files of `tdlc place'. */
#ifndef TDL_COMPILER_DRIVER_PLACE_H
#define TDL_COMPILER_DRIVER_PLACE_H

#include "compiler/driver/driver.h"
#include "libtdl/placement.h"
#include "libtdl/placement_text.h"

/* Writes a placement file; "-" is the standard output. */
cli_status place_write(driver *d, const cost_graph *g, const int *place,
		       int ndevices, const char *path);

/* place_read() of the only operand. */
bool place_read_operand(driver *d, const place_options *o, int n,
			char **operands, place_input *in,
			cli_status *status);

#endif

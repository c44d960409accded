/* The reports that `tdlc place', and `score' and `compare' of cost graphs,
 * share. */
#ifndef TDL_COMPILER_DRIVER_PLACE_H
#define TDL_COMPILER_DRIVER_PLACE_H

#include "base/units.h"
#include "compiler/driver/driver.h"
#include "libtdl/placement.h"

void place_report_text(arena *a, const place_input *in,
		       const place_options *o, const place_report *r,
		       const place_bounds *b);

/* Writes a placement file; "-" is the standard output. */
cli_status place_write(driver *d, const cost_graph *g, const int *place,
		       int ndevices, const char *path);

/* place_read() of the only operand. */
bool place_read_operand(driver *d, const place_options *o, int n,
			char **operands, place_input *in,
			cli_status *status);

/* Whether score or compare is called for placements, not for plans: a word is
 * --placement, or one ends in .json or .txt and none in .tdl or .onnx. */
bool place_is_meant(int argc, char **argv);
cli_status place_score(driver *d, int argc, char **argv);
cli_status place_compare(driver *d, int argc, char **argv);

/* A time for people, also as the cell of a table. */
static inline quantity place_ns(int64_t ns)
{
	return units_seconds((double)ns * 1e-9);
}

static inline quantity place_ns_right(int64_t ns, int width)
{
	return units_right(place_ns(ns), width);
}

#endif

/* Placements of whole operators, as text for people. */
#ifndef TDL_LIBTDL_PLACEMENT_TEXT_H
#define TDL_LIBTDL_PLACEMENT_TEXT_H

#include <stdio.h>

#include "base/units.h"
#include "libtdl/placement.h"

/* A placement with its makespan, if it has one: it has none if it uses
 * processor cores. */
void place_report_text(FILE *to, arena *a, const place_input *in,
		       const place_options *o, const place_report *r,
		       const place_bounds *b);
void place_loads_text(FILE *to, const place_input *in, const place_report *r);

/* The placements of several algorithms. */
void place_table_text(FILE *to, arena *a, const place_input *in,
		      const place_options *o, const place_reports *all,
		      const place_bounds *b);

/* A time for people; also as the cell of a table. */
static inline quantity place_ns(int64_t ns)
{
	return units_seconds((double)ns * 1e-9);
}

static inline quantity place_ns_right(int64_t ns, int width)
{
	return units_right(place_ns(ns), width);
}

#endif

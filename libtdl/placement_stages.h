/* Placements by `mcap': its inputs, and the output common to all schedules. */
#ifndef TDL_LIBTDL_PLACEMENT_STAGES_H
#define TDL_LIBTDL_PLACEMENT_STAGES_H

#include "compiler/placement/mcap.h"
#include "libtdl/placement_more.h"

typedef struct stage_input {
	const place_run *run;
	mcap_request r;
	place_objective objective; /* as in r */
} stage_input;

/* Interleaved schedules: several chunks of layers on each device. */
cli_status place_chunks(const stage_input *in, place_found *to);

/* An object with the members that precede the figures. */
json_t *stages_object(const stage_input *in);
/* Peak, bottleneck, step. */
void stages_set_figures(json_t *j, const split *s);
json_t *stages_frontier_list(const split_list *frontier);
void stages_frontier_text(FILE *to, arena *a, const split_list *frontier,
			  const char *longest);

#endif

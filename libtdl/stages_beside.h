/* A simulated step beside the measured one. */
#ifndef TDL_LIBTDL_STAGES_BESIDE_H
#define TDL_LIBTDL_STAGES_BESIDE_H

#include "libtdl/measured_trace.h"
#include "libtdl/stages_view.h"

/* Seconds of an instruction, or a bucket of them, in all turns of a step. */
typedef struct beside_row {
	const char *name, *kind;
	int stage, instruction, times; /* number of turns */
	double simulated, measured;
} beside_row;

typedef struct beside {
	const stages_view *view;
	double simulated, measured; /* the step */
	/* Rows that take time and were measured, by decreasing difference. */
	int nrows, nkinds;
	beside_row *rows;
	beside_row *kinds; /* sums by kind; times: instructions in all turns */
	int unmeasured;    /* rows without a measured time on any device */
} beside;

/* The comparison, in the view's arena.  For a kernel it uses the device that
 * takes longest; for a transfer the one that takes least, since that waits
 * least for the others. */
const beside *beside_of(const stages_view *v, const measured_trace *m);

void beside_text(FILE *to, const beside *b);
json_t *beside_json(const beside *b);

#endif

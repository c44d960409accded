/* A simulated step beside the same step as it was measured. */
#ifndef TDL_LIBTDL_STAGES_BESIDE_H
#define TDL_LIBTDL_STAGES_BESIDE_H

#include "libtdl/measured_trace.h"
#include "libtdl/stages_view.h"

/* An instruction, or a bucket of them, in all turns of a step: seconds. */
typedef struct beside_row {
	const char *name, *kind;
	int stage, instruction, times; /* turns */
	double simulated, measured;
} beside_row;

typedef struct beside {
	const stages_view *view;
	double simulated, measured; /* the step */
	/* Those that take time and were measured, by how far the two are
	 * apart. */
	int nrows, nkinds;
	beside_row *rows;
	beside_row *kinds; /* sums; times: instructions in turns */
	int unmeasured;    /* rows that no device has a time of */
} beside;

/* In the view's arena.  Of a kernel the device that takes longest counts; of
 * what is transferred the one that takes least, which waits least for the
 * others. */
const beside *beside_of(const stages_view *v, const measured_trace *m);

void beside_text(FILE *to, const beside *b);
json_t *beside_json(const beside *b);

#endif

/* Changes of a request, each of which alone would make a placement fit. */
#ifndef TDL_COMPILER_PLACEMENT_REMEDY_H
#define TDL_COMPILER_PLACEMENT_REMEDY_H

#include "base/vec.h"

typedef enum remedy_kind {
	REMEDY_DEVICES,	      /* `number' of them */
	REMEDY_RECOMPUTE,     /* allow activations to be recomputed */
	REMEDY_UNEVEN,	      /* let stages differ */
	REMEDY_MICRO_BATCHES, /* `number' of them; 0: any */
	REMEDY_MEMORY,	      /* `nbytes' per device */
} remedy_kind;

typedef struct remedy {
	remedy_kind kind;
	int number;
	double nbytes; /* then needed per device */
} remedy;

typedef VEC(remedy) remedies;

#endif

/* Changes of a request by which a placement would fit, each by itself. */
#ifndef TDL_COMPILER_PLACEMENT_REMEDY_H
#define TDL_COMPILER_PLACEMENT_REMEDY_H

#include "base/vec.h"

typedef enum remedy_kind {
	REMEDY_DEVICES,	      /* `number' of them */
	REMEDY_RECOMPUTE,     /* let activations be computed again */
	REMEDY_UNEVEN,	      /* let stages differ */
	REMEDY_MICRO_BATCHES, /* `number' of them; 0: any */
	REMEDY_MEMORY,	      /* `nbytes' of each device */
} remedy_kind;

typedef struct remedy {
	remedy_kind kind;
	int number;
	double nbytes; /* that a device then needs */
} remedy;

typedef VEC(remedy) remedies;

#endif

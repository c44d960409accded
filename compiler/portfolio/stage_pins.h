/* Pins of stages: the user's decisions about which operators are in which stage
 * of a pipeline, and about the stages' devices.
 *
 *	NAMES=stage S		these operators are in stage S
 *	NAMES=on D		.. in the stage that device D alone is
 *	stage S=devices N	stage S has N devices
 *	stage S=replicas R	.. in R replicas
 *	stage S=devices N,replicas R
 *
 * NAMES and files are as in pins.h.  They name layers of the forward pass
 * (stage_layers()); other operators follow these.  A layer that no pin names is
 * in the stage of the one before it. */
#ifndef TDL_COMPILER_PORTFOLIO_STAGE_PINS_H
#define TDL_COMPILER_PORTFOLIO_STAGE_PINS_H

#include "compiler/portfolio/pipeline_search.h"

typedef struct stage_pins {
	int nstages;	/* 0: no pin is about stages */
	int *stage;	/* by node, for layers */
	int *devices;	/* by stage; all are known */
	int *replicas;	/* by stage; 0: not given */
} stage_pins;

/* Whether a pin is about stages. */
bool stage_pins_are_given(arena *a, const pin_texts *o);

/* Reads the pins in how->pins about how->graph, which is in turns, for how->k
 * devices; in how->arena.  Returns false after adding errors, also if a pin is
 * about layouts. */
bool stage_pins_read(const plan_request *how, stage_pins *to);

/* Makes the plan that the pins describe; layouts, and what pins leave open, are
 * chosen among some candidates.  Otherwise as pipeline_search(). */
bool stage_pins_plan(const plan_request *how, const pipeline_aims *aims,
		     const stage_pins *pins, pipeline_result *best);

#endif

/* Pins of stages: decisions of the user about which operators lie in which
 * stage of a pipeline, and about the stages' devices.
 *
 *	NAMES=stage S		these operators lie in stage S
 *	NAMES=on D		.. in the stage that device D alone is
 *	stage S=devices N	stage S has so many devices
 *	stage S=replicas R	.. in so many replicas
 *	stage S=devices N,replicas R
 *
 * NAMES and files are as of pins.h.  They name layers of the forward pass
 * (stage_layers()); the rest goes with these.  A layer that no pin names lies
 * with the one before it. */
#ifndef TDL_COMPILER_PORTFOLIO_STAGE_PINS_H
#define TDL_COMPILER_PORTFOLIO_STAGE_PINS_H

#include "compiler/portfolio/pipeline_search.h"

typedef struct stage_pins {
	int nstages;	/* 0: no pin is about stages */
	int *stage;	/* by node: of layers */
	int *devices;	/* by stage: all are known */
	int *replicas;	/* by stage: 0 where no pin says */
} stage_pins;

/* Whether a pin is about stages. */
bool stage_pins_are_given(arena *a, const pin_texts *o);

/* Reads those of how->pins about how->graph, which is in turns, for how->k
 * devices; in how->arena.  False when errors were added: where a pin is about
 * layouts, too. */
bool stage_pins_read(const plan_request *how, stage_pins *to);

/* The plan that they make; layouts, and what they do not say, are chosen among
 * some.  As pipeline_search(). */
bool stage_pins_plan(const plan_request *how, const pipeline_aims *aims,
		     const stage_pins *pins, pipeline_result *best);

#endif

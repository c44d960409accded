/* The parts of a step whose batch is divided over time. */
#ifndef TDL_COMPILER_GRAPH_SECTION_H
#define TDL_COMPILER_GRAPH_SECTION_H

typedef enum section {
	SECTION_BEFORE, /* once, before the first turn */
	SECTION_BODY,	/* in each turn */
	SECTION_AFTER,	/* once, after the last turn */
} section;

#endif

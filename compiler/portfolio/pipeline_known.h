/* Stages that were planned: cuts of the same layers share many. */
#ifndef TDL_COMPILER_PORTFOLIO_PIPELINE_KNOWN_H
#define TDL_COMPILER_PORTFOLIO_PIPELINE_KNOWN_H

#include "base/hash.h"
#include "base/vec.h"
#include "compiler/lower/lower.h"
#include "compiler/portfolio/pipeline_ways.h"

typedef struct known_stage {
	const graph *graph;
	pipeline_way way;
	const search_result *search; /* NULL: not planned yet */
	lowering *lowering; /* NULL: not lowered yet */
	const plan *draft;  /* .. within the memory, and the rooms of that */
	lower_rooms rooms;
	const plan *least; /* .. without copies kept for others; NULL */
} known_stage;

/* The stages of one graph's divisions, planned for one machine and within one
 * memory.  All zero is empty. */
typedef struct known_stages {
	hash_table by_graph;
	VEC(known_stage *) all;
} known_stages;

/* The stage with a graph, made by stage_graph(), and a way; a new one, in a, if
 * it is not known.  A new one has the search of a stage that differs only in
 * names and elements, if there is one. */
known_stage *pipeline_known(arena *a, known_stages *k, const graph *g,
			    const pipeline_way *way);

#endif

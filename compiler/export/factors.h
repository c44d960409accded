/* Splits dimensions and variables into pieces, as finely as any index tells
 * digits of them apart.  Pieces that are the same digit form a class. */
#ifndef TDL_COMPILER_EXPORT_FACTORS_H
#define TDL_COMPILER_EXPORT_FACTORS_H

#include "compiler/export/index_maps.h"

enum { MAX_BREAKS = MAX_DIGITS };

/* A dimension of a value or a variable of a stage.  Its pieces begin at these
 * steps, each a multiple of the one before. */
typedef struct entity {
	int64_t extent;
	int n;
	int64_t at[MAX_BREAKS];
	int first; /* the number of its first piece */
} entity;

typedef struct pieces {
	arena *arena;
	const links *links;
	entity **dims;	    /* by value */
	entity **vars;	    /* by stage */
	/* by value: it is cut off from its stage's variable */
	bool **cut_off;
	/* by stage, input, dimension: the links, weakened where pieces do not
	 * fit each other */
	link_kind ***kinds;
	bool **positional;  /* by stage and variable */
	int n;
	int *parent;   /* by piece: union-find */
	bool *permute; /* by piece */
} pieces;

pieces *pieces_of(arena *a, const links *l);

/* A class has the number of one of its pieces. */
int piece_class(const pieces *p, int piece);
bool entity_has(const pieces *p, const entity *e, int class);
bool value_has(const pieces *p, int value, int class);

#endif

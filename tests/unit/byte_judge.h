/* The byte model by its definition, element by element. */
#ifndef TDL_TESTS_UNIT_BYTE_JUDGE_H
#define TDL_TESTS_UNIT_BYTE_JUDGE_H

#include "compiler/cost/assignment.h"

enum { MAX_WORKERS = 16, MAX_ELEMENTS = 4096 };

typedef struct set {
	bool has[MAX_ELEMENTS];
} set;

typedef struct judge {
	const graph *g;
	const assignment *as;
	int naxes, nworkers;
} judge;

int64_t size_of(const set *s);

/* The axes along which a node's partial results are combined: the result is
 * not stored partial there. */
uint32_t partial_axes(const judge *j, const node *n, const cuts *c);

/* The part of a partial result that a worker combines. */
void owned(const judge *j, const node *n, const cuts *c, uint32_t axes,
	   int worker, set *s);

/* The bytes of a node; COST_MAX where what is partial does not fit. */
int64_t judge_node(const judge *j, node_id id);

#endif

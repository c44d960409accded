/* Classes of equal layouts, so that facts are computed once for each.
 *
 * A network repeats its layers, and with them the values in the formulas of
 * layouts.  Layouts with equal values have one class.  Facts that take a loop
 * over all workers (numbers of bytes, transfers) are computed once per class,
 * or pair of classes. */
#ifndef TDL_LAYOUT_LAYOUT_CLASSES_H
#define TDL_LAYOUT_LAYOUT_CLASSES_H

#include "layout/transfer.h"

typedef struct layout_classes layout_classes;

/* Makes an empty set of classes, in a, for layouts on m.  The kernels of
 * layouts must outlive the classes. */
layout_classes *layout_classes_new(arena *a, const mesh *m);

/* The number of a layout's class. */
int layout_class_of(layout_classes *f, const layout *l);

/* The most bytes that any worker has in a layout of class x. */
int64_t layout_class_nbytes(const layout_classes *f, int x);

/* Whether the layouts of classes x and y have the same region on every worker;
 * whether the region of x contains that of y on every worker.  Both false if
 * one has zeros on some worker and the other has not. */
bool layout_class_same(layout_classes *f, int x, int y);
bool layout_class_cover(layout_classes *f, int x, int y);

/* The same for all n turns of a loop over time, where x and y are layouts in
 * one of them; and the most bytes of a class in any turn. */
bool layout_class_same_in_turns(layout_classes *f, int x, int y, int n);
bool layout_class_cover_in_turns(layout_classes *f, int x, int y, int n);
int64_t layout_class_nbytes_in_turns(layout_classes *f, int x, int n);

typedef enum layout_use {
	LAYOUT_RUN,	/* an operator produces x, which is stored as y */
	LAYOUT_MOVE,	/* a transfer from x to y */
	LAYOUT_COMBINE, /* one that combines partial results */
} layout_use;

/* A small number for what is done with two classes.  Equal numbers mean the
 * same work on every worker. */
int layout_class_pair(layout_classes *f, layout_use use, int x, int y);

/* For the pair of a transfer: the bytes that all workers receive together, and
 * its collective.  For a run: 0 and COLL_LOCAL. */
int64_t layout_pair_received(const layout_classes *f, int pair);
collective layout_pair_collective(const layout_classes *f, int pair);

#endif

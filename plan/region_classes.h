/* Regions, computed once for all buffers that have them.
 *
 * The region of a buffer is a formula on few values: the tensor's shape and
 * cuts, the kernel, the cuts of the node.  A network repeats its layers, and so
 * these values; buffers with equal values have one form.  Facts that take a
 * loop over all workers (numbers of bytes, transfers) are computed once per
 * form, or pair of forms.  Inside plan/ and for the compiler. */
#ifndef TDL_PLAN_REGION_CLASSES_H
#define TDL_PLAN_REGION_CLASSES_H

#include "plan/plan.h"

typedef struct region_classes region_classes;

/* In a.  Of a plan whose mesh, tensors, kernels and nodes stay as they are; its
 * buffers need not be there yet.  The forms are also those of other plans that
 * have these, and other programs. */
region_classes *region_classes_new(arena *a, const plan *p);

/* The number of a buffer's form. */
int region_class_of(region_classes *f, const plan_buffer *b);

/* The most bytes that any worker has in a buffer of form x. */
int64_t region_class_nbytes(region_classes *f, int x);

/* Whether buffers of forms x and y hold the same region on every worker;
 * whether the region of x covers that of y on every worker. */
bool region_class_same(region_classes *f, int x, int y);
bool region_class_cover(region_classes *f, int x, int y);

/* Bytes that all workers receive in a MOVE or COMBINE between two buffers of
 * plan p, and the collective that it is. */
int64_t region_class_received(region_classes *f, const plan *p,
			      const plan_instr *in);
collective region_class_collective(region_classes *f, const plan *p,
				   const plan_instr *in);

/* A small number that identifies the work of an instruction of plan p: two
 * instructions with the same number do the same on every worker, at other
 * addresses. */
int region_class_instr(region_classes *f, const plan *p, const plan_instr *in);

#endif

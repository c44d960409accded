/* Regions, computed once for all buffers that have them.
 *
 * What a buffer holds follows from a formula on few things: the tensor's shape
 * and cuts, the kernel, the cuts of the node.  A network has the same layer
 * many times, and so the same few of these; those that read the same are one
 * form.  What takes all workers to find out (how many bytes, what moves) is
 * found out once per form, or pair of forms.  Inside plan/ and for the
 * compiler. */
#ifndef TDL_PLAN_FORMS_H
#define TDL_PLAN_FORMS_H

#include "plan/plan.h"

typedef struct forms forms;

/* In a.  Of a plan whose mesh, tensors, kernels and nodes stay as they are; its
 * buffers need not be there yet. */
forms *forms_new(arena *a, const plan *p);

/* The number of a buffer's form. */
int forms_of(forms *f, const plan_buffer *b);

/* The most bytes that any worker has in a buffer of form x. */
int64_t forms_nbytes(forms *f, int x);

/* Whether buffers of forms x and y hold the same region on every worker;
 * whether what x holds covers y on every worker. */
bool forms_same(forms *f, int x, int y);
bool forms_cover(forms *f, int x, int y);

/* Bytes that all workers receive in a MOVE or COMBINE between two buffers of
 * the plan, and the collective that it is. */
int64_t forms_received(forms *f, const plan_instr *in);
collective forms_collective(forms *f, const plan_instr *in);

/* A small number for what an instruction does: two that have the same do the
 * same on every worker, though in other places. */
int forms_instr(forms *f, const plan_instr *in);

#endif

/* Layouts in words, in the terms of DTensor and GSPMD. */
#ifndef TDL_LAYOUT_LAYOUT_TEXT_H
#define TDL_LAYOUT_LAYOUT_TEXT_H

#include "base/arena.h"
#include "layout/mesh.h"

/* The layout of a tensor along an axis of the mesh, given as an element of its
 * cuts: "cut 0", "replicated", "partial(Sum)".  In a. */
const char *layout_axis_text(arena *a, int dim);

/* The same for a kernel: the variable divided, or "partial(Sum)" where it
 * passes partial inputs on; NULL where all workers compute the same. */
const char *layout_division_text(arena *a, const kernel *k, int dim);

#endif

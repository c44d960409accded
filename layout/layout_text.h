/* Layouts in words, those of DTensor and GSPMD. */
#ifndef TDL_LAYOUT_LAYOUT_TEXT_H
#define TDL_LAYOUT_LAYOUT_TEXT_H

#include "base/arena.h"
#include "layout/mesh.h"

/* The layout of a tensor along an axis of the mesh, an element of its cuts, in
 * a: "cut 0", "replicated", "partial(Sum)". */
const char *layout_axis_text(arena *a, int dim);

/* The same of a kernel: the variable that it divides, or "partial(Sum)" where
 * it hands partial inputs on; NULL where all compute the same. */
const char *layout_division_text(arena *a, const kernel *k, int dim);

#endif

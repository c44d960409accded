/* Layouts of plans as specs of JAX: for each dimension the axes of the mesh
 * that divide it.  A spec cannot express partial tensors; their axes are left
 * out. */
#ifndef TDL_COMPILER_EXPORT_JAX_LAYOUT_H
#define TDL_COMPILER_EXPORT_JAX_LAYOUT_H

#include "plan/plan.h"

/* For each axis of a mesh the dimension that it divides, -1 for none. */
typedef struct jax_spec {
	bool partial; /* along some axis */
	int ndim;
	signed char dim[MAX_AXES];
} jax_spec;

/* The layout of a tensor as stored; as a node reads it, through all of its
 * inputs that are this tensor. */
jax_spec jax_stored(const plan *p, int tensor);
jax_spec jax_needed(const plan *p, const plan_node *n, int tensor);

/* The layout of a node's result as computed, with the shares in which partial
 * values are combined: along an axis that divides a reduction, the result is
 * cut as it is stored. */
jax_spec jax_combined(const plan *p, const plan_node *n);

bool jax_same(const plan *p, const jax_spec *x, const jax_spec *y);

/* "None, ("a0", "a1")"; "" without dimensions. */
const char *jax_spec_text(arena *a, const plan *p, const jax_spec *x);

#endif

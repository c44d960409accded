/* An operator before its shapes are known: the stages that compiler/expand will
 * make of it, with polynomials in place of numbers.
 *
 * A pack is represented by one dimension for each part that the operator
 * distinguishes: one for ..d, or two, ..(d \ axes) and ..(d & axes), if the
 * operator singles out a set of axes.  A fact about such a dimension holds for
 * every dimension it stands for.  Sizes are assumed to be at least 1;
 * compiler/expand deals with empty tensors.  A stage whose structure depends on
 * attributes or shapes (a reshape) is marked as open. */
#ifndef TDL_COMPILER_ANALYSIS_SYMBOLIC_H
#define TDL_COMPILER_ANALYSIS_SYMBOLIC_H

#include "compiler/analysis/poly.h"
#include "dsl/dsl.h"
#include "kernel/abstract.h"

typedef struct sym_dim {
	const poly *extent; /* for a pack: an atom named by its text */
	bool pack;	    /* stands for any number of dimensions */
	const char *text;   /* "B", "X - DX + 1", "..(d \ axes)" */
	range at;	    /* where it is declared */
} sym_dim;

bool sym_same_dim(const sym_dim *x, const sym_dim *y);

typedef struct sym_tensor {
	const char *name;
	type_set types; /* possible types of its elements */
	int ndims;
	sym_dim *dims;
	bool broadcast; /* a dimension of a pack may be absent or 1 */
	/* Set if its two dimensions are ..(d \ axes) and ..(d & axes): the
	 * axes, and the operator in whose text they stand. */
	const ast_expr *parts;
	const void *parts_in;
	int stage;	/* that computes it; -1 for a parameter */
	range at;
} sym_tensor;

typedef struct sym_var {
	const char *name;
	kvar_kind kind;
	int atom; /* in the operator's space */
	sym_dim extent;
	/* A sentence that says where the extent comes from, and its place. */
	const char *declared;
	range at;
	const char *indivisible_reason; /* as in kernel/kernel.h */
} sym_var;

/* A conjunction of facts.  Conditions are alternatives: one of paths[0..npaths)
 * holds. */
typedef struct sym_path {
	int n;
	const poly **facts; /* each >= 0 */
} sym_path;

/* An integer "if .. then x else y" as an atom: it is x if one of xs holds, and
 * y if one of ys does. */
typedef struct sym_choice {
	int atom;
	const poly *x, *y;
	int nxs, nys;
	const sym_path *xs, *ys;
} sym_choice;

typedef struct sym_index {
	const poly *at; /* NULL: data-dependent, or all of the dimension */
	/* If the index makes a choice, at is NULL and this is the index, with
	 * atoms for choices. */
	const poly *cases;
	bool all;	/* the ':' of an opaque function's slice */
	bool data;	/* depends on the elements of a tensor */
	bool pack;	/* the dimensions of a pack, at its own variables */
	range place;
} sym_index;

typedef struct sym_read {
	int tensor;
	range at;
	int n;
	sym_index *index;
	bool guarded;
	bool inlined; /* written in an operator that this one calls */
	bool open;    /* the dimensions of its indices depend on shapes */
	bool open_data; /* and an index depends on the elements of a tensor */
	/* some conditions were omitted: too many, or known only to a call */
	bool vague;
	int npaths;
	sym_path *paths;
} sym_read;

/* A dimension in which a stage's reads of a tensor at data-dependent indices
 * equal a sum over the whole dimension (see kderived in kernel/kernel.h). */
typedef struct sym_lookup {
	int tensor, dim;
} sym_lookup;

enum { SYM_MAX_TOGETHER = 6 };

/* Partial values that pass through the stage (see kernel/monotone.h): if all
 * these tensors are partial by `by', the results are partial by `to'. */
typedef struct sym_passing {
	int n, tensors[SYM_MAX_TOGETHER];
	reducer by, to;
} sym_passing;

typedef struct sym_stage {
	const char *label; /* as in compiler/expand/expand.h */
	int result;	   /* a tensor; its dimensions are vars[0..nout) */
	int nout, nvars;
	sym_var *vars; /* output, reduction, derived */
	reducer reducer;
	int nreads;
	sym_read **reads;
	const char *opaque; /* the opaque function, or NULL */
	const char *open_because; /* NULL if all is known */
	bool conditional;   /* some read stands under a condition */
	/* Facts: the tensors in which the result is linear; operations per
	 * point of the iteration space. */
	int nlinear;
	int *linear;
	int nlookups;
	sym_lookup *lookups;
	int npassing;
	sym_passing *passing;
	int64_t flops;
	/* the body is a product of this many reads; -1: it is no product */
	int nfactors;
} sym_stage;

/* An index that would run over two different extents. */
typedef struct sym_conflict {
	const char *name;
	const char *extent, *other;
	range at, other_at;
} sym_conflict;

typedef struct sym_op {
	const ast_op *op;
	poly_space *space;
	int nparams, ntensors;
	sym_tensor *tensors; /* parameters first */
	int nstages;
	sym_stage **stages;
	int nresults;
	int *results; /* tensors */
	int nconflicts;
	sym_conflict *conflicts;
	int nchoices;
	sym_choice *choices;
	/* why the stages are not known at all; NULL */
	const char *open_because;
} sym_op;

/* The symbolic form of an operator without errors, in a.  For effort see
 * poly_space. */
sym_op *symbolic_op(arena *a, const tdl_modules *m, const ast_op *op,
		    int64_t *effort);

/* ---- intervals (symbolic_interval.c) ------------------------------------ */

/* lo <= x <= hi; NULL for an unknown bound. */
typedef struct sym_interval {
	const poly *lo, *hi;
} sym_interval;

/* The range of an atom in a query for the interval of an expression. */
typedef struct sym_range {
	int atom;
	sym_interval in;
} sym_range;

/* The interval of x if the atoms in ranges[0..n) run over their ranges and all
 * else is fixed.  The bounds of ranges do not depend on each other.  If the
 * sign of an attribute matters, it is assumed to be >= 0 and marked in assumed
 * (by atom); if assumed is NULL, the bound is unknown instead. */
sym_interval symbolic_interval(poly_space *s, const poly *x,
			       const sym_range *ranges, int n, bool *assumed);

#endif

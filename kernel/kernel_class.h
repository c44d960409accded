/* Kernels by what decides how fast a device computes them: the classes of which
 * a machine's measured curves are (docs/machines.md), found by structure.
 * Shared by what measures a machine and by what predicts times for it. */
#ifndef TDL_KERNEL_KERNEL_CLASS_H
#define TDL_KERNEL_KERNEL_CLASS_H

#include "kernel/region.h"

typedef enum kernel_class {
	KERNEL_ELEMENTWISE, /* no reduction, arithmetic alone */
	KERNEL_TURNED,	    /* the same, reading across its last dimension */
	KERNEL_FUNCTION,    /* with functions that are no arithmetic: exp .. */
	KERNEL_LONG,	    /* .. of tens of operations: random numbers */
	KERNEL_BRANCH,	    /* .. that an index decides whether to call: one
			       element after the other */
	KERNEL_INNER,	    /* reduces along the last dimension of a read */
	KERNEL_OUTER,	    /* reduces along others alone */
	KERNEL_CHOICE,	    /* the same as KERNEL_INNER, to one of the terms: a
			       maximum */
	KERNEL_POOL,	    /* .. of windows of the last dimension: pooling and
			       its gradients */
	KERNEL_PRODUCT,	    /* a sum of products of reads, one of which moves
			       along the result where the other does not */
	KERNEL_WINDOW,	    /* the same over windows: a convolution */
	KERNEL_TURNED_PRODUCT, /* a product whose factor that does not run
				  along the result's last dimension lies across
				  what is summed over: packing it reads far
				  apart */
	KERNEL_TURNED_WINDOW,  /* the same of a convolution: the gradient of its
				  input */
	KERNEL_GATHER,	    /* reads, or adds up, at indices that are data */
	KERNEL_OPAQUE,	    /* unknown code */
	KERNEL_CLASSES,
} kernel_class;

/* The extents of a product of matrices. */
typedef enum kernel_side {
	SIDE_ROWS,    /* of variables that move the first read and the result */
	SIDE_COLUMNS, /* .. the second read and the result */
	SIDE_DEPTH,   /* .. that are summed over */
	KERNEL_SIDES,
} kernel_side;

/* The name of a class in files; the class of a name, KERNEL_CLASSES for none.
 * The same of sides. */
const char *kernel_class_name(kernel_class c);
kernel_class kernel_class_parse(const char *name);

/* Whether it has sides. */
bool kernel_class_has_sides(kernel_class c);

const char *kernel_side_name(kernel_side s);
kernel_side kernel_side_parse(const char *name);

typedef struct kernel_form {
	kernel_class class;
	dtype type; /* that it computes in: the result's, or, of tests of other
		       numbers, theirs */
	double work; /* per point of its loops, at least 1: functions, of
			reductions terms, else operations; less of products of
			which most terms are 0 by divisibility, and of functions
			that an index decides on */
	uint32_t side[KERNEL_SIDES]; /* variables, a bit each; products */
	uint32_t bound; /* variables that indices are compared with: no work */
	uint64_t structure; /* kernel_structure_hash() */
} kernel_form;

kernel_form kernel_form_of(const kernel *k);

/* The work of a part of a kernel's iteration space.  A product is `count`
 * products of matrices of these extents, each of `work' operations; all else is
 * one of all of its work. */
typedef struct kernel_load {
	double work, count;
	double extent[KERNEL_SIDES];
} kernel_load;

kernel_load kernel_load_of(const kernel *k, const kernel_form *f,
			   const box *part);

/* The arithmetic of a kernel on a part of its iteration space, and the bytes
 * that it reads and writes. */
typedef struct kernel_work {
	double flops, bytes;
} kernel_work;

kernel_work kernel_work_of(const kernel *k, const box *part);

/* The side that is the least of a product. */
kernel_side kernel_least_side(const kernel_load *l);

#endif

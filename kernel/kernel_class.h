/* Classes of kernels by the structure that decides how fast a device computes
 * them.  A machine has a measured curve per class (docs/machines.md).  Used to
 * measure machines and to predict times for them. */
#ifndef TDL_KERNEL_KERNEL_CLASS_H
#define TDL_KERNEL_KERNEL_CLASS_H

#include "kernel/region.h"

typedef enum kernel_class {
	KERNEL_ELEMENTWISE, /* no reduction, arithmetic alone */
	KERNEL_TURNED,	    /* the same, but reads across its last dimension */
	KERNEL_FUNCTION,    /* with transcendental functions: exp .. */
	KERNEL_LONG,	    /* .. of tens of operations: random numbers */
	/* .. that an index decides whether to call: one element at a time */
	KERNEL_BRANCH,
	KERNEL_INNER,	    /* reduces along the last dimension of a read */
	KERNEL_OUTER,	    /* reduces along other dimensions only */
	/* as KERNEL_INNER, but selects one of the terms: a maximum */
	KERNEL_CHOICE,
	KERNEL_POOL,	    /* .. of windows of the last dimension: pooling and
			       its gradients */
	KERNEL_PRODUCT,	    /* a sum of products of reads, one of which moves
			       along the result where the other does not */
	KERNEL_WINDOW,	    /* the same over windows: a convolution */
	/* a product where the factor that does not run along the result's last
	 * dimension is strided along the summed variables, so that packing it
	 * reads far apart */
	KERNEL_TURNED_PRODUCT,
	/* the same for a convolution: the gradient of its input */
	KERNEL_TURNED_WINDOW,
	KERNEL_GATHER,	    /* reads, or adds up, at data-dependent indices */
	KERNEL_OPAQUE,	    /* unknown code */
	KERNEL_CLASSES,
} kernel_class;

/* The extents of a product of matrices. */
typedef enum kernel_side {
	/* of variables that index the first read and the result */
	SIDE_ROWS,
	SIDE_COLUMNS, /* .. the second read and the result */
	SIDE_DEPTH,   /* .. that are summed over */
	KERNEL_SIDES,
} kernel_side;

/* The name of a class in files; the class with a name, KERNEL_CLASSES if there
 * is none.  Below, the same for sides. */
const char *kernel_class_name(kernel_class c);
kernel_class kernel_class_parse(const char *name);

/* Whether it has sides. */
bool kernel_class_has_sides(kernel_class c);

const char *kernel_side_name(kernel_side s);
kernel_side kernel_side_parse(const char *name);

typedef struct kernel_form {
	kernel_class class;
	/* in which it computes: the result's, or, for tests of other numbers,
	 * theirs */
	dtype type;
	/* Per point of its loops, at least 1: functions; terms of reductions;
	 * else operations.  Less for products most of whose terms are 0 by
	 * divisibility, and for functions that an index decides on. */
	double work;
	uint32_t side[KERNEL_SIDES]; /* variables, a bit each; products */
	/* variables that indices are compared with: they cost no work */
	uint32_t bound;
	uint64_t structure; /* kernel_structure_hash() */
} kernel_form;

kernel_form kernel_form_of(const kernel *k);

/* The work of a part of a kernel's iteration space.  A product is `count'
 * products of matrices with these extents and `work' operations each.  Other
 * kernels have a count of 1 and all of their work in `work'. */
typedef struct kernel_load {
	double work, count;
	double extent[KERNEL_SIDES];
} kernel_load;

kernel_load kernel_load_of(const kernel *k, const kernel_form *f,
			   const box *part);

/* Arithmetic operations of a kernel on a part of its iteration space, and bytes
 * that it reads and writes. */
typedef struct kernel_work {
	double flops, bytes;
} kernel_work;

kernel_work kernel_work_of(const kernel *k, const box *part);

/* The side of a product with the smallest extent. */
kernel_side kernel_least_side(const kernel_load *l);

#endif

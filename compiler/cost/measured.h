/* Times measured on a machine (docs/machines.md): of kernels by class, type and
 * size, of memory, and of collectives, as curves over size.  Size is the number
 * of operations of a kernel, or the bytes of a copy or message. */
#ifndef TDL_COMPILER_COST_MEASURED_H
#define TDL_COMPILER_COST_MEASURED_H

#include "base/curve.h"
#include "kernel/kernel_class.h"
#include "layout/collective.h"

/* Measurements of one class of kernels.  If `least' is not 0, they are products
 * whose `side' has this extent while the other two are longer. */
typedef struct measured_kernels {
	kernel_class class;
	dtype type;
	kernel_side side;
	int64_t least;
	curve curve;
} measured_kernels;

typedef struct measured_list {
	int n;
	const measured_kernels *at;
} measured_list;

/* A device while `devices' of the machine are at work; devices may share
 * processors and memory bandwidth. */
typedef struct measured_device {
	int devices;
	curve memory; /* by bytes read and written */
	/* By class and type; those of a side are adjacent, by their `least'. */
	measured_list kernels[KERNEL_CLASSES][DT_COUNT];
} measured_device;

/* Seconds of a kernel's arithmetic; 0 if nothing like it was measured.  A type
 * that was not measured uses one of as many bytes, or f32. */
double measured_kernel_seconds(const measured_device *d, const kernel_form *f,
			       const kernel_load *l);

/* Messages of one collective, by the bytes that a device receives. */
typedef struct measured_transfer {
	collective collective;
	int devices; /* taking part */
	curve curve;
} measured_transfer;

#endif

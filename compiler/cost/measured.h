/* Times that were measured on a machine: of kernels by class, type and size, of
 * memory and of collectives (docs/machines.md), as curves by size: operations
 * of a kernel, bytes of a copy or a message. */
#ifndef TDL_COMPILER_COST_MEASURED_H
#define TDL_COMPILER_COST_MEASURED_H

#include "base/curve.h"
#include "kernel/kernel_class.h"
#include "layout/collective.h"

/* Kernels of one class.  Where `least' is not 0 they are products, of which
 * `side' has this extent, and the other two are longer. */
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

/* A device, while so many of the machine's are at work: they may share its
 * processors and its memory's bandwidth. */
typedef struct measured_device {
	int devices;
	curve memory; /* by bytes that are read and written */
	/* By class and type, those of a side together, by their `least'. */
	measured_list kernels[KERNEL_CLASSES][DT_COUNT];
} measured_device;

/* Seconds of the arithmetic of a kernel; 0 where nothing like it was
 * measured.  A type that was not runs as one of as many bytes, or as f32. */
double measured_kernel_seconds(const measured_device *d, const kernel_form *f,
			       const kernel_load *l);

/* Messages of one collective, by the bytes that a device receives. */
typedef struct measured_transfer {
	collective collective;
	int devices; /* that took part */
	curve curve;
} measured_transfer;

#endif

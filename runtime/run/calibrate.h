/* tdlrun --calibrate: measures the machine that it runs on, by plans that tdlc
 * made when it was built, and writes it as a topology (docs/machines.md). */
#ifndef TDL_RUNTIME_RUN_CALIBRATE_H
#define TDL_RUNTIME_RUN_CALIBRATE_H

#include "kernel/kernel_class.h"
#include "runtime/run/session.h"

/* An instruction that was measured: its seconds, and how far the median of all
 * measurements is above the least, relative to that. */
typedef struct calibrated {
	bool moves;
	/* A kernel. */
	kernel_form form;
	kernel_load load;
	kernel_work work;
	/* A transfer: of the worker with the most. */
	collective collective;
	double received, written; /* bytes */
	double seconds, spread;
} calibrated;

typedef VEC(calibrated) calibration;

/* An instruction of a plan without loop on a worker, not measured yet: a
 * transfer or a kernel that is run. */
calibrated calibrated_of(const plan *p, const plan_instr *in, int worker);

/* The bytes that a worker receives from others in a transfer. */
double calibrated_received(const plan *p, const plan_instr *in, int worker);

typedef struct fitted_point {
	double size, seconds, spread;
} fitted_point;

typedef VEC(fitted_point) fitted_curve;

/* Kernels of one class, type and, of products with a short side, side. */
typedef struct fitted_kernels {
	kernel_class class;
	dtype type;
	kernel_side side;
	int64_t least; /* 0: no side is short */
	fitted_curve curve;
} fitted_kernels;

/* A device while `devices' of them are at work. */
typedef struct fitted_device {
	int devices;
	fitted_curve memory;
	VEC(fitted_kernels) kernels;
} fitted_device;

fitted_device fit_device(arena *a, const calibration *all, int devices);

/* By collective: seconds beyond those of the copy of what is written. */
typedef struct fitted_links {
	int devices;
	fitted_curve curves[COLL_COUNT];
} fitted_links;

fitted_links fit_links(arena *a, const calibration *all,
		       const fitted_device *copies, int devices);

/* The topology, as JSON. */
typedef struct fitted_machine {
	const char *name, *device, *level, *maker;
	int processors;
	int64_t memory; /* bytes of a device */
	int ndevices;
	const fitted_device *devices; /* by their number at work */
	const fitted_links *links; /* NULL: there was one device */
} fitted_machine;

json_t *fitted_json(const fitted_machine *m);

bool calibrate_command(session *s, cli_status *status);

#endif

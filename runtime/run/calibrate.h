/* tdlrun --calibrate: measures the machine on which it runs, with plans that
 * tdlc made when it was built, and writes a topology (docs/machines.md). */
#ifndef TDL_RUNTIME_RUN_CALIBRATE_H
#define TDL_RUNTIME_RUN_CALIBRATE_H

#include "runtime/exec/calibrated.h"
#include "runtime/run/session.h"

typedef VEC(calibrated) calibration;

typedef struct fitted_point {
	double size, seconds, spread;
} fitted_point;

typedef VEC(fitted_point) fitted_curve;

/* Kernels of one class, type and, for products with a short side, side. */
typedef struct fitted_kernels {
	kernel_class class;
	dtype type;
	kernel_side side;
	int64_t least; /* the short side's extent; 0: no side is short */
	fitted_curve curve;
} fitted_kernels;

/* A device while `devices' of them are at work. */
typedef struct fitted_device {
	int devices;
	fitted_curve memory;
	VEC(fitted_kernels) kernels;
} fitted_device;

fitted_device fit_device(arena *a, const calibration *all, int devices);

/* By collective: seconds in excess of copying what is written. */
typedef struct fitted_links {
	int devices;
	fitted_curve curves[COLL_COUNT];
} fitted_links;

/* A level of the machine: the links between its parts. */
typedef struct fitted_level {
	const char *name;
	int size; /* 0: unlimited */
	bool measured;
	fitted_links links;
	/* bytes/s that the devices of a part receive together; 0: not measured,
	 * because a part is a single device */
	double shared;
} fitted_level;

/* The greatest bytes/s that a device received. */
double fitted_bandwidth(const fitted_links *l);

fitted_links fit_links(arena *a, const calibration *all,
		       const fitted_device *copies, int devices);

/* The topology, as JSON. */
typedef struct fitted_machine {
	const char *name, *device, *maker;
	int processors;
	int64_t memory; /* bytes per device */
	int ndevices;
	const fitted_device *devices; /* by number at work */
	int nlevels;
	const fitted_level *levels; /* the outermost first */
} fitted_machine;

json_t *fitted_json(const fitted_machine *m);

bool calibrate_command(session *s, cli_status *status);

#endif

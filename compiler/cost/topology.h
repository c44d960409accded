/* The machine that a plan is for: its devices, and the links between them in
 * levels, the outermost and slowest first.
 *
 * Times are predictions.  A kernel takes as long as its arithmetic or its
 * bytes, whichever takes longer (the roofline model).  A transfer takes a
 * latency for each message that follows another, plus its bytes over the
 * level's bandwidth (the alpha-beta model; Thakur, Rabenseifner, Gropp 2005).
 * For a machine that was measured, its curves are used instead (measured.h). */
#ifndef TDL_COMPILER_COST_TOPOLOGY_H
#define TDL_COMPILER_COST_TOPOLOGY_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/dtype.h"
#include "compiler/cost/measured.h"
#include "layout/mesh.h"

typedef struct topology_level {
	const char *name;
	/* number of parts, of the next level or devices, that it connects; 0:
	 * unlimited */
	int size;
	double latency;	  /* seconds until a message's first byte is there */
	double bandwidth; /* bytes/s that one device receives */
	/* Bytes/s that the devices of one of its parts receive together, and
	 * send; 0: not limited.  And how many of these devices are at work, all
	 * alike; 0: one. */
	double shared;
	int sharers;
	/* By collective, as measured; NULL: not measured. */
	const measured_transfer *measured[COLL_COUNT];
} topology_level;

/* Consecutive devices that are alike. */
typedef struct topology_devices {
	int count;
	double speed;	/* relative to topology.device */
	int64_t memory; /* bytes of each; 0: not known */
} topology_devices;

enum { TOPOLOGY_MAX_KINDS = 64 };

typedef struct profiled profiled;

typedef struct topology {
	const char *name, *device;
	const char *path; /* of its file; NULL for a preset */
	int64_t memory;	  /* bytes of a device; 0: not known */
	double bandwidth; /* bytes/s between its memory and its cores */
	double launch;	  /* seconds that the shortest kernel takes */
	double flops[DT_COUNT]; /* FLOP/s on elements of each type */
	bool overlap;		/* it communicates while it computes */
	int nlevels;
	topology_level levels[MAX_AXES];
	/* If devices differ: their kinds, in the order of device numbers.
	 * None: all are as above. */
	int nkinds;
	const topology_devices *kinds;
	/* If it was measured: measurements by ascending number of devices at
	 * work; the one for the plan's number of devices, NULL: none; and the
	 * factor by which everything is slower than in it because devices share
	 * processors. */
	int nmeasured, processors; /* 0: not known */
	const measured_device *measured, *now;
	double crowded; /* 0: 1 */
	/* Profiles of runs on it (profiled.h), NULL: none; and the number of
	 * devices at work to which the times apply. */
	const profiled *profiled;
	int at_work;
} topology;

/* The source of a predicted time: it was measured; something similar was; or it
 * comes from the machine's curves or figures alone. */
typedef enum time_source {
	TIME_MODELLED,
	TIME_INTERPOLATED,
	TIME_MEASURED,
	TIME_SOURCES
} time_source;

/* The i-th preset, a machine that tdlc knows by name; NULL after the last.  The
 * figures are from data sheets, not measured.  The first is the default. */
const topology *topology_preset(int i);

/* A preset by its name, or a machine from a file (docs/topology.md), in a.
 * Returns NULL after adding an error. */
const topology *topology_read(arena *a, diag_sink *s, const char *name);

/* The machine with k devices at work, in a; t itself if nothing was measured,
 * there are no profiles, and devices share nothing. */
const topology *topology_of(arena *a, const topology *t, int k);

/* Sets, for k devices at work, the number of devices that share in each level's
 * parts. */
void topology_share(topology *t, int k);

/* Bytes/s that one device receives while all are receiving. */
double topology_level_bandwidth(const topology_level *l);

/* The number of devices in each part that a level connects, at most
 * MESH_MAX_WORKERS. */
int topology_part(const topology *t, int level);

/* The possible numbers of devices in words: "up to 8, or 16, ..". */
const char *topology_sizes(arena *a, const topology *t);

/* The mesh of k devices, which fill the levels from the innermost on.  Its axes
 * are the prime factors of the number of parts that each level connects, the
 * largest first, so that each axis lies within one level.  Returns false if the
 * machine has fewer than k devices, or they fill a level partly and need
 * another. */
bool topology_mesh(const topology *t, int k, mesh *m);

/* The level of each axis of a mesh; the outermost one for an axis that crosses
 * levels, as in a mesh made in another way. */
void topology_levels(const topology *t, const mesh *m, int *levels);

/* A transfer: the number of workers that take part in it along each level, and
 * the bytes that one of them receives over each. */
typedef struct topology_move {
	int peers[MAX_AXES]; /* by level; 1 if nothing crosses it */
	/* By level: received from workers to whom this is the outermost level
	 * between. */
	double bytes[MAX_AXES];
	bool ring; /* a collective around a ring; else messages side by side */
	/* whose curve applies; COLL_LOCAL: that of messages */
	collective collective;
} topology_move;

/* An empty move for a collective. */
topology_move topology_move_of(collective c);

/* The bytes that a device receives over each level, including those that it
 * passes on in a collective. */
void topology_move_bytes(const topology *t, const topology_move *m,
			 double *bytes);

/* Seconds of a move.  The levels work at the same time. */
double topology_move_seconds(const topology *t, const topology_move *m);

/* Seconds of a copy of so many bytes in a device's memory. */
double topology_copy_seconds(const topology *t, double bytes);

/* Seconds of a kernel on a part of its iteration space, whose work is w, on a
 * device that computes a share, 0 to 1, of the part. */
double topology_kernel_seconds(const topology *t, const kernel *k,
			       const box *part, const kernel_work *w,
			       double share);

/* Whether such times depend on the kernel's form. */
static inline bool topology_asks_form(const topology *t)
{
	return t->now || t->profiled;
}

/* The same with the kernel's form; NULL if topology_asks_form() is false.
 * *source, unless NULL, receives the source of the time. */
double topology_form_seconds(const topology *t, const kernel *k,
			     const kernel_form *f, const box *part,
			     const kernel_work *w, double share,
			     time_source *source);

/* The same from the machine's curves or figures alone. */
double topology_load_seconds(const topology *t, dtype type,
			     const kernel_form *f, const kernel_load *l,
			     const kernel_work *w);

/* The name of a source: "measured". */
const char *time_source_name(time_source s);

#endif

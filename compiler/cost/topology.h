/* The machine that a plan is for: its devices, and the links between them in
 * levels, the outermost and slowest first.
 *
 * Times are predictions: a kernel takes as long as its arithmetic or its bytes,
 * whichever takes longer (the roofline model), a transfer a latency for each
 * message that follows another and its bytes over the level's bandwidth (the
 * alpha-beta model; Thakur, Rabenseifner, Gropp 2005).  Where a machine was
 * measured, they follow its curves (measured.h). */
#ifndef TDL_COMPILER_COST_TOPOLOGY_H
#define TDL_COMPILER_COST_TOPOLOGY_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/dtype.h"
#include "compiler/cost/measured.h"
#include "layout/mesh.h"

typedef struct topology_level {
	const char *name;
	int size; /* number of parts that it connects: of the next level, or
		     devices; 0: as many as there are */
	double latency;	  /* seconds until a message's first byte is there */
	double bandwidth; /* bytes/s that one device receives */
	/* Bytes/s that the devices of one of its parts receive together, and
	 * send; 0: as many as all of them.  And how many of them are at work,
	 * all alike; 0: one. */
	double shared;
	int sharers;
	/* By collective, as they were measured; NULL: not. */
	const measured_transfer *measured[COLL_COUNT];
} topology_level;

/* Devices that follow each other and are alike. */
typedef struct topology_devices {
	int count;
	double speed;	/* times as fast as topology.device */
	int64_t memory; /* bytes of each; 0 if that is not known */
} topology_devices;

enum { TOPOLOGY_MAX_KINDS = 64 };

typedef struct profiled profiled;

typedef struct topology {
	const char *name, *device;
	const char *path; /* of its file; NULL for a preset */
	int64_t memory;	  /* bytes of a device; 0 if that is not known */
	double bandwidth; /* bytes/s between its memory and its cores */
	double launch;	  /* seconds that the shortest kernel takes */
	double flops[DT_COUNT]; /* FLOP/s on elements of each type */
	bool overlap;		/* it communicates while it computes */
	int nlevels;
	topology_level levels[MAX_AXES];
	/* Where they differ: in the order of their numbers.  None: all are as
	 * above. */
	int nkinds;
	const topology_devices *kinds;
	/* Where it was measured: by the number of devices at work, which rises;
	 * the one for the plan's number of devices, NULL: none; and how many
	 * times slower all is than that, since devices share processors. */
	int nmeasured, processors; /* 0: not known */
	const measured_device *measured, *now;
	double crowded; /* 0: 1 */
	/* Profiles of what was run on it (profiled.h), NULL: there are none;
	 * and the number of its devices at work, of which the times are. */
	const profiled *profiled;
	int at_work;
} topology;

/* The source of a predicted time: it was measured itself, or something like it
 * was, or it is by the machine's curves or figures alone. */
typedef enum time_source {
	TIME_MODELLED,
	TIME_INTERPOLATED,
	TIME_MEASURED,
	TIME_SOURCES
} time_source;

/* The i-th of those that tdlc knows by name; NULL after the last.  Their
 * figures are those of data sheets, not measured; the first is the default. */
const topology *topology_preset(int i);

/* A preset by its name, or one from a file (docs/topology.md), in a.  NULL when
 * an error was added. */
const topology *topology_read(arena *a, diag_sink *s, const char *name);

/* The machine while k of its devices are at work, in a; t itself where nothing
 * was measured, there are no profiles, and they share nothing. */
const topology *topology_of(arena *a, const topology *t, int k);

/* Sets the devices of each level's parts that share, where k are at work. */
void topology_share(topology *t, int k);

/* Bytes/s that one device receives, while all at work do. */
double topology_level_bandwidth(const topology_level *l);

/* The number of devices of each part that a level connects; MESH_MAX_WORKERS
 * at most. */
int topology_part(const topology *t, int level);

/* The numbers of devices that the machine can have, in words: "up to 8, or 16,
 * ..". */
const char *topology_sizes(arena *a, const topology *t);

/* The mesh of k devices, which fill levels from the innermost on: the prime
 * factors of the number of parts that each level connects, the largest first,
 * so that an axis lies within one level.  False where there are less than k
 * devices, or they fill a level in part and need another. */
bool topology_mesh(const topology *t, int k, mesh *m);

/* The level along which each axis of a mesh goes; the outermost for one that
 * crosses levels, as a mesh that was made otherwise may. */
void topology_levels(const topology *t, const mesh *m, int *levels);

/* A transfer: the number of workers that take part in it along each level, and
 * the bytes that one of them receives over each. */
typedef struct topology_move {
	int peers[MAX_AXES]; /* by level; 1 for one that nothing crosses */
	/* By level: received from workers for whom it is the outermost level
	 * between. */
	double bytes[MAX_AXES];
	bool ring; /* a collective around a ring; else messages side by side */
	collective collective; /* whose curve it follows; COLL_LOCAL: that of
				  messages */
} topology_move;

/* A move of nothing, of a collective. */
topology_move topology_move_of(collective c);

/* The bytes that a device brings over each level of it, by level; in a
 * collective they are passed on. */
void topology_move_bytes(const topology *t, const topology_move *m,
			 double *bytes);

/* Seconds of it: the levels work at the same time. */
double topology_move_seconds(const topology *t, const topology_move *m);

/* Seconds of a copy of so many bytes in a device's memory. */
double topology_copy_seconds(const topology *t, double bytes);

/* Seconds of a kernel on a part of its iteration space: of as much of this work
 * as `share', 0 to 1, that of a device that computes a share of the part. */
double topology_kernel_seconds(const topology *t, const kernel *k,
			       const box *part, const kernel_work *w,
			       double share);

/* Whether such times depend on the kernel's form. */
static inline bool topology_asks_form(const topology *t)
{
	return t->now || t->profiled;
}

/* The same where its form is known already; NULL where none is asked for.
 * *source is where the time is from, unless it is NULL. */
double topology_form_seconds(const topology *t, const kernel *k,
			     const kernel_form *f, const box *part,
			     const kernel_work *w, double share,
			     time_source *source);

/* The same by the machine's curves or figures alone. */
double topology_load_seconds(const topology *t, dtype type,
			     const kernel_form *f, const kernel_load *l,
			     const kernel_work *w);

/* The words of a source: "measured". */
const char *time_source_name(time_source s);

#endif

/* Profiles: measured times of the kernels and transfers of plans, as tdlrun
 * writes and tdlc reads them (docs/machines.md).
 *
 * A kernel is known by its structure and by the extents of the part of its
 * iteration space that a worker computed, while so many devices were at work;
 * a transfer by its collective and bytes.  What was measured several times, in
 * a run or in several, is one row, which has the mean of the medians by their
 * numbers of measurements: profiles add up, in any order. */
#ifndef TDL_PLAN_PROFILE_H
#define TDL_PLAN_PROFILE_H

#include "base/diag.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/vec.h"
#include "kernel/kernel_class.h"
#include "layout/collective.h"

#define PROFILE_MOST_SAMPLES (INT64_C(1) << 40)

/* Of `samples' measurements, at most PROFILE_MOST_SAMPLES. */
typedef struct profile_time {
	double seconds; /* their median, above 0 */
	double spread;	/* how far the upper quartile is above it, of it */
	int64_t samples;
} profile_time;

typedef struct profile_kernel {
	uint64_t structure; /* kernel_structure_hash() */
	const char *name;   /* of the kernel, for people */
	kernel_class class;
	dtype type;
	int devices; /* at work */
	int nextents;
	int64_t extents[MAX_NVARS]; /* of the part, by variable */
	kernel_load load;
	kernel_work work;
	profile_time time;
} profile_kernel;

typedef struct profile_transfer {
	collective collective;
	int devices; /* that take part */
	int64_t received, written; /* bytes, of a worker */
	profile_time time;
} profile_transfer;

/* An instruction on each worker of a stage. */
typedef struct profile_instr {
	const char *name, *kind;
	int instruction; /* in the stage's program */
	int turn;	 /* -1: of no micro-batch */
	int nworkers;
	profile_time *workers;
	int64_t *nbytes; /* by worker: that it reads and writes, or receives */
} profile_instr;

typedef struct profile_worker {
	int stage;
	int64_t arena; /* bytes of its arena that were used */
} profile_worker;

/* A plan that was run. */
typedef struct profile_run {
	const char *model;
	uint64_t plan; /* its digest */
	int devices;   /* workers */
	int warm;      /* steps before those that were measured */
	profile_time step;
	profile_worker *workers;
	int ninstrs;
	profile_instr *instrs;
} profile_run;

typedef struct profile {
	arena *a;
	const char *made; /* the program that measured */
	VEC(profile_kernel) kernels;
	VEC(profile_transfer) transfers;
	VEC(profile_run) runs; /* one of each plan, the last */
	hash_table by_kernel, by_transfer;
} profile;

/* One of nothing, in a. */
profile *profile_new(arena *a);

/* Rows are copied. */
void profile_add_kernel(profile *p, const profile_kernel *x);
void profile_add_transfer(profile *p, const profile_transfer *x);
void profile_add_run(profile *p, const profile_run *x);

/* Adds those of a file; false with errors added, and then a part of them may be
 * in p. */
bool profile_read(profile *p, diag_sink *s, const char *path);

/* The same of a text, for messages at path. */
bool profile_parse(profile *p, diag_sink *s, const char *path,
		   const char *text, size_t len);

/* The text of the file, in a. */
const char *profile_text(arena *a, const profile *p);

#endif

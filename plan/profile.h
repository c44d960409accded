/* Profiles: measured times of the kernels and transfers of plans, which tdlrun
 * writes and tdlc reads (docs/machines.md).
 *
 * A kernel is identified by its structure, the extents of the part of its
 * iteration space that a worker computed, and the number of devices at work; a
 * transfer by its collective and bytes.  Repeated measurements, in one run or
 * several, are one row, with the mean of the medians weighted by their numbers
 * of samples.  Profiles can be added in any order. */
#ifndef TDL_PLAN_PROFILE_H
#define TDL_PLAN_PROFILE_H

#include "base/diag.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/vec.h"
#include "kernel/kernel_class.h"
#include "layout/collective.h"

#define PROFILE_MOST_SAMPLES (INT64_C(1) << 40)

/* A summary of `samples' measurements, at most PROFILE_MOST_SAMPLES. */
typedef struct profile_time {
	double seconds; /* the median, above 0 */
	double spread;	/* (upper quartile - median) / median */
	int64_t samples;
} profile_time;

typedef struct profile_kernel {
	uint64_t structure; /* kernel_structure_hash() */
	const char *name;   /* of the kernel, for people */
	kernel_class class;
	dtype type;
	int devices; /* at work at the same time */
	int nextents;
	int64_t extents[MAX_NVARS]; /* of the part, by variable */
	kernel_load load;
	kernel_work work;
	profile_time time;
} profile_kernel;

typedef struct profile_transfer {
	collective collective;
	int devices; /* taking part */
	int64_t received, written; /* bytes, per worker */
	profile_time time;
} profile_transfer;

/* Times of an instruction on each worker of a stage. */
typedef struct profile_instr {
	const char *name, *kind;
	int instruction; /* in the stage's program */
	int turn;	 /* -1: outside of the micro-batches */
	int nworkers;
	profile_time *workers;
	int64_t *nbytes; /* by worker: bytes read and written, or received */
} profile_instr;

typedef struct profile_worker {
	int stage;
	int64_t arena; /* bytes of its arena used */
} profile_worker;

/* A run of a plan. */
typedef struct profile_run {
	const char *model;
	uint64_t plan; /* its digest */
	int devices;   /* workers */
	int warm;      /* unmeasured steps before */
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
	VEC(profile_run) runs; /* the last run of each plan */
	hash_table by_kernel, by_transfer;
} profile;

/* An empty profile, in a. */
profile *profile_new(arena *a);

/* Add a row, which is copied. */
void profile_add_kernel(profile *p, const profile_kernel *x);
void profile_add_transfer(profile *p, const profile_transfer *x);
void profile_add_run(profile *p, const profile_run *x);

/* Adds the rows of a file.  On failure returns false with errors added; some
 * rows may have been added then. */
bool profile_read(profile *p, diag_sink *s, const char *path);

/* The same for a text; `path' is for messages. */
bool profile_parse(profile *p, diag_sink *s, const char *path,
		   const char *text, size_t len);

/* The text of the file, in a. */
const char *profile_text(arena *a, const profile *p);

#endif

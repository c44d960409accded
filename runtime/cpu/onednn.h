/* oneDNN, for kernels that it computes at the processor's speed: products of
 * matrices, convolutions and their gradients, recognized by structure in any
 * plan.
 *
 * One thread of a worker computes a part of a run, in one call or a few that
 * add up; oneDNN starts no threads of its own.  Operands that it wants in
 * another order are copied to the thread's work space first; a factor that is
 * kept (plan/kept.h) is copied once. */
#ifndef TDL_RUNTIME_CPU_ONEDNN_H
#define TDL_RUNTIME_CPU_ONEDNN_H

#include "include/tdl/generated.h"
#include "runtime/exec/backend.h"

typedef struct onednn onednn;
typedef struct onednn_run onednn_run;

/* Opens oneDNN for nworkers workers with nthreads threads each.  NULL, with *f
 * set, if it is not installed. */
onednn *onednn_open(int nworkers, int nthreads, failure *f);
void onednn_close(onednn *o);

/* A run of kernel k in parts, at most as many as a worker has threads. */
typedef struct onednn_job {
	const kernel *k;
	const kernel_run *r;
	/* [KEPT_SIDES]: the inputs to which r->kept[] belongs */
	const tdl_keeps *keeps;
	int nparts;
	const box *parts;
} onednn_job;

/* The calls that compute a worker's run, found once for equal runs.  NULL if
 * none fit some part.  They live as long as o. */
onednn_run *onednn_find(onednn *o, int worker, const onednn_job *j);

/* Whether factors must be packed first.  If so, all parts are packed before any
 * is run. */
bool onednn_fills(const onednn_run *x, const onednn_job *j);

/* Packs the kept factors of part i; computes part i.  False if oneDNN fails. */
bool onednn_pack(onednn_run *x, const onednn_job *j, int i);
bool onednn_compute(onednn_run *x, const onednn_job *j, int i);

#endif

/* oneDNN, for kernels that it computes at the processor's speed: products of
 * matrices, convolutions and their gradients, found by their structure, from
 * any plan.
 *
 * A part of a run is computed by one thread of a worker, in one call, or a few
 * that add up; oneDNN starts no threads of its own.  What it wants in another
 * order is copied to the thread's work space before, or, of a factor that is
 * kept (plan/kept.h), once. */
#ifndef TDL_RUNTIME_CPU_ONEDNN_H
#define TDL_RUNTIME_CPU_ONEDNN_H

#include "include/tdl/generated.h"
#include "runtime/exec/backend.h"

typedef struct onednn onednn;
typedef struct onednn_run onednn_run;

/* For workers with so many threads each.  NULL, with *f set, where there is no
 * oneDNN. */
onednn *onednn_open(int nworkers, int nthreads, failure *f);
void onednn_close(onednn *o);

/* A run of kernel k in parts, at most as many as a worker has threads. */
typedef struct onednn_job {
	const kernel *k;
	const kernel_run *r;
	const tdl_keeps *keeps; /* [KEPT_SIDES]: which inputs r->kept[] is of */
	int nparts;
	const box *parts;
} onednn_job;

/* The calls that compute a run of a worker, found once for runs that are alike;
 * NULL where none fit some part.  They live as long as o. */
onednn_run *onednn_find(onednn *o, int worker, const onednn_job *j);

/* Whether factors have to be packed first; if so all parts are packed, before
 * any is run. */
bool onednn_fills(const onednn_run *x, const onednn_job *j);

/* Packs what part i keeps, or computes it; false on a failure of oneDNN's. */
bool onednn_pack(onednn_run *x, const onednn_job *j, int i);
bool onednn_compute(onednn_run *x, const onednn_job *j, int i);

#endif

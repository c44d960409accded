/* Backends: the devices that hold arenas and compute kernels.  Each is a row of
 * functions. */
#ifndef TDL_RUNTIME_EXEC_BACKEND_H
#define TDL_RUNTIME_EXEC_BACKEND_H

#include "kernel/eval.h"
#include "plan/chain.h"
#include "plan/kept.h"
#include "plan/pipeline.h"
#include "runtime/exec/build_cache.h"

typedef enum kernels_from {
	KERNELS_ANY = -1,    /* the backend's own choice */
	KERNELS_GENERATED,   /* the plan's source, compiled */
	KERNELS_INTERPRETER, /* kernel/eval.h */
	KERNELS_LIBRARY,     /* a vendor's */
} kernels_from;

struct communicator;

typedef struct backend_options {
	kernels_from kernels;
	/* per worker, if it computes on processors; 0: its share of them */
	int threads;
	bool tf32; /* a library may round factors of f32 to 10 bits */
	bool again; /* the same plan was opened before: do not repeat notes */
	bool apart; /* compute each run by itself, without an epilogue */
	const char *library; /* with opaque functions' kernels; may be NULL */
	int nworkers;	/* using it at the same time */
	int neighbours; /* workers on this machine, including these */
	int first;	/* the first of the workers, .. */
	int neighbour;	/* .. and its number among the neighbours */
	const struct communicator *members; /* joins the processes */
	/* for compilers that run in parallel to this process; may be NULL */
	const build_progress *progress;
} backend_options;

/* A part of a kernel's result to be computed.  The memory of the views belongs
 * to the device. */
typedef struct kernel_run {
	int kernel; /* of the plan */
	const box *space;
	const view *inputs;
	view *out;
	/* NULL, or receives the processor seconds of the slowest thread that
	 * took part; a backend may leave it unchanged. */
	double *busy;
	/* Memory for the packed factors of a product (plan/kept.h), NULL for a
	 * factor that is not kept; a bit for each factor that must be packed
	 * first. */
	void *kept[KEPT_SIDES];
	unsigned fill;
	/* For kept factors: the bytes of room; and a note of what they were
	 * packed for, which the backend writes and checks, initially NULL. */
	int64_t kept_bytes[KEPT_SIDES];
	const void **kept_as[KEPT_SIDES];
	/* NULL, or the run that follows, computed together with this one: only
	 * the last run's result is stored.  `epilogue' is the number, among the
	 * epilogues of the next run's kernel, of the one that computes it and
	 * all before. */
	const struct kernel_run *next;
	int epilogue;
} kernel_run;

/* All runs of a chain.  The views of inner results have no data: the backend
 * has memory for a part of them. */
typedef struct kernel_chain {
	const plan *p; /* the program with the chain */
	const plan_chain *chain;
	const kernel_run *runs;
} kernel_chain;

/* There are two kinds.  A backend whose memory is the host's computes kernels,
 * and the communicator moves regions between the workers: it has run().  A
 * backend with memory of its own runs whole programs, including transfers: it
 * has put() and everything below, and the communicator only joins the
 * processes. */
typedef struct backend {
	const char *name;
	const char *missing; /* the reason why it is unavailable; NULL if it is
				not */
	/* Prepares the kernels of an unrolled pipeline (pipeline_unroll()) for
	 * its workers o->first .. o->first + o->nworkers.  NULL with *f set on
	 * failure. */
	void *(*open)(const plan_pipeline *p, const backend_options *o,
		      failure *f);
	/* Zeroed memory of the device, 64-byte aligned, for worker 0 <= worker
	 * < nworkers; NULL if there is not enough. */
	void *(*alloc)(void *b, int worker, int64_t nbytes);
	void (*free)(void *b, int worker, void *memory, int64_t nbytes);
	void (*close)(void *b);

	/* Stores the factors of kernel `kernel' that it can keep; NULL: the
	 * backend keeps none. */
	void (*keeps)(void *b, int kernel, kept_factor to[KEPT_SIDES]);
	/* Whether it computes a run and its epilogue together; NULL: no. */
	bool (*joins)(void *b);
	/* Computes a run.  Different workers may call it at the same time. */
	bool (*run)(void *b, int worker, const kernel_run *r, failure *f);

	/* Computes a chain, part by part.  On failure *failed is the run that
	 * failed. */
	bool (*run_chain)(void *b, int worker, const kernel_chain *c,
			  int *failed, failure *f);

	/* Copies n bytes from the host to a worker's memory, and back;
	 * synchronous. */
	bool (*put)(void *b, int worker, void *to, const void *from, int64_t n,
		    failure *f);
	bool (*get)(void *b, int worker, void *to, const void *from, int64_t n,
		    failure *f);
	/* Called once, before the first step: arenas[w] is the memory of worker
	 * first + w of the plan. */
	bool (*attach)(void *b, const struct communicator *c, void *link,
		       int first, unsigned char *const *arenas, failure *f);
	/* Runs the program on all workers here. */
	bool (*step)(void *b, failure *f);
	/* The host's memory for the worker's part, dense: of a FEED, from which
	 * each step takes it; of an instruction that hands out a part of an
	 * output (plan_hands_out()), where it is after a step.  The instruction
	 * is of the worker's stage. */
	void *(*copy)(void *b, int worker, int instr);
	/* Bytes that these workers received from others in an instruction of a
	 * stage since open(); the greatest part of its arena, from its
	 * beginning, that any of the stage's workers here has used. */
	int64_t (*received)(void *b, int stage, int instr);
	int64_t (*used)(void *b, int stage);
	/* Bytes that a device has beside the arenas for copies of operands; of
	 * these, the bytes used.  NULL: the backend has none. */
	void (*copies)(void *b, int64_t *planned, int64_t *used);
	/* Marks the run as failed, here or elsewhere: from now on freeing and
	 * closing wait for no other process. */
	void (*abandon)(void *b);
} backend;

extern const backend backend_cpu, backend_cuda;

/* ---- what all of them need --------------------------------------------- */

/* Prefixes a message with worker and instruction: "worker 3: node 'x' (matmul):
 * ..", or "worker 3: all-gather of 'x': ..".  Returns false. */
bool backend_at(const plan *p, int worker, int instr, failure *f);

/* Whether a kernel was evaluated; if not, *f explains the status. */
bool backend_explain(const kernel *k, eval_status status,
		     const eval_fault *fault, failure *f);

/* The C functions of opaque kernels, by kernel, in a: built-in ones, and those
 * of the library at `path' (may be NULL), which is opened to *library; the
 * caller calls dlclose().  NULL with *f set on failure. */
opaque_fn *backend_opaque(arena *a, const plan *p, const char *path,
			  void **library, failure *f);

/* The i-th backend's row, NULL after the last. */
const backend *backend_row(int i);

#endif

/* Backends: the devices that hold arenas and compute kernels, each a row of
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
	int threads; /* of each worker, where it computes on processors; 0: its
			share of them */
	bool tf32; /* a library may round factors of f32 to 10 bits */
	bool again; /* for the same plan as before: no note is printed twice */
	bool apart; /* each run is computed for itself, without an epilogue */
	const char *library; /* with opaque functions' kernels; may be NULL */
	int nworkers;	/* that use it, at one time */
	int neighbours; /* on this machine, they among them */
	int first;	/* the first of the workers, .. */
	int neighbour;	/* .. and its number among the neighbours */
	const struct communicator *members; /* joins the processes */
	const build_progress *progress; /* of compilers that run beside this
					   process; may be NULL */
} backend_options;

/* A part of a kernel's result to be computed.  The views' memory belongs to
 * the device. */
typedef struct kernel_run {
	int kernel; /* of the plan */
	const box *space;
	const view *inputs;
	view *out;
	/* NULL, or: receives the seconds of processor time of the slowest of
	 * the threads that computed it; a backend may leave it as it is. */
	double *busy;
	/* Where the packed factors of a product are kept (plan/kept.h), NULL
	 * for one that is not, and a bit for each that is to be packed
	 * first. */
	void *kept[KEPT_SIDES];
	unsigned fill;
	/* Of those that are kept: the bytes of room; and what they were packed
	 * for, which the backend writes there and asks for: NULL at first. */
	int64_t kept_bytes[KEPT_SIDES];
	const void **kept_as[KEPT_SIDES];
	/* NULL, or the run that follows: nothing but the result of the last of
	 * them is asked for.  `epilogue' is the number, among those of the next
	 * one's kernel, of what computes both and all that are before. */
	const struct kernel_run *next;
	int epilogue;
} kernel_run;

/* The runs of a chain, whole.  The views of what is inner have no data: the
 * backend has memory for a part of it. */
typedef struct kernel_chain {
	const plan *p; /* whose program the chain is of */
	const plan_chain *chain;
	const kernel_run *runs;
} kernel_chain;

/* There are two kinds.  One whose memory is the host's computes kernels, and
 * the communicator moves regions between the workers: it has run().  One with
 * memory of its own runs whole programs, transfers among them: it has put()
 * and all that is below it, and the communicator only joins the processes. */
typedef struct backend {
	const char *name;
	const char *missing; /* the reason why it is unavailable; NULL if it is
				not */
	/* Makes the kernels of an unrolled pipeline ready (pipeline_unroll()),
	 * for the workers o->first .. o->first + o->nworkers of it.  NULL with
	 * *f set. */
	void *(*open)(const plan_pipeline *p, const backend_options *o,
		      failure *f);
	/* Memory of the device, 64-byte aligned and zero, for one of the
	 * workers 0 <= worker < nworkers; NULL if there is not enough. */
	void *(*alloc)(void *b, int worker, int64_t nbytes);
	void (*free)(void *b, int worker, void *memory, int64_t nbytes);
	void (*close)(void *b);

	/* Finds the factors of kernel `kernel' that it can keep; NULL for a
	 * backend that keeps none. */
	void (*keeps)(void *b, int kernel, kept_factor to[KEPT_SIDES]);
	/* Whether it computes a run and its epilogue at once; NULL: no. */
	bool (*joins)(void *b);
	/* Computes; called by worker `worker`, maybe at the same time as by
	 * others. */
	bool (*run)(void *b, int worker, const kernel_run *r, failure *f);

	/* The same of a chain, part by part; *failed is the run that has. */
	bool (*run_chain)(void *b, int worker, const kernel_chain *c,
			  int *failed, failure *f);

	/* Copies n bytes of the host's to memory of a worker, and back; done
	 * when they return. */
	bool (*put)(void *b, int worker, void *to, const void *from, int64_t n,
		    failure *f);
	bool (*get)(void *b, int worker, void *to, const void *from, int64_t n,
		    failure *f);
	/* Once, before the first step: arenas[w] is the memory of worker
	 * first + w of the plan. */
	bool (*attach)(void *b, const struct communicator *c, void *link,
		       int first, unsigned char *const *arenas, failure *f);
	/* Runs the program on all workers that are here. */
	bool (*step)(void *b, failure *f);
	/* The host's memory of a FEED, of which each step takes the worker's
	 * part, and of an instruction that hands out a part of an output
	 * (plan_hands_out()), where that is after a step; dense.  The
	 * instruction is of the worker's stage. */
	void *(*copy)(void *b, int worker, int instr);
	/* Bytes that these workers received from others in an instruction of a
	 * stage since open(); the greatest part of its arena that any of the
	 * stage's that are here has used, from its beginning. */
	int64_t (*received)(void *b, int stage, int instr);
	int64_t (*used)(void *b, int stage);
	/* Bytes that a device has beside the arenas for copies of operands,
	 * and how many of them are taken; NULL for a backend without. */
	void (*copies)(void *b, int64_t *planned, int64_t *used);
	/* Marks the run as failed, here or elsewhere: freeing and closing wait
	 * for no other process from now on. */
	void (*abandon)(void *b);
} backend;

extern const backend backend_cpu, backend_cuda;

/* ---- what all of them need --------------------------------------------- */

/* Puts worker and instruction before a message: "worker 3: node 'x' (matmul):
 * ..", or "worker 3: all-gather of 'x': ..".  Returns false. */
bool backend_at(const plan *p, int worker, int instr, failure *f);

/* Whether a kernel was evaluated; if not, the failure explains the status. */
bool backend_explain(const kernel *k, eval_status status,
		     const eval_fault *fault, failure *f);

/* The C functions of opaque kernels, by kernel: from the library at `path`, may
 * be NULL, which is opened to *library for dlclose(), and built in.  They live
 * in a.  NULL with *f set. */
opaque_fn *backend_opaque(arena *a, const plan *p, const char *path,
			  void **library, failure *f);

/* The i-th backend's row, NULL after the last. */
const backend *backend_row(int i);

#endif

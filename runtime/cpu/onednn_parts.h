/* Private to runtime/cpu/onednn*.c. */
#ifndef TDL_RUNTIME_CPU_ONEDNN_PARTS_H
#define TDL_RUNTIME_CPU_ONEDNN_PARTS_H

#include <dnnl.h>

#include "runtime/cpu/onednn.h"

typedef struct onednn_api {
#define DNNL(f) __typeof__(f) *f;
#include "runtime/cpu/onednn.def"
} onednn_api;

/* The operands of a call: what is read, and, last, what is written. */
enum { ONE_LEFT, ONE_RIGHT, ONE_OUT, ONE_OPERANDS };

typedef struct one_operand {
	int of;		   /* input of the kernel; their number: the result */
	int argument;	   /* DNNL_ARG_.. */
	int64_t size;	   /* bytes of an element */
	dnnl_memory_desc_t lies, wanted; /* as it lies; as it is computed with,
					    of any format at first */
	dnnl_memory_t memory, copy; /* of the former; of the latter, NULL where
				       both are one */
	dnnl_primitive_t reorder;   /* from one to the other; NULL */
	int64_t at;		    /* bytes to the copy, from the work space */
	int side; /* KEPT_..: from what is kept; -1: it is not */
	bool packs; /* .. and this part packs it, which others may use */
} one_operand;

/* A part of a run: ncalls calls of a primitive, which begin at[i] elements
 * behind the views' data, of which some add to the result. */
typedef struct one_part {
	dnnl_primitive_t call, adding;
	one_operand on[ONE_OPERANDS];
	int ncalls;
	int64_t (*at)[ONE_OPERANDS];
	bool *adds;
	dnnl_memory_t scratchpad;
	int64_t scratchpad_at;
	int64_t nbytes; /* of work space */
} one_part;

/* A call, before it is a primitive. */
typedef struct one_call {
	union {
		dnnl_matmul_desc_t product;
		dnnl_convolution_desc_t convolution;
	} of;
	bool is_product;
	dnnl_primitive_desc_t primitive, adding; /* NULL where none was made */
} one_call;

struct onednn {
	void *library; /* of dlopen() */
	onednn_api api;
	void (*set_threads)(int n); /* OpenMP's, of the calling thread; NULL */
	int (*get_threads)(void);
	bool halves; /* the processor multiplies bf16 */
	dnnl_engine_t engine;
	int nworkers, nthreads;
	struct one_worker *workers;
};

/* Finds the calls for part j->parts[i] of a run, x->parts[i], and makes them.
 * False where there are none; what was made by then is in x->parts[i]. */
bool one_plan_part(onednn *o, onednn_run *x, const onednn_job *j, int i);

struct onednn_run {
	onednn_run *next;
	int nwords;
	int64_t *words; /* all that decides about it */
	bool fits;
	struct one_worker *worker;
	int nparts;
	one_part *parts;
	int64_t kept[KEPT_SIDES]; /* bytes that are taken of the slots */
};

#endif

/* Private to runtime/cpu/onednn*.c. */
#ifndef TDL_RUNTIME_CPU_ONEDNN_PARTS_H
#define TDL_RUNTIME_CPU_ONEDNN_PARTS_H

#include <dnnl.h>

#include "runtime/cpu/onednn.h"

typedef struct onednn_api {
#define DNNL(f) __typeof__(f) *f;
#include "runtime/cpu/onednn.def"
} onednn_api;

/* The operands of a call; the last is written. */
enum { ONE_LEFT, ONE_RIGHT, ONE_OUT, ONE_OPERANDS };

typedef struct one_operand {
	/* input of the kernel; the number of inputs: the result */
	int of;
	int argument;	   /* DNNL_ARG_.. */
	int64_t size;	   /* bytes of an element */
	/* as stored; as computed with, initially in any format */
	dnnl_memory_desc_t lies, wanted;
	/* for lies; for wanted, NULL if both are the same */
	dnnl_memory_t memory, copy;
	dnnl_primitive_t reorder;   /* converts one to the other; NULL */
	/* offset of the copy in the work space, bytes */
	int64_t at;
	int side; /* KEPT_..: copied from the kept factor; -1: not kept */
	bool packs; /* .. and this part packs it; others may use it */
} one_operand;

/* A part of a run: ncalls calls of a primitive.  Call i is at[i] elements from
 * the views' data; adds[i]: it adds to the result. */
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

/* A call before its primitive is made. */
typedef struct one_call {
	union {
		dnnl_matmul_desc_t product;
		dnnl_convolution_desc_t convolution;
	} of;
	bool is_product;
	dnnl_primitive_desc_t primitive, adding; /* NULL if not made */
} one_call;

struct onednn {
	void *library; /* of dlopen() */
	onednn_api api;
	void (*set_threads)(int n); /* OpenMP's, for the calling thread; NULL */
	int (*get_threads)(void);
	bool halves; /* the processor can multiply bf16 */
	dnnl_engine_t engine;
	int nworkers, nthreads;
	struct one_worker *workers;
};

/* Finds and makes the calls for part j->parts[i] of a run, in x->parts[i].
 * Returns false if there are none; what was made until then remains in
 * x->parts[i]. */
bool one_plan_part(onednn *o, onednn_run *x, const onednn_job *j, int i);

struct onednn_run {
	onednn_run *next;
	int nwords;
	int64_t *words; /* everything that determines the calls */
	bool fits;
	struct one_worker *worker;
	int nparts;
	one_part *parts;
	int64_t kept[KEPT_SIDES]; /* bytes used of the slots */
};

#endif

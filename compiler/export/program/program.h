/* The interface between the files of this program: the tables of the plan, in
 * plan.cu, and the code that runs them, in main.cu. */
#ifndef TDL_COMPILER_EXPORT_PROGRAM_PROGRAM_H
#define TDL_COMPILER_EXPORT_PROGRAM_PROGRAM_H

#include <stdint.h>

#include <cuda_runtime_api.h>

#include "boxes.h"

/* As in tdl/cuda.h, which is for kernels: the parameter of one, and a bad
 * index. */
template <int n> struct tdl_words {
	int64_t w[n ? n : 1];
};

struct tdl_fault {
	int found, input, dim;
	int64_t value;
};

/* ---- the plan, in plan.cu ---------------------------------------------- */

enum role { ROLE_INPUT, ROLE_CONSTANT, ROLE_RESULT, ROLE_STATE };

struct tensor {
	const char *name;
	const char *file;  /* the name as that of a file */
	const char *descr; /* the type of its elements, as NumPy writes it */
	int is_float;	   /* 4 and 8: of C; 2: IEEE's binary16, 3: bf16 */
	int size;	   /* bytes of an element */
	role is;
	bool output;
	int ndim;
	int64_t dims[MAX_NDIM];
	int64_t offset;	      /* of each worker's part, in its arena */
	int64_t constant;     /* where its elements are in constants.bin; -1 */
	const int64_t *parts; /* by worker and dimension: from, to */
};

extern const char plan_name[];
extern const int nworkers;
extern const int64_t arena_bytes; /* of each worker */
extern const int ninstrs;
extern const int ntensors; /* those that lie in memory from step to step */
extern const tensor tensors[];

/* Enqueues the program once. */
void step(void);

/* ---- what it calls, in main.cu ----------------------------------------- */

/* A kernel, for a worker.  `words` are its parameter; those in `addresses`, a
 * list that ends in -1, are places in the worker's arena; the one called
 * `fault`, unless that is -1, is where a bad index is noted. */
void launch(int instr, int worker, const void *kernel, int64_t items,
	    int threads, int shared, const int64_t *words, int nwords,
	    const int *addresses, int fault);

/* A transfer: n pieces, combined in their order. */
void transfer(const piece *pieces, int n, int size, reducer r, type t);

#endif

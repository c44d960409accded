/* The registers and the shared memory of compiled kernels: a table, by how the
 * kernels are computed. */
#ifndef TDL_TESTS_CUDA_RESOURCES_H
#define TDL_TESTS_CUDA_RESOURCES_H

#include <stdbool.h>
#include <stdio.h>

#include "kernel/kernel.h"

enum { NARCHS = 3 };
extern const char *const archs[NARCHS];

/* Tensor cores multiply factors of f32 as tf32 alone. */
typedef enum kernel_class {
	ON_CORES,
	ON_CORES_TF32,
	IN_TILES,
	REDUCED,
	SCATTERED,
	SCANNED,
	GATHERED,
	MAPPED,
	NCLASSES
} kernel_class;

/* That of a kernel with this text, compiled with this TDL_TF32. */
kernel_class class_of(const kernel *k, const char *text, bool tf32);
/* Whether TDL_TF32 makes a difference to it. */
bool may_be_tf32(const char *text);

/* The most that kernels of a class take on an architecture. */
typedef struct taken {
	int registers; /* of a thread */
	int shared;    /* bytes of a block, of those that are declared */
} taken;

typedef struct resources {
	int nkernels[NCLASSES]; /* distinct ones */
	int spilled[NCLASSES];	/* that keep registers in memory, or arrays */
	taken most[NARCHS][NCLASSES];
	FILE *report; /* a line for each kernel; NULL for none */
} resources;

/* A kernel that is compiled. */
typedef struct compiled {
	const kernel *k;
	kernel_class class;
} compiled;

/* Takes the assembler's log, whose memory is written to, of a program of the
 * kernels tdl_kernel_0, tdl_kernel_1, ..; false, and says so, where there is a
 * message in it, or a kernel that spills. */
bool resources_add(resources *r, char *log, const compiled *kernels, int n,
		   int arch);

/* The table's rows, as docs/cuda.md has them. */
void resources_print(const resources *r);

#endif

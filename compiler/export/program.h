/* A plan as a program in CUDA: source files to be read and built. */
#ifndef TDL_COMPILER_EXPORT_PROGRAM_H
#define TDL_COMPILER_EXPORT_PROGRAM_H

#include "plan/plan.h"

typedef struct program_file {
	const char *name; /* path in the program's folder */
	const char *data;
	size_t len;
} program_file;

typedef struct program {
	int nfiles;
	program_file *files;
} program;

/* The files of a program that runs a plan whose kernels have CUDA: all workers
 * in one process, on the available GPUs.  Everything is in a, including the
 * plan's constants.  Returns false after adding errors: a kernel is an opaque
 * function of the host, or constants cannot be read. */
bool program_of(arena *a, const plan *p, diag_sink *s, program *to);

/* Its parts: plan.cu; the n-th file of kernels, NULL after the last. */
char *program_plan(arena *a, const plan *p);
char *program_kernels(arena *a, const plan *p, int n);

#endif

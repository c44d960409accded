/* Generated kernels against the interpreter: for parts of the iteration space,
 * with inputs that hold just what the part reads and poison all around. */
#ifndef TDL_TESTS_UNIT_CHECK_KERNEL_H
#define TDL_TESTS_UNIT_CHECK_KERNEL_H

#include <check.h>

#include "base/vec.h"
#include "include/tdl/generated.h"
#include "tests/unit/make_kernel.h"

/* ---- checking kernels ------------------------------------------------- */

typedef VEC(kernel *) kernels;

/* Builds the kernels and runs each, whole and in parts; with SAMPLE=N in the
 * environment every Nth of them, because compiling them takes long. */
void check_all(const kernels *all);

/* The same for n random kernels, the ith made by make(i). */
void check_drawn(int n, kernel *(*make)(int i));

/* A test case in which `mem` is an arena for each test; TDL_SEED in the
 * environment seeds the random numbers. */
TCase *kernel_case(Suite *s, const char *name);

/* ---- what is checked --------------------------------------------------- */

/* Kernels whose sources were generated and compiled: check_c.c, check_cuda.c.
 * A failure there ends the test. */
typedef struct built built;

built *built_open(const kernels *all);
/* Runs the kernel number i; what it returns in C. */
int built_run(built *b, int i, tdl_args *args);
void built_close(built *b);
/* Whether kernels can be asked what they keep, tdl_args.keeps. */
bool built_keeps(void);
/* The number of products in a batch with which tiles are as large as they get:
 * on a GPU they grow once there are enough to occupy it. */
int built_products(void);
/* The source of a kernel, for messages. */
const char *built_text(const kernel *k);

#endif

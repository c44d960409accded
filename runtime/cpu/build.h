/* Generated kernels: compiled by the system's C compiler, cached, and
 * loaded. */
#ifndef TDL_RUNTIME_CPU_BUILD_H
#define TDL_RUNTIME_CPU_BUILD_H

#include "runtime/exec/build_cache.h"

struct tdl_args;
typedef int cpu_kernel(struct tdl_args *);

/* Compiles n kernels, unless they are cached, and writes their addresses to
 * kernels[]. sources[i] is the text by compiler/codegen; NULL for a kernel
 * without one.  Equal texts are compiled once; different ones in parallel, on
 * as many compilers as there are processors.  The compiler is $CC, or cc.
 * progress may be NULL.  Returns a handle for cpu_close(); on failure NULL,
 * with *f set. */
void *cpu_build(int n, const char *const *sources, cpu_kernel **kernels,
		const build_progress *progress, failure *f);
void cpu_close(void *library);

#endif

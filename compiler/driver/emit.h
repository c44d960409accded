/* The outputs of `tdlc compile' for C programs: headers and kernels. */
#ifndef TDL_COMPILER_DRIVER_EMIT_H
#define TDL_COMPILER_DRIVER_EMIT_H

#include "compiler/analysis/descriptor.h"
#include "compiler/driver/driver.h"

/* A C header: each operator's signature and documentation as a comment, an
 * index into the names, a prototype for each opaque function's kernel, and the
 * bytes of the descriptor.  path names the guard. */
char *emit_header(arena *a, const char *path, const descriptor *d,
		  const ast_module *const *modules, int nmodules);

/* The kernels to write: of the operator `op', or the only one; for the shapes
 * of its parameters and the values of its attributes. */
typedef struct kernel_request {
	const char *op; /* NULL: the only one */
	cli_words shapes, defines;
	bool cuda;
} kernel_request;

/* The kernels of an operator in C or CUDA, one for each stage: a text that
 * compiles by itself.  NULL, with *status, if a shape or attribute is
 * missing. */
char *emit_kernels(driver *d, const kernel_request *r, const tdl_modules *m,
		   const ast_module *const *modules, int nmodules,
		   cli_status *status);

#endif

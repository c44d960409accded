/* What `tdlc compile` writes for C programs. */
#ifndef TDL_COMPILER_DRIVER_EMIT_H
#define TDL_COMPILER_DRIVER_EMIT_H

#include "compiler/analysis/descriptor.h"

/* A C header: each operator's signature and documentation as a comment, an
 * index into the names, a prototype for each opaque function's kernel, and the
 * bytes of the descriptor.  path names the guard. */
char *emit_header(arena *a, const char *path, const descriptor *d,
		  const ast_module *const *modules, int nmodules);

#endif

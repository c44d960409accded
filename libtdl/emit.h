/* The outputs of `tdlc compile': operators as descriptors, JSON, a syntax tree
 * or a C header, or those of their gradients; the kernels of one operator. */
#ifndef TDL_LIBTDL_EMIT_H
#define TDL_LIBTDL_EMIT_H

#include "compiler/analysis/descriptor.h"
#include "libtdl/job.h"

typedef enum emit_kind {
	EMIT_DESCRIPTOR,
	EMIT_JSON,
	EMIT_AST,
	EMIT_HEADER,
	EMIT_C,
	EMIT_CUDA
} emit_kind;

/* "descriptor", ..; ends with NULL. */
extern const char *const emit_names[];

typedef struct emit_request {
	int emit;	    /* emit_kind */
	/* emit the operators that compute gradients instead */
	bool gradients;
	/* the file for the text: names the guard of a header; paths of imports
	 * are relative to its folder */
	const char *output;
	/* NULL: all, or for EMIT_C and EMIT_CUDA the only one */
	const char *op;
	/* For these two: the shapes of its parameters and the values of its
	 * attributes. */
	cli_words shapes, defines;
} emit_request;

#define EMIT_OPTIONS_KERNELS(r)                                              \
	{ CLI_TEXT, 0, "op", "NAME",                                         \
	  "kernels: the operator, if there are several", &(r)->op },         \
	{ CLI_REPEAT, 0, "shape", "NAME=AxB",                                \
	  "kernels: the shape of input NAME; once for each",                 \
	  &(r)->shapes },                                                    \
	{ CLI_REPEAT, 'D', NULL, "ATTR=V",                                   \
	  "kernels: the value of an attribute; a list is 1,2",               \
	  &(r)->defines }

/* The modules of .tdl files, or the operators of a .tdd. */
typedef struct emit_input {
	tdl_modules *modules;
	int n;
	const ast_module **own; /* the files, without their imports */
	descriptor *read;	/* from a .tdd; NULL */
} emit_input;

bool emits_kernels(const emit_request *r);

/* The output, *len bytes, in the job's arena.  NULL with *status, after a
 * message or with errors added. */
const void *emit_text(job *d, const emit_request *r, const emit_input *in,
		      size_t *len, cli_status *status);

/* ---- parts of it --------------------------------------------------------- */

/* A C header: each operator's signature and documentation as a comment, an
 * index of the names, a prototype for each opaque function's kernel, and the
 * bytes of the descriptor.  The guard is named after path. */
char *emit_header(arena *a, const char *path, const descriptor *d,
		  const emit_input *in);

/* The kernels of an operator in C or CUDA, one for each stage, as text that
 * compiles by itself.  NULL, with *status, if a shape or attribute is
 * missing. */
char *emit_kernels(job *d, const emit_request *r, const emit_input *in,
		   cli_status *status);

#endif

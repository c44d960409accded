/* The reference manual of a library, made from its doc comments and from facts
 * that follow from its definitions. */
#ifndef TDL_LIBTDL_DOC_H
#define TDL_LIBTDL_DOC_H

#include <stdio.h>

#include "base/cli.h"
#include "base/intern.h"
#include "dsl/dsl.h"

extern const char *const doc_formats[]; /* "markdown", "html", "json" */

typedef struct doc_request {
	arena *arena;
	tdl_modules *modules;
	/* files rather than the library: include models and blocks */
	bool files;
	cli_words names; /* none: all definitions of the modules for which .. */
	bool (*is_own)(const void *of, const ast_module *m);
	const void *of;
	int format;	/* of doc_formats */
	strmap *mapped; /* set by doc_write() */
} doc_request;

/* Whether there is something with that name to document. */
bool doc_is_known(const doc_request *r, const char *name);

void doc_write(FILE *to, const doc_request *r);

#endif

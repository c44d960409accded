/* The reference of a library, from its doc comments and from what follows from
 * its definitions. */
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
	bool files;	 /* not the library: models and blocks count, too */
	cli_words names; /* none: all definitions of the modules that .. */
	bool (*is_own)(const void *of, const ast_module *m);
	const void *of;
	int format;	/* of doc_formats */
	strmap *mapped; /* set by doc_write() */
} doc_request;

/* Whether something of that name can be documented. */
bool doc_is_known(const doc_request *r, const char *name);

void doc_write(FILE *to, const doc_request *r);

#endif

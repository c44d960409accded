/* The frame of everything that the library does: what it reads, where operators
 * come from, where faults go. */
#ifndef TDL_LIBTDL_JOB_H
#define TDL_LIBTDL_JOB_H

#include "base/cli.h"
#include "base/diag.h"
#include "compiler/model/model.h"
#include "dsl/dsl.h"

typedef struct job {
	cli_program program; /* of the command: "tdlc plan" */
	arena *arena;	     /* of all allocations of the job */
	diag_sink *sink;
	cli_words folders;   /* -I */
	const char *opdefs;  /* --opdefs, NULL if not given */
	const char *here;    /* the folder of the program, or of the library;
				NULL: not known */
	cli_words load;	     /* --load */
	cli_words profiles;  /* --profile */
	const dsl_texts *texts; /* in place of files; NULL: none */
} job;

/* An option in a message: diag_option(). */
const char *job_option(const job *d, const char *name);

/* The same with its argument on the command line: "-k N", or "devices". */
const char *job_option_of(const job *d, const char *name, const char *arg);

/* --model NAME */
#define DRIVER_OPTION_MODEL(to)                                              \
	{ CLI_TEXT, 0, "model", "NAME",                                     \
	  "the model, of a TDL file with several", (to) }

/* -k N */
enum { DRIVER_MAX_DEVICES = 1 << 24 };
#define DRIVER_OPTION_K(to)                                                  \
	{ CLI_INT, 'k', "devices", "N", "the number of devices", (to),       \
	  .min = 1, .max = DRIVER_MAX_DEVICES }

/* The folder of the operator library: --opdefs, else $TDL_OPDEFS, else the
 * folder beside the program (opdefs/ of the source tree for a program in its
 * build tree, ../share/tdlc/opdefs for an installed one), else the one of `make
 * install`. */
const char *job_opdefs(job *d);

/* Says that no operator of m has the name, in the files or the folder called
 * where, and which one was probably meant; returns CLI_USAGE. */
cli_status job_no_operator(const job *d, const tdl_modules *m,
			      const char *name, const char *where);

/* An empty set of modules that looks up imports in -I and the library. */
tdl_modules *job_modules(job *d);

/* The same with the whole library loaded: the .tdl files in its folder, then
 * those in onnx/, each in the order of the names, then those of --load.  NULL
 * when that gave errors. */
tdl_modules *job_load_library(job *d);

/* The same for a model, which needs a part of the library only: faults in the
 * library's files are warnings, and definitions that have them are left out.  A
 * model in TDL needs nothing of onnx/, whose definitions might have the names
 * of its own. */
tdl_modules *job_load_needed(job *d, const char *model);

/* The module of a file, once it is loaded, by whatever path.  NULL if the file
 * could not be read. */
const ast_module *job_module(const tdl_modules *m, const char *path);

/* -D NAME=N and --shape NAME=AxB for the model in a file.  On a malformed one
 * prints a usage error and returns CLI_USAGE. */
cli_status job_model_options(job *d, const char *model,
				const cli_words *defines,
				const cli_words *shapes, model_options *o);

/* CLI_USAGE, after a message, if one of the options names nothing in the
 * model. */
cli_status job_check_used(job *d, const model_options *o);

#endif

/* The common state of everything the library does: what it reads, where
 * operators come from, where diagnostics go. */
#ifndef TDL_LIBTDL_JOB_H
#define TDL_LIBTDL_JOB_H

#include "base/cli.h"
#include "base/diag.h"
#include "compiler/model/model.h"
#include "dsl/dsl.h"

typedef struct job {
	cli_program program; /* of the command: "tdlc plan" */
	arena *arena;	     /* for all allocations of the job */
	diag_sink *sink;
	cli_words folders;   /* -I */
	const char *opdefs;  /* --opdefs, NULL if not given */
	/* the folder of the program or the library; NULL: not known */
	const char *here;
	cli_words load;	     /* --load */
	cli_words profiles;  /* --profile */
	const dsl_texts *texts; /* in place of files; NULL: none */
} job;

/* The name of an option for a message: diag_option(). */
const char *job_option(const job *d, const char *name);

/* The same, with its argument if it is a command-line option: "-k N", or
 * "devices". */
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

/* The folder of the operator library: --opdefs; else $TDL_OPDEFS; else the
 * folder that belongs to the program (opdefs/ of the source tree for a program
 * in its build tree, ../share/tdlc/opdefs for an installed one); else that of
 * `make install'. */
const char *job_opdefs(job *d);

/* Reports that m, read from the files or the folder `where', has no operator of
 * that name, and which one was probably meant.  Returns CLI_USAGE. */
cli_status job_no_operator(const job *d, const tdl_modules *m,
			      const char *name, const char *where);

/* An empty set of modules that looks up imports in -I and the library. */
tdl_modules *job_modules(job *d);

/* The same with the whole library loaded: the .tdl files in its folder, then
 * those in onnx/, each in the order of names, then those of --load.  NULL after
 * adding errors. */
tdl_modules *job_load_library(job *d);

/* The same for a model, which needs only a part of the library: faults in the
 * library's files become warnings, and faulty definitions are left out.  A
 * model in TDL does not load onnx/, whose definitions could have the names of
 * its own. */
tdl_modules *job_load_needed(job *d, const char *model);

/* The module of a file that is loaded, by any path.  NULL if the file could not
 * be read. */
const ast_module *job_module(const tdl_modules *m, const char *path);

/* Reads -D NAME=N and --shape NAME=AxB for the model in a file.  Returns
 * CLI_USAGE, after printing a usage error, if one is malformed. */
cli_status job_model_options(job *d, const char *model,
				const cli_words *defines,
				const cli_words *shapes, model_options *o);

/* Returns CLI_USAGE, after a message, if one of the options names nothing in
 * the model. */
cli_status job_check_used(job *d, const model_options *o);

#endif

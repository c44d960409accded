/* The frame that all commands of tdlc share: options, modules, output.
 *
 * A command is one file, command_NAME() in it, and one row in commands.def.
 * It calls cli_parse() with its own options and DRIVER_OPTIONS(d), then the
 * stages in order, prints its result on standard output and returns a status.
 * It does not print diagnostics: they go into d->sink, and main() prints them
 * and turns CLI_OK into CLI_INPUT where there are errors.
 *
 * 	cli_status command_show(driver *d, int argc, char **argv)
 * 	{
 * 		bool dot = false;
 * 		const cli_option options[] = {
 * 			{ CLI_FLAG, 0, "dot", NULL, "print it for graphviz",
 * 			  &dot },
 * 			DRIVER_OPTIONS(d),
 * 			{ CLI_END },
 * 		};
 * 		cli_status status;
 * 		int first = cli_parse(d->arena, &d->program, options, argc,
 * 				      argv, &status);
 * 		if (first < 0)
 * 			return status;
 * 		..
 * 	} */
#ifndef TDL_COMPILER_DRIVER_DRIVER_H
#define TDL_COMPILER_DRIVER_DRIVER_H

#include "base/cli.h"
#include "base/diag.h"
#include "base/json.h"
#include "compiler/model/model.h"
#include "dsl/dsl.h"

typedef struct driver {
	cli_program program; /* of the command: "tdlc plan" */
	arena *arena;	     /* of all allocations of the command */
	diag_sink *sink;
	cli_words folders;   /* -I */
	const char *opdefs;  /* --opdefs, NULL if not given */
	cli_words load;	     /* --load */
	int diagnostics;     /* --diagnostics: 0 text, 1 json */
} driver;

extern const char *const driver_diagnostics[]; /* "text", "json" */

/* The options that every command has. */
#define DRIVER_OPTIONS(d)                                                    \
	{ CLI_REPEAT, 'I', "include", "DIR",                                 \
	  "look up imports in DIR too; may be repeated", &(d)->folders },    \
	{ CLI_TEXT, 0, "opdefs", "DIR",                                      \
	  "read the operator library from DIR", &(d)->opdefs },              \
	{ CLI_CHOICE, 0, "diagnostics", "FORMAT",                            \
	  "print diagnostics as text or json", &(d)->diagnostics,            \
	  .choices = driver_diagnostics }

/* For commands that call driver_load_opdefs(). */
#define DRIVER_OPTION_LOAD(d)                                                \
	{ CLI_REPEAT, 0, "load", "FILE",                                     \
	  "add FILE.tdl to the operator library; may be repeated",           \
	  &(d)->load }

/* --model NAME */
#define DRIVER_OPTION_MODEL(to)                                              \
	{ CLI_TEXT, 0, "model", "NAME",                                     \
	  "the model, of a TDL file with several", (to) }

/* -k N */
enum { DRIVER_MAX_DEVICES = 1 << 24 };
#define DRIVER_OPTION_K(to)                                                  \
	{ CLI_INT, 'k', "devices", "N", "the number of devices", (to),       \
	  .min = 1, .max = DRIVER_MAX_DEVICES }

#define DRIVER_OPTION_JSON(to)                                               \
	{ CLI_FLAG, 0, "json", NULL, "print the result as one JSON object",  \
	  (to) }

#define DRIVER_OPTION_OUTPUT(to)                                             \
	{ CLI_TEXT, 'o', "output", "FILE",                                   \
	  "write to FILE; - is standard output", (to) }

/* The folder of the operator library: --opdefs, else $TDL_OPDEFS, else the
 * folder beside the program (opdefs/ of the source tree for a program in its
 * build tree, ../share/tdlc/opdefs for an installed one), else the one of `make
 * install`. */
const char *driver_opdefs(driver *d);

/* Says that no operator of m has the name, in the files or the folder called
 * where, and which one was probably meant; returns CLI_USAGE. */
cli_status driver_no_operator(const driver *d, const tdl_modules *m,
			      const char *name, const char *where);

/* An empty set of modules that looks up imports in -I and the library. */
tdl_modules *driver_modules(driver *d);

/* The same with the whole library loaded: the .tdl files in its folder, then
 * those in onnx/, each in the order of the names, then those of --load.  NULL
 * when that gave errors. */
tdl_modules *driver_load_opdefs(driver *d);

/* The same for a model, which needs a part of the library only: faults in the
 * library's files are warnings, and definitions that have them are left out.  A
 * model in TDL needs nothing of onnx/, whose definitions might have the names
 * of its own. */
tdl_modules *driver_load_needed(driver *d, const char *model);

/* The module of a file, once it is loaded, by whatever path.  NULL if the file
 * could not be read. */
const ast_module *driver_module(const tdl_modules *m, const char *path);

/* -D NAME=N and --shape NAME=AxB for the model in a file.  On a malformed one
 * prints a usage error and returns CLI_USAGE. */
cli_status driver_model_options(driver *d, const char *model,
				const cli_words *defines,
				const cli_words *shapes, model_options *o);

/* CLI_USAGE, after a message, if one of the options names nothing in the
 * model. */
cli_status driver_check_used(driver *d, const model_options *o);

/* Prints to standard output, and steals the reference. */
cli_status driver_print_json(driver *d, json_t *json);

/* file_write(); prints a failure. */
cli_status driver_write(driver *d, const char *path, const void *data,
			size_t len);

#define COMMAND(name, synopsis, about) \
	cli_status command_##name(driver *d, int argc, char **argv);
#include "compiler/driver/commands.def"
#undef COMMAND

#endif

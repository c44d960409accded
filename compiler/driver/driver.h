/* The frame that all commands of tdlc share: options, modules, output.
 *
 * A command is one file, command_NAME() in it, and one row in commands.def.
 * It is to become a page (page.h), which uses the library and nothing else.
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
#include "libtdl/job.h"

typedef job driver;

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

#define DRIVER_OPTION_JSON(to)                                               \
	{ CLI_FLAG, 0, "json", NULL, "print the result as one JSON object",  \
	  (to) }

#define DRIVER_OPTION_OUTPUT(to)                                             \
	{ CLI_TEXT, 'o', "output", "FILE",                                   \
	  "write to FILE; - is standard output", (to) }

/* The folder that this program lies in; NULL where the system has no
 * /proc/self/exe. */
char *driver_folder(arena *a);

/* Prints to standard output, and steals the reference. */
cli_status driver_print_json(driver *d, json_t *json);

/* file_write(); prints a failure. */
cli_status driver_write(driver *d, const char *path, const void *data,
			size_t len);

#define COMMAND(name, synopsis, about) \
	cli_status command_##name(driver *d, int argc, char **argv);
#define PAGE(name, synopsis, about)
#include "compiler/driver/commands.def"
#undef COMMAND
#undef PAGE

#endif

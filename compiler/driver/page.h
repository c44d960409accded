/* The frame of a command of tdlc: it parses options, makes a few calls of the
 * library and prints the result.  A page includes nothing of ours but tdl.h and
 * base/.
 *
 * A command is one file with command_NAME(), and one row in commands.def:
 *
 *	cli_status command_ops(page *p, int argc, char **argv)
 *	{
 *		const cli_option options[] = {
 *			PAGE_OPTION_JSON(p),
 *			PAGE_OPTIONS(p),
 *			{ CLI_END },
 *		};
 *		page_options(p, options);
 *		page_function(p, "tdl_module_verify", "op");
 *		const char *path = page_one(p, argc, argv,
 *					    "one file is expected");
 *		if (!path)
 *			return p->status;
 *		tdl_module *m = tdl_module_load(p->context, path);
 *		if (page_failed(p))
 *			return p->status;
 *		return page_print(p, tdl_module_verify(
 *			m, NULL, page_given(p, "tdl_module_verify")));
 *	}
 *
 * Messages about the command line are printed at once.  Diagnostics are
 * collected by page_failed() and page_print(), and printed at the end by
 * main(). */
#ifndef TDL_COMPILER_DRIVER_PAGE_H
#define TDL_COMPILER_DRIVER_PAGE_H

#include "base/cli.h"
#include "base/diag.h"
#include "include/tdl/tdl.h"

typedef VEC(diag_view) page_views;

/* An option of a library function, and the values given for it. */
typedef struct page_option {
	const char *function, *name;
	bool flag;	 /* it is a flag, .. */
	cli_words *words; /* .. or has values */
} page_option;

typedef struct page {
	cli_program program; /* "tdlc plan" */
	arena *arena;
	tdl_context *context; /* from page_begin() on */
	cli_status status;
	page_views found;
	/* The command line. */
	VEC(cli_option) rows;
	VEC(page_option *) options;
	cli_words folders; /* -I */
	const char *opdefs;
	cli_words load;	   /* --load */
	int diagnostics;   /* --diagnostics: of page_diagnostics[] */
	bool progress;	   /* --progress; and what shows it meanwhile */
	struct page_progress *progressing;
	/* -Werror; warned: it has turned a warning into an error */
	bool strict;
	bool warned;
	cli_words profiles; /* --profile */
	bool json;
	const char *output; /* -o; NULL */
	char **operands;    /* of the command line; noperands of them */
	int noperands;
	cli_words reads;    /* other files that are read */
	cli_words written;  /* files that page_can_write() has checked */
} page;

extern const char *const page_diagnostics[]; /* "text", "json", "sarif" */

/* The options that every command has. */
#define PAGE_OPTIONS(p)                                                      \
	{ CLI_REPEAT, 'I', "include", "DIR",                                 \
	  "look up imports in DIR too; may be repeated", &(p)->folders },    \
	{ CLI_TEXT, 0, "opdefs", "DIR",                                      \
	  "read the operator library from DIR", &(p)->opdefs },              \
	{ CLI_CHOICE, 0, "diagnostics", "FORMAT",                            \
	  "print diagnostics as text, json or sarif", &(p)->diagnostics,     \
	  .choices = page_diagnostics }

#define PAGE_OPTION_STRICT(p)                                                \
	{ CLI_FLAG, 0, "-Werror", NULL, "treat warnings as errors",          \
	  &(p)->strict }

#define PAGE_OPTION_JSON(p)                                                  \
	{ CLI_FLAG, 0, "json", NULL, "print the result as one JSON object",  \
	  &(p)->json }

/* Applies to calls between progress_begin() and progress_end() (progress.h). */
#define PAGE_OPTION_PROGRESS(p)                                              \
	{ CLI_FLAG, 0, "progress", NULL,                                     \
	  "show progress after a second, even if standard error is not a "   \
	  "terminal", &(p)->progress }

#define PAGE_OPTION_OUTPUT(p)                                                \
	{ CLI_TEXT, 'o', "output", "FILE",                                   \
	  "write to FILE; - is standard output", &(p)->output }

#define PAGE_OPTION_LOAD(p)                                                  \
	{ CLI_REPEAT, 0, "load", "FILE",                                     \
	  "add FILE.tdl to the operator library; may be repeated",           \
	  &(p)->load }

#define PAGE_OPTION_PROFILE(p)                                               \
	{ CLI_REPEAT, 0, "profile", "FILE",                                  \
	  "predict times from the measurements of tdlrun --profile or tdlc " \
	  "profile; may be repeated", &(p)->profiles }

#define PAGE_OPTION_TOPOLOGY(p, to)                                          \
	{ CLI_TEXT, 0, "topology", "T",                                      \
	  "the machine: a preset (cpu, 8xk80, 8xh100-nvlink, 2x8xh100, "     \
	  "h100-cluster) or a file", (to),                                   \
	  .choices = page_words((p), "tdl_plan_facts", "topology") }

/* The words that an option of a function of tdl.h accepts. */
const char *const *page_words(page *p, const char *function, const char *name);

/* Whether a file is a model, by its name; whether it is a plan, by its first
 * bytes. */
bool page_is_model(const char *path);
bool page_is_plan(const char *path);

/* Whether the options about models, -I, --opdefs and --load, apply to a file.
 * They do not for a cost graph; prints a message then. */
bool page_takes_model(page *p, const char *path);

/* Add options, in the order of the help: a table that ends in { CLI_END };
 * those of a function of tdl.h, without the names listed in `except', separated
 * by blanks, or NULL. */
void page_options(page *p, const cli_option *table);
void page_function(page *p, const char *function, const char *except);

/* Parses the command line and makes the context.  Returns the index of the
 * first operand; -1 if the command ends with p->status. */
int page_begin(page *p, int argc, char **argv);

/* page_begin() for a command with one operand, which is returned; NULL if the
 * command ends with p->status. expected: "one model is expected". */
const char *page_one(page *p, int argc, char **argv, const char *expected);

/* The first operand of a command line, parsed by the options added so far (the
 * first one, of several with the same name); NULL if there is none.  Appends
 * the names of the options given.  Call it before the page_begin() of another
 * page. */
const char *page_operand(const page *p, int argc, char **argv,
			 cli_words *names);

/* Whether the options given for a function are consistent; prints its message
 * if not. */
bool page_agrees(page *p, const char *function);

/* Loads the model of a file with the options of tdl_model_load; loads a plan.
 * NULL if the command ends with p->status. */
tdl_model *page_model(page *p, const char *path);
tdl_plan *page_plan(page *p, const char *path);

/* The values given for the options of a function; whether an option, or any if
 * name is NULL, was given. page_give() adds a value. */
const tdl_option *page_given(page *p, const char *function);
bool page_has(const page *p, const char *function, const char *name);
void page_give(page *p, const char *function, const char *name,
	       const char *value);

/* Collects the messages of the last call and sets p->status.  Returns whether
 * it failed. */
bool page_failed(page *p);

/* Calls page_failed(), prints the text of the last call, unless it is NULL, and
 * frees it.  Returns p->status. */
cli_status page_print(page *p, char *text);

/* Collects the messages of the last call and moves its text to the arena of the
 * page; NULL. */
const char *page_keep(page *p, char *text);

/* Writes a file; prints a failure and returns the status. page_write_text()
 * writes the text of the last call, unless it is NULL, and frees it. */
cli_status page_write(page *p, const char *path, const void *data, size_t n);
cli_status page_write_text(page *p, const char *path, char *text);

/* Whether a file can probably be written, checked before a long search, and is
 * neither an operand nor another file asked for; prints a message if not.  NULL
 * is no file. */
bool page_can_write(page *p, const char *path);

/* The same for files in a folder. */
bool page_can_write_in(page *p, const char *folder);

/* Whether the output is the standard output. */
bool page_to_stdout(const page *p);

/* Prints the diagnostics and frees the context; returns the status of the
 * program. */
cli_status page_end(page *p);

#endif

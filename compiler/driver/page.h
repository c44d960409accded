/* The frame of a command of tdlc: options, one call of the library or a few,
 * the result printed.  Of the house a page knows tdl.h, and base/.
 *
 * A command is one file, command_NAME() in it, and one row in commands.def:
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
 * Messages about the command line are printed at once; diagnostics, which
 * page_failed() and page_print() collect, at the end, by main(). */
#ifndef TDL_COMPILER_DRIVER_PAGE_H
#define TDL_COMPILER_DRIVER_PAGE_H

#include "base/cli.h"
#include "base/diag.h"
#include "include/tdl/tdl.h"

typedef VEC(diag_view) page_views;

/* An option of a function of the library, and what was given for it. */
typedef struct page_option {
	const char *function, *name;
	bool flag;	 /* it is one, .. */
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
	bool progress;	   /* --progress; and what shows it, while it does */
	struct page_progress *progressing;
	bool strict;	   /* -Werror; warned: it has made an error of one */
	bool warned;
	cli_words profiles; /* --profile */
	bool json;
	const char *output; /* -o; NULL */
	char **operands;    /* of the command line; noperands of them */
	int noperands;
	cli_words reads;    /* other files that are read */
	cli_words written;  /* what page_can_write() has seen */
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
	{ CLI_FLAG, 0, "-Werror", NULL, "take warnings for errors",          \
	  &(p)->strict }

#define PAGE_OPTION_JSON(p)                                                  \
	{ CLI_FLAG, 0, "json", NULL, "print the result as one JSON object",  \
	  &(p)->json }

/* Of calls between progress_begin() and progress_end() (progress.h). */
#define PAGE_OPTION_PROGRESS(p)                                              \
	{ CLI_FLAG, 0, "progress", NULL,                                     \
	  "say what is done, after a second, where standard error is no "    \
	  "terminal, too", &(p)->progress }

#define PAGE_OPTION_OUTPUT(p)                                                \
	{ CLI_TEXT, 'o', "output", "FILE",                                   \
	  "write to FILE; - is standard output", &(p)->output }

#define PAGE_OPTION_LOAD(p)                                                  \
	{ CLI_REPEAT, 0, "load", "FILE",                                     \
	  "add FILE.tdl to the operator library; may be repeated",           \
	  &(p)->load }

#define PAGE_OPTION_PROFILE(p)                                               \
	{ CLI_REPEAT, 0, "profile", "FILE",                                  \
	  "predict times by what tdlrun --profile, or tdlc profile, has "   \
	  "measured; may be repeated", &(p)->profiles }

#define PAGE_OPTION_TOPOLOGY(p, to)                                          \
	{ CLI_TEXT, 0, "topology", "T",                                      \
	  "the machine: a preset (cpu, 8xk80, 8xh100-nvlink, 2x8xh100, "     \
	  "h100-cluster) or a file", (to),                                   \
	  .choices = page_words((p), "tdl_plan_facts", "topology") }

/* Words that an option of a function of tdl.h may have as its value. */
const char *const *page_words(page *p, const char *function, const char *name);

/* Whether a file is a model, by its name; a plan, by how it begins. */
bool page_is_model(const char *path);
bool page_is_plan(const char *path);

/* Whether the options about models, -I, --opdefs and --load, go with a file:
 * not with a cost graph, after a message. */
bool page_takes_model(page *p, const char *path);

/* Adds options, in the order of the help: a table that ends in { CLI_END }, and
 * those of a function of tdl.h, except the names in a text with blanks, or
 * NULL. */
void page_options(page *p, const cli_option *table);
void page_function(page *p, const char *function, const char *except);

/* Parses the command line, and makes the context.  The index of the first
 * operand; -1 where the command ends with p->status. */
int page_begin(page *p, int argc, char **argv);

/* page_begin() of a command with one operand, and that; NULL where the command
 * ends with p->status.  expected: "one model is expected". */
const char *page_one(page *p, int argc, char **argv, const char *expected);

/* The first operand of a command line by the options that were added, of those
 * of one name the first; NULL: there is none.  Adds the names of options that
 * are given.  It comes ahead of page_begin(), of another page. */
const char *page_operand(const page *p, int argc, char **argv,
			 cli_words *names);

/* Whether the options that were given for a function go together; if not, with
 * its message. */
bool page_agrees(page *p, const char *function);

/* The model of a file, by the options of tdl_model_load; the plan of one.  NULL
 * where the command ends with p->status. */
tdl_model *page_model(page *p, const char *path);
tdl_plan *page_plan(page *p, const char *path);

/* The values that were given for options of a function; whether an option, or,
 * NULL, any, was given.  page_give() gives another value. */
const tdl_option *page_given(page *p, const char *function);
bool page_has(const page *p, const char *function, const char *name);
void page_give(page *p, const char *function, const char *name,
	       const char *value);

/* Collects what the last call has said, and its status, p->status.  Whether it
 * failed. */
bool page_failed(page *p);

/* page_failed(), and prints the text of the last call, unless it is NULL, and
 * frees it.  Returns p->status. */
cli_status page_print(page *p, char *text);

/* The text of the last call, whose messages are collected, in the arena of the
 * page; NULL. */
const char *page_keep(page *p, char *text);

/* A file; a failure is printed and the status.  page_write_text() writes the
 * text of the last call, unless it is NULL, and frees it. */
cli_status page_write(page *p, const char *path, const void *data, size_t n);
cli_status page_write_text(page *p, const char *path, char *text);

/* Whether a file can be written, as far as that is known ahead of a long
 * search, and is neither an operand nor a file that was asked for; if not, with
 * a message.  NULL is no file. */
bool page_can_write(page *p, const char *path);

/* The same of files in a folder. */
bool page_can_write_in(page *p, const char *folder);

/* Whether the output is the standard output. */
bool page_to_stdout(const page *p);

/* Prints the diagnostics, and ends the context; the status of the program. */
cli_status page_end(page *p);

#endif

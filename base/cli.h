/* The command line of a program: its options from one table, its exit status.
 *
 * getopt_long() parses by a table of cli_option, and the help is printed from
 * the same table, so that an option is documented if and only if it is
 * accepted.  These functions are the outermost layer of main(): they print. */
#ifndef TDL_BASE_CLI_H
#define TDL_BASE_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"

/* Exit statuses of tdlc and tdlrun. */
typedef enum cli_status {
	CLI_OK = 0,
	CLI_INPUT = 1,	    /* the input is faulty; diagnostics say why */
	CLI_USAGE = 2,	    /* the command line is wrong */
	CLI_NO_PLAN = 3,    /* no plan satisfies the limits */
	CLI_MACHINE = 4,    /* output, device, peer failed */
	CLI_DIFFERENCE = 5, /* --verify, verify found a difference */
} cli_status;

typedef struct cli_program {
	const char *name;     /* "tdlc plan" */
	const char *synopsis; /* "MODEL -k N [OPTION]..." */
	const char *about;    /* the command's purpose, a sentence or more */
	/* Receives the messages of cli_usage() and cli_failed(), which
	 * otherwise go to standard error; NULL for a program. */
	void (*say)(void *to, const char *text);
	void *to;
	bool members; /* messages name options "devices", not "--devices" */
} cli_program;

/* The values of an option that may be repeated, in the order given. */
typedef VEC(const char *) cli_words;

typedef enum cli_kind {
	CLI_END,
	CLI_FLAG,   /* bool *to becomes true */
	CLI_INT,    /* int64_t *to, min <= value <= max */
	CLI_COUNT,  /* the same, or CLI_ALONE where there is no "=value" */
	CLI_REAL,   /* double *to, finite, min <= value <= max */
	CLI_TEXT,   /* const char **to */
	CLI_REPEAT, /* cli_words *to */
	CLI_CHOICE, /* int *to becomes the index in choices, NULL-terminated */
} cli_kind;

enum { CLI_ALONE = -1 };

typedef struct cli_option {
	cli_kind kind;
	char letter;	  /* 'k' for -k; 0 for none */
	/* "devices" for --devices; a name that begins with '-', as "-MF", is
	 * used as it stands; NULL for none */
	const char *name;
	const char *arg;  /* "N", in the help; NULL for a flag */
	/* lower case, no full stop; the printer breaks it into lines */
	const char *help;
	void *to;
	double min, max;
	/* NULL-terminated, or NULL.  CLI_CHOICE: all values.  CLI_TEXT: some
	 * values, for completion. */
	const char *const *choices;
} cli_option;

/* Parses argv[1..argc) by the table, which ends in { CLI_END }.  Operands are
 * moved to the end of argv; argv[argc] stays NULL.  Every program accepts
 * --help, and --help=NAME, which prints the choices of the option with that
 * name or letter, one per line.  Returns the index of the first operand; or -1
 * if main() has to end with *status: after --help, or after an error, which has
 * been printed. */
int cli_parse(arena *a, const cli_program *p, const cli_option *options,
	      int argc, char **argv, cli_status *status);

/* Returns the first operand of a command line that is not yet parsed; NULL if
 * there is none.  Appends the long names of the options given to *names.
 * Prints nothing, sets nothing and leaves argv in order. */
const char *cli_operand(arena *a, const cli_option *options, int argc,
			char *const *argv, cli_words *names);

/* Sets the option with this long name, or letter, as --name=value would; value
 * is NULL for a flag.  Returns CLI_USAGE, after a message, if there is no such
 * option or the value does not suit it. */
cli_status cli_set(arena *a, const cli_program *p, const cli_option *options,
		   const char *name, const char *value);

/* Prints "tdlc plan: " with the message and "Try 'tdlc plan --help' ..".
 * Returns CLI_USAGE. */
cli_status cli_usage(const cli_program *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints "tdlc plan: " with the message; returns CLI_MACHINE. */
cli_status cli_failed(const cli_program *p, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The GNU form of --version, on standard output. */
void cli_version(const char *program);

/* Closes standard output, so that a full disk is noticed.  Returns status for
 * main() to end with, or CLI_MACHINE, after a message, if closing failed. */
cli_status cli_finish(const char *program, cli_status status);

/* Whether standard error is a terminal other than TERM=dumb. */
bool cli_terminal(void);

/* Whether output to standard error may be coloured: cli_terminal() holds, and
 * NO_COLOR is not set (no-color.org). */
bool cli_colour(void);

/* Reads a whole number, min <= *v <= max, that takes up all of text. */
bool cli_int(const char *text, int64_t min, int64_t max, int64_t *v);

/* Splits NAME=VALUE at the first '='; both parts are in a.  Returns false and
 * sets neither if there is no '=' or the name is empty. */
bool cli_setting(arena *a, const char *text, const char **name,
		 const char **value);

/* Splits NAME=2x3x4 at the last '='.  NAME= is a shape without dimensions.
 * Returns the number of dimensions, each >= 0; -1 if the text is malformed or
 * has more than max. */
int cli_shape(arena *a, const char *text, const char **name, int64_t *dims,
	      int max);

#endif

/* The command line of a program: its options from one table, its exit status.
 *
 * A table of cli_option is parsed by getopt_long(), and the help is printed
 * from the same table, so that an option is documented if and only if it is
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
	CLI_INPUT = 1,	    /* the input is at fault; diagnostics say why */
	CLI_USAGE = 2,	    /* the command line is wrong */
	CLI_NO_PLAN = 3,    /* no plan satisfies the limits */
	CLI_MACHINE = 4,    /* output, device, peer failed */
	CLI_DIFFERENCE = 5, /* --verify, verify found a difference */
} cli_status;

typedef struct cli_program {
	const char *name;     /* "tdlc plan" */
	const char *synopsis; /* "MODEL -k N [OPTION]..." */
	const char *about;    /* the command's purpose, a sentence or more */
	/* Gets the messages of cli_usage() and cli_failed() in place of
	 * standard error; NULL for a program. */
	void (*say)(void *to, const char *text);
	void *to;
	bool members; /* messages name options "devices", not "--devices" */
} cli_program;

/* Words given to an option that may be repeated, in their order. */
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
	const char *name; /* "devices" for --devices; "-MF" for -MF, spelled
			     so; NULL for none */
	const char *arg;  /* "N", in the help; NULL for a flag */
	const char *help; /* lower case, no full stop; broken into lines
			     by the printer */
	void *to;
	double min, max;
	/* The values of a CLI_CHOICE; of a text some that it may have, for
	 * completion; NULL-terminated.  NULL for none. */
	const char *const *choices;
} cli_option;

/* Parses argv[1..argc) by the table, which ends in { CLI_END }; operands are
 * moved to the end of argv and argv[argc] stays NULL.  --help is always
 * accepted, and --help=NAME, which prints the choices of the option of that
 * name or letter, a line each.  Returns the index of the first operand; or -1
 * if main() has to end with *status: after --help, or after an error, which
 * has been printed. */
int cli_parse(arena *a, const cli_program *p, const cli_option *options,
	      int argc, char **argv, cli_status *status);

/* The first operand that a command line has by a table, before it is parsed;
 * NULL.  Adds the long names of the options that are given.  Nothing is
 * printed, nor set, nor moved. */
const char *cli_operand(arena *a, const cli_option *options, int argc,
			char *const *argv, cli_words *names);

/* Sets one option by its long name, or its letter, as --name=value would;
 * value is NULL for a flag.  CLI_USAGE, after a message, if there is none or
 * the value does not suit it. */
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

/* Ends main(): closes standard output, so that a full disk is noticed, and
 * returns status, or CLI_MACHINE with a message where that failed. */
cli_status cli_finish(const char *program, cli_status status);

/* Whether standard error is a terminal that is not dumb. */
bool cli_terminal(void);

/* Whether output to standard error may be coloured: it is such a terminal, and
 * NO_COLOR is not set (no-color.org). */
bool cli_colour(void);

/* A whole number, all of text and nothing else, min <= *v <= max. */
bool cli_int(const char *text, int64_t min, int64_t max, int64_t *v);

/* NAME=VALUE as its two parts, split at the first '='.  False, with neither
 * set, where there is no '=' or the name is empty. */
bool cli_setting(arena *a, const char *text, const char **name,
		 const char **value);

/* NAME=2x3x4 split at the last '='.  NAME= is a shape without dimensions.
 * Returns the number of dimensions, each >= 0; -1 if it is malformed or has
 * more than max. */
int cli_shape(arena *a, const char *text, const char **name, int64_t *dims,
	      int max);

#endif

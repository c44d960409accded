#include "config.h"

#include "base/cli.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

enum {
	LONG_VALUES = CHAR_MAX + 1, /* value that getopt returns for row 0 */
	HELP_COLUMN = 26,
};

/* ---- messages ---------------------------------------------------------- */

static void complain(const cli_program *p, const char *fmt, va_list ap)
{
	if (p->say) {
		arena *tmp = arena_new();
		p->say(p->to, arena_vprintf(tmp, fmt, ap));
		arena_free(tmp);
		return;
	}
	fflush(stdout);
	fprintf(stderr, "%s: ", p->name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

static cli_status try_help(const cli_program *p)
{
	if (!p->say)
		fprintf(stderr, "Try '%s --help' for more information.\n",
			p->name);
	return CLI_USAGE;
}

cli_status cli_usage(const cli_program *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	complain(p, fmt, ap);
	va_end(ap);
	return try_help(p);
}

cli_status cli_failed(const cli_program *p, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	complain(p, fmt, ap);
	va_end(ap);
	return CLI_MACHINE;
}

void cli_version(const char *program)
{
	printf("%s (%s) %s\n"
	       "License Apache-2.0: Apache License, version 2.0 "
	       "<https://www.apache.org/licenses/LICENSE-2.0>.\n"
	       "There is NO WARRANTY, to the extent permitted by law.\n",
	       program, PACKAGE_NAME, PACKAGE_VERSION);
}

cli_status cli_finish(const char *program, cli_status status)
{
	bool failed = ferror(stdout);
	bool pending = __fpending(stdout) > 0;
	errno = 0;
	/* A descriptor that was closed from the start is an error only if
	 * something should have been written to it. */
	if (fclose(stdout) && (pending || errno != EBADF))
		failed = true;
	if (!failed)
		return status;
	fprintf(stderr, "%s: standard output: %s\n", program,
		errno ? strerror(errno) : "write error");
	return CLI_MACHINE;
}

bool cli_terminal(void)
{
	const char *term = getenv("TERM");
	return term && strcmp(term, "dumb") && isatty(STDERR_FILENO);
}

bool cli_colour(void)
{
	const char *no = getenv("NO_COLOR");
	return !(no && *no) && cli_terminal();
}

/* ---- help -------------------------------------------------------------- */

/* Prints "  -k, --devices=N", padded, and the help.  The help goes to the next
 * line if there is no room beside it. */
static void print_option(const cli_option *o)
{
	bool dash = o->name && o->name[0] == '-';
	int n = printf("  ");
	if (o->letter)
		n += printf("-%c%s", o->letter, o->name ? ", " : "");
	else if (!dash)
		n += printf("    ");
	if (o->name)
		n += printf("%s%s", dash ? "" : "--", o->name);
	if (o->arg && o->kind == CLI_COUNT)
		n += printf("[=%s]", o->arg);
	else if (o->arg)
		n += printf("%s%s", o->name && !dash ? "=" : " ", o->arg);
	if (n > HELP_COLUMN - 2) {
		putchar('\n');
		n = 0;
	}
	printf("%*s", HELP_COLUMN - n, "");
	text_wrap(stdout, o->help, HELP_COLUMN, HELP_COLUMN);
}

static void print_help(const cli_program *p, const cli_option *options)
{
	static const cli_option help = { CLI_FLAG, 'h', "help", NULL,
					 "print this help and exit", NULL };
	printf("Usage: %s %s\n", p->name, p->synopsis);
	text_wrap(stdout, p->about, 0, 0);
	putchar('\n');
	for (const cli_option *o = options; o->kind != CLI_END; o++)
		print_option(o);
	print_option(&help);
}

/* Whether an option has this name or letter. */
static bool is_called(const cli_option *o, const char *name)
{
	return (o->letter && name[0] == o->letter && !name[1]) ||
	       (o->name && !strcmp(o->name, name));
}

/* Prints the choices of an option given by name or letter, one per line. */
static cli_status print_choices(const cli_program *p, const cli_option *options,
				const char *name)
{
	const cli_option *o = options;
	while (o->kind != CLI_END && !is_called(o, name))
		o++;
	if (o->kind == CLI_END)
		return cli_usage(p, "there is no option '%s'", name);
	for (int i = 0; o->choices && o->choices[i]; i++)
		puts(o->choices[i]);
	return CLI_OK;
}

/* ---- values ------------------------------------------------------------ */

bool cli_int(const char *text, int64_t min, int64_t max, int64_t *v)
{
	char *end;
	if (!isdigit((unsigned char)text[text[0] == '-']))
		return false;
	errno = 0;
	long long x = strtoll(text, &end, 10);
	if (*end || errno || x < min || x > max)
		return false;
	*v = x;
	return true;
}

static bool read_real(const char *text, double min, double max, double *v)
{
	char *end;
	if (!*text || isspace((unsigned char)*text))
		return false;
	double x = strtod(text, &end);
	if (*end || !isfinite(x) || x < min || x > max)
		return false;
	*v = x;
	return true;
}

bool cli_setting(arena *a, const char *text, const char **name,
		 const char **value)
{
	const char *eq = strchr(text, '=');
	if (!eq || eq == text)
		return false;
	*name = arena_strndup(a, text, (size_t)(eq - text));
	*value = arena_strdup(a, eq + 1);
	return true;
}

int cli_shape(arena *a, const char *text, const char **name, int64_t *dims,
	      int max)
{
	const char *eq = strrchr(text, '=');
	if (!eq || eq == text)
		return -1;
	*name = arena_strndup(a, text, (size_t)(eq - text));
	int n = 0;
	for (char *p = arena_strdup(a, eq + 1), *next; *p; p = next, n++) {
		next = p + strcspn(p, "x");
		if (*next == 'x') {
			*next++ = 0;
			if (!*next)
				return -1;
		}
		if (n == max || !cli_int(p, 0, INT64_MAX, &dims[n]))
			return -1;
	}
	return n;
}

/* ---- parsing ----------------------------------------------------------- */

/* "option '--devices'" for the program's messages. */
static const char *option_name(arena *a, const cli_program *p,
			       const cli_option *o)
{
	const char *dash = p->members ? "" : "-";
	if (!o->name)
		return arena_printf(a, "%s%c", dash, o->letter);
	return arena_printf(a, "%s%s%s", o->name[0] == '-' ? "" : dash, dash,
			    o->name);
}

static cli_status bad_number(arena *a, const cli_program *p,
			     const cli_option *o, const char *text)
{
	const char *name = option_name(a, p, o);
	const char *kind = o->kind != CLI_REAL ? "a whole number" : "a number";
	return cli_usage(p,
			 "option '%s' takes %s from %.15g to %.15g, not '%s'",
			 name, kind, o->min, o->max, text);
}

static cli_status choose(arena *a, const cli_program *p, const cli_option *o,
			 const char *text)
{
	const char *all = "";
	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(o->choices[i], text)) {
			*(int *)o->to = i;
			return CLI_OK;
		}
		all = arena_printf(a, "%s%s%s", all, i ? ", " : "",
				   o->choices[i]);
	}
	return cli_usage(p, "option '%s' takes one of %s, not '%s'",
			 option_name(a, p, o), all, text);
}

static cli_status take(arena *a, const cli_program *p, const cli_option *o,
		       char *text)
{
	switch (o->kind) {
	case CLI_FLAG:
		*(bool *)o->to = true;
		break;
	case CLI_COUNT:
		if (!text) {
			*(int64_t *)o->to = CLI_ALONE;
			break;
		}
		/* fallthrough */
	case CLI_INT:
		if (!cli_int(text, (int64_t)o->min, (int64_t)o->max, o->to))
			return bad_number(a, p, o, text);
		break;
	case CLI_REAL:
		if (!read_real(text, o->min, o->max, o->to))
			return bad_number(a, p, o, text);
		break;
	case CLI_TEXT:
		*(const char **)o->to = text;
		break;
	case CLI_REPEAT:
		vec_push(a, (cli_words *)o->to, text);
		break;
	case CLI_CHOICE:
		return choose(a, p, o, text);
	case CLI_END:
		break;
	}
	return CLI_OK;
}

/* The option table in the form for getopt_long().  Row i returns its letter, or
 * LONG_VALUES + i. */
typedef struct getopt_table {
	char *letters;
	struct option *longs;
} getopt_table;

/* Whether getopt takes a value for this kind of option. */
static int value_of(cli_kind kind)
{
	return kind == CLI_FLAG    ? no_argument
	       : kind == CLI_COUNT ? optional_argument
				   : required_argument;
}

static getopt_table make_table(arena *a, const cli_option *options)
{
	int n = 0, m = 0;
	while (options[n].kind != CLI_END)
		n++;
	getopt_table t = { arena_alloc(a, 2 * (size_t)n + 2),
			   ARENA_ARRAY(a, struct option, n + 2) };
	char *l = t.letters;
	for (int i = 0; i < n; i++) {
		const cli_option *o = &options[i];
		if (o->letter)
			*l++ = o->letter;
		if (o->letter && o->kind != CLI_FLAG)
			*l++ = ':';
		if (o->name)
			t.longs[m++] = (struct option){
				o->name + (o->name[0] == '-'),
				value_of(o->kind),
				NULL, LONG_VALUES + i
			};
	}
	*l = 'h';
	t.longs[m] = (struct option){ "help", optional_argument, NULL,
					'h' };
	return t;
}

/* Rewrites -MF and similar words to --MF, as getopt_long() does not know
 * options with one dash and several letters. */
static void double_dashes(arena *a, const cli_option *options, int argc,
			  char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++)
		for (const cli_option *o = options; o->kind != CLI_END; o++)
			if (o->name && o->name[0] == '-' &&
			    !strcmp(argv[i], o->name))
				argv[i] = arena_printf(a, "-%s", argv[i]);
}

static const cli_option *find_row(const cli_option *options, int value)
{
	if (value >= LONG_VALUES)
		return &options[value - LONG_VALUES];
	while (options->letter != value)
		options++;
	return options;
}

const char *cli_operand(arena *a, const cli_option *options, int argc,
			char *const *argv, cli_words *names)
{
	getopt_table t = make_table(a, options);
	char **words = ARENA_ARRAY(a, char *, argc + 1);
	int value;
	memcpy(words, argv, (size_t)argc * sizeof(*words));
	double_dashes(a, options, argc, words);
	optind = opterr = 0;
	while ((value = getopt_long(argc, words, t.letters, t.longs, NULL)) !=
	       -1) {
		const cli_option *o = value != 'h' && value != '?' ?
			find_row(options, value) : NULL;
		if (o && o->name)
			vec_push(a, names, o->name);
	}
	opterr = 1;
	return optind < argc ? words[optind] : NULL;
}

int cli_parse(arena *a, const cli_program *p, const cli_option *options,
	      int argc, char **argv, cli_status *status)
{
	getopt_table t = make_table(a, options);
	int value;
	double_dashes(a, options, argc, argv);
	argv[0] = arena_strdup(a, p->name); /* prefix of getopt's messages */
	optind = 0;
	while ((value = getopt_long(argc, argv, t.letters, t.longs, NULL)) !=
	       -1) {
		if (value == 'h') {
			*status = CLI_OK;
			if (optarg)
				*status = print_choices(p, options, optarg);
			else
				print_help(p, options);
			return -1;
		}
		*status = value == '?' ? try_help(p)
				       : take(a, p, find_row(options, value),
					      optarg);
		if (*status != CLI_OK)
			return -1;
	}
	*status = CLI_OK;
	return optind;
}

cli_status cli_set(arena *a, const cli_program *p, const cli_option *options,
		   const char *name, const char *value)
{
	for (const cli_option *o = options; o->kind != CLI_END; o++) {
		if (!is_called(o, name))
			continue;
		if (o->kind != CLI_COUNT && (o->kind == CLI_FLAG) != !value)
			return cli_usage(p, "option '%s' takes %s value", name,
					 value ? "no" : "a");
		return take(a, p, o, value ? arena_strdup(a, value) : NULL);
	}
	return cli_usage(p, "there is no option '%s'", name);
}

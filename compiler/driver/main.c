/* tdlc: finds the command, runs it, prints its diagnostics. */
#include "config.h"

#include <stdio.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/spelling.h"
#include "compiler/driver/commands.h"

typedef struct command {
	const char *name, *synopsis, *about;
	cli_status (*run)(page *p, int argc, char **argv);
} command;

static const command commands[] = {
#define PAGE(name, synopsis, about) \
	{ #name, synopsis, about, command_##name },
#include "compiler/driver/commands.def"
#undef PAGE
	{ 0 }
};

static const cli_program tdlc = {
	"tdlc", "COMMAND [OPTION]... [FILE]...",
	"Partition tensor computations over devices."
};

static void print_help(void)
{
	printf("Usage: %s %s\n%s\n\nCommands:\n", tdlc.name, tdlc.synopsis,
	       tdlc.about);
	for (const command *c = commands; c->name; c++)
		printf("  %-10s %s\n", c->name, c->about);
	fputs("\n"
	      "  -h, --help     print this help and exit\n"
	      "  -V, --version  print the version and exit\n"
	      "\n"
	      "'tdlc COMMAND --help' and 'tdlc help COMMAND' describe a "
	      "command,\n"
	      "'tdlc COMMAND --help=OPTION' lists values of an option.\n"
	      "\n"
	      "Exit status: 0 done, 1 the input is at fault, 2 the command\n"
	      "line is wrong, 3 no plan satisfies the limits, 4 the machine\n"
	      "failed, 5 a verification found a difference.\n", stdout);
}

static const command *find_command(const char *name)
{
	for (const command *c = commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

static cli_program program_of(arena *a, const command *c)
{
	return (cli_program){
		.name = arena_printf(a, "tdlc %s", c->name),
		.synopsis = c->synopsis,
		.about = arena_printf(a, "%c%s.", c->about[0] - 'a' + 'A',
				      c->about + 1)
	};
}

/* argv[0] is the name of the command. */
static cli_status run(const command *c, int argc, char **argv)
{
	arena *a = arena_new();
	page p = { .arena = a, .program = program_of(a, c) };
	p.status = c->run(&p, argc, argv);
	cli_status status = page_end(&p);
	arena_free(a);
	return status;
}

static cli_status dispatch(const char *name, int argc, char **argv)
{
	const command *c = find_command(name);
	if (c)
		return run(c, argc, argv);
	spelling s = { .given = name };
	for (c = commands; c->name; c++)
		spelling_try(&s, c->name);
	arena *a = arena_new();
	cli_usage(&tdlc, "unknown command '%s'%s", name, spelling_hint(&s, a));
	arena_free(a);
	return CLI_USAGE;
}

/* tdlc help [COMMAND] */
static cli_status help(int argc, char **argv)
{
	if (argc > 2)
		return cli_usage(&tdlc, "'help' takes one command");
	if (argc == 2 && argv[1][0] != '-') {
		char ask[] = "--help";
		return dispatch(argv[1], 2, (char *[]){ argv[1], ask, NULL });
	}
	print_help();
	return CLI_OK;
}

static cli_status begin(int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : NULL;
	if (!first)
		return cli_usage(&tdlc, "a command is missing");
	if (!strcmp(first, "help"))
		return help(argc - 1, argv + 1);
	if (first[0] != '-')
		return dispatch(first, argc - 1, argv + 1);
	if (!strcmp(first, "--help") || !strcmp(first, "-h")) {
		print_help();
		return CLI_OK;
	}
	if (!strcmp(first, "--version") || !strcmp(first, "-V")) {
		cli_version(tdlc.name);
		return CLI_OK;
	}
	return cli_usage(&tdlc, "unrecognized option '%s'", first);
}

/* Makes the allocator keep freed memory.  Arenas are created and freed by the
 * thousand, and reuse each other's memory.  If it were returned to the system
 * in between, every page would be mapped and zeroed again. */
static void keep_freed_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 256 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

int main(int argc, char **argv)
{
	keep_freed_memory();
	return cli_finish(tdlc.name, begin(argc, argv));
}

/* tdlc fmt: the canonical layout. */
#include "config.h"

#include "compiler/driver/commands.h"

#include <stdio.h>
#include <string.h>

/* Formats a file.  Returns whether the next one may follow. */
static bool format(page *p, const char *path, bool check, bool *bad)
{
	char *text = tdl_format(p->context, path);
	bool differs = tdl_last_status(p->context) == TDL_DIFFERENCE;
	bool piped = !strcmp(path, "-");
	page_failed(p);
	if (!text) {
		*bad = true;
		return p->status == CLI_INPUT;
	}
	p->status = CLI_OK;
	if (check && differs) {
		printf("%s\n", piped ? "standard input" : path);
		*bad = true;
	}
	if (!check && (differs || piped))
		page_write(p, path, text, strlen(text));
	tdl_text_free(text);
	return p->status == CLI_OK;
}

cli_status command_fmt(page *p, int argc, char **argv)
{
	bool check = false, bad = false;
	const cli_option options[] = {
		{ CLI_FLAG, 0, "check", NULL,
		  "write nothing; print the files that would change, and fail "
		  "if there are any", &check },
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_options(p, options);
	int first = page_begin(p, argc, argv);
	if (first < 0)
		return p->status;
	if (first == argc)
		return cli_usage(&p->program, "a file is missing; - is "
				 "standard input");
	for (int i = first; i < argc && format(p, argv[i], check, &bad); i++)
		;
	return p->status == CLI_OK && bad ? CLI_INPUT : p->status;
}

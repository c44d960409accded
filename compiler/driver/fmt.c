/* tdlc fmt: the canonical layout. */
#include "config.h"

#include "compiler/driver/driver.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

enum { MAX_SOURCE = 16 << 20 };

static cli_status format(driver *d, tdl_modules *m, const char *path,
			 bool check, bool *differs)
{
	size_t len;
	char *text = file_read(d->arena, d->sink, path, MAX_SOURCE, &len);
	if (!text)
		return CLI_OK;
	ast_module *module = dsl_parse(m, path, text, len);
	if (!module)
		return CLI_OK;
	char *to = dsl_format(d->arena, module);
	size_t n = strlen(to);
	bool same = n == len && !memcmp(to, text, n);
	bool piped = !strcmp(path, "-");
	if (check && !same) {
		printf("%s\n", piped ? "standard input" : path);
		*differs = true;
	}
	if (check || (same && !piped))
		return CLI_OK;
	return driver_write(d, path, to, n);
}

cli_status command_fmt(driver *d, int argc, char **argv)
{
	bool check = false, differs = false;
	const cli_option options[] = {
		{ CLI_FLAG, 0, "check", NULL,
		  "write nothing; print the files that would change, and fail "
		  "if there are any", &check },
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (first == argc)
		return cli_usage(&d->program, "a file is missing; - is "
				 "standard input");
	tdl_modules *m = job_modules(d);
	status = CLI_OK;
	for (int i = first; i < argc && status == CLI_OK; i++)
		status = format(d, m, argv[i], check, &differs);
	return status == CLI_OK && differs ? CLI_INPUT : status;
}

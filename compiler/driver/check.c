/* tdlc check: parses and checks operators, and builds the graphs of models. */
#include "config.h"

#include "compiler/driver/driver.h"

#include "libtdl/check.h"

cli_status command_check(driver *d, int argc, char **argv)
{
	const cli_option options[] = {
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (first == argc)
		return cli_usage(&d->program, "a file is missing");
	check_files(d, (const char *const *)argv + first, argc - first);
	return CLI_OK;
}

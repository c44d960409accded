/* tdlc check: parses and checks operators. */
#include "config.h"

#include "compiler/driver/driver.h"

#include "compiler/analysis/bounds.h"

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
	tdl_modules *m = driver_modules(d);
	for (int i = first; i < argc; i++)
		dsl_load(m, argv[i]);
	analysis_check(m, d->sink);
	return CLI_OK;
}

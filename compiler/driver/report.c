/* tdlc report: a plan as one page that draws it. */
#include "config.h"

#include <string.h>

#include "compiler/driver/report.h"
#include "libtdl/plan_input.h"
#include "libtdl/report.h"
#include "plan/read.h"

cli_status report_write(driver *d, const json_t *report, const char *path)
{
	size_t len;
	const char *page = report_page(d->arena, report, &len);
	if (!page)
		return cli_failed(&d->program, "no memory for the report");
	return driver_write(d, path, page, len);
}

cli_status command_report(driver *d, int argc, char **argv)
{
	bool json = false;
	const char *on = NULL, *output = NULL;
	const cli_option options[] = {
		PLAN_OPTION_TOPOLOGY(&on),
		DRIVER_OPTION_OUTPUT(&output),
		DRIVER_OPTION_JSON(&json),
		DRIVER_OPTIONS(d),
		{ CLI_END },
	};
	cli_status status;
	int first = cli_parse(d->arena, &d->program, options, argc, argv,
			      &status);
	if (first < 0)
		return status;
	if (argc - first != 1)
		return cli_usage(&d->program, "one plan is expected");
	if (!output && !json)
		return cli_usage(&d->program, "-o FILE or --json is missing");
	if (json && output && !strcmp(output, "-"))
		return cli_usage(&d->program, "--json and -o - cannot both "
				 "print");
	const plan *p = plan_read(d->arena, d->sink, argv[first]);
	const topology *machine =
		p ? plan_topology(d, on, mesh_workers(&p->mesh)) : NULL;
	if (!machine)
		return CLI_OK;
	json_t *report = report_json(p, machine);
	status = output ? report_write(d, report, output) : CLI_OK;
	if (status == CLI_OK && json)
		return driver_print_json(d, report);
	json_decref(report);
	return status;
}

/* tdlc place: whole operators of a cost graph on devices. */
#include "config.h"

#include "compiler/driver/commands.h"

#include <stdio.h>
#include <string.h>

/* Makes everything that is asked for, then writes files, then prints the
 * rest. */
static cli_status hand_out(page *p, tdl_placement *found, const char *gantt)
{
	bool drawn = gantt && !strcmp(gantt, "-");
	const char *text = !p->output ? "" :
			   page_keep(p, tdl_placement_text(found));
	if (p->status != CLI_OK)
		return p->status;
	const char *chart = !gantt ? "" :
		page_keep(p, tdl_placement_chart(found, drawn ? "text" :
								"svg"));
	if (p->status != CLI_OK)
		return p->status;
	if (p->output)
		page_write(p, p->output, text, strlen(text));
	if (drawn)
		fputs(chart, stdout);
	else if (gantt && p->status == CLI_OK)
		page_write(p, gantt, chart, strlen(chart));
	if (p->status != CLI_OK || page_to_stdout(p))
		return p->status;
	return page_print(p, tdl_placement_report(found));
}

cli_status command_place(page *p, int argc, char **argv)
{
	const char *gantt = NULL;
	const cli_option options[] = {
		PAGE_OPTION_JSON(p),
		PAGE_OPTION_LOAD(p),
		PAGE_OPTION_OUTPUT(p),
		{ CLI_TEXT, 0, "gantt", "FILE",
		  "draw the schedule as SVG; - prints it as text", &gantt },
		PAGE_OPTIONS(p),
		{ CLI_END },
	};
	page_function(p, "tdl_placement_search", NULL);
	page_options(p, options);
	const char *path = page_one(p, argc, argv,
				    "one cost graph is expected");
	if (!path)
		return p->status;
	if (gantt && !strcmp(gantt, "-") && (p->json || page_to_stdout(p)))
		return cli_usage(&p->program, "--gantt - cannot be with --json "
				 "or -o -, which print, too");
	if (!page_takes_model(p, path) || !page_can_write(p, p->output) ||
	    !page_can_write(p, gantt))
		return p->status;
	tdl_placement *found = tdl_placement_search(
		p->context, path,
		page_given(p, "tdl_placement_search"));
	return page_failed(p) ? p->status : hand_out(p, found, gantt);
}

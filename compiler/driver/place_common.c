/* The reports of `tdlc place', and of `score' and `compare' of cost graphs. */
#include "config.h"

#include "compiler/driver/place.h"

#include <stdlib.h>
#include <string.h>

#include "compiler/placement/placement_file.h"

bool place_read_operand(driver *d, const place_options *o, int n,
			char **operands, place_input *in,
			cli_status *status)
{
	if (n == 1)
		return place_read(d, o, operands[0], in, status);
	*status = cli_usage(&d->program, "one cost graph is expected");
	return false;
}

cli_status place_write(driver *d, const cost_graph *g, const int *place,
		       int ndevices, const char *path)
{
	json_t *j = placement_json(g, place, ndevices);
	char *text = json_dumps(j, JSON_INDENT(1));
	json_decref(j);
	if (!text)
		return cli_failed(&d->program, "no memory for a placement");
	char *line = arena_printf(d->arena, "%s\n", text);
	free(text);
	return driver_write(d, path, line, strlen(line));
}
